#include "memory_reserve.hpp"

#include <charconv>
#include <utility>

#include "processes.hpp"

namespace bubblewrap {

std::optional<std::uint64_t> available_memory(std::string_view meminfo) {
  constexpr std::string_view name = "MemAvailable:";
  for (std::size_t at = 0; at < meminfo.size();) {
    const std::string_view line = meminfo.substr(at, meminfo.find('\n', at) - at);
    at += line.size() + 1;
    if (!line.starts_with(name)) continue;
    const std::size_t digit = line.find_first_not_of(' ', name.size());
    std::uint64_t kib = 0;
    if (digit == std::string_view::npos ||
        std::from_chars(line.data() + digit, line.data() + line.size(), kib).ec != std::errc{})
      return std::nullopt;
    return kib << 10;
  }
  return std::nullopt;
}

memory_reserve::memory_reserve(std::uint64_t reserve_bytes, meminfo_reader read)
    : reserve_bytes_(reserve_bytes), read_(read ? std::move(read) : [] { return read_proc_file("/proc/meminfo"); }) {}

memory_state memory_reserve::current_state() const {
  const auto available = available_memory(read_());
  if (!available) return {};
  return {*available, *available >= reserve_bytes_, *available < reserve_bytes_ / 2};
}

}  // namespace bubblewrap
