#include "core/app/boot/descriptors.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <string>
#include <system_error>

#include "core/observe/log.hpp"
#include "without_protection.hpp"

namespace ry::app {

void raise_descriptor_limit() {
  if (ry_test::without_protection("descriptors")) return;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  const auto before = limit.rlim_cur;
  limit.rlim_cur = limit.rlim_max;
  if (::setrlimit(RLIMIT_NOFILE, &limit) == 0) return;
  observe::log(
      observe::level::warn, "host", "cannot raise the limit on open files",
      {{"limit", std::to_string(before)}, {"error", std::error_code(errno, std::generic_category()).message()}});
}

std::size_t descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return std::numeric_limits<std::size_t>::max();
  return static_cast<std::size_t>(limit.rlim_cur);
}

std::size_t max_client_connections(std::size_t configured, std::size_t descriptors) {
  if (ry_test::without_protection("descriptors")) return configured;
  constexpr std::size_t max_reserved = 4096;
  const auto reserved = std::min(descriptors / 4, max_reserved);
  return std::max<std::size_t>(1, std::min(configured, descriptors - reserved));
}

}  // namespace ry::app
