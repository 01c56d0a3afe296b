#include "core/app/devkit/preflight_process.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <string_view>

#include "core/app/boot/host.hpp"
#include "core/app/boot/paths.hpp"
#include "core/app/boot/preflight_steps.hpp"
#include "core/module/inspect.hpp"
#include "core/module/module_instance.hpp"

namespace ry::app {

namespace json = boost::json;

namespace {

using steady = std::chrono::steady_clock;

constexpr auto quiesce_time = std::chrono::seconds(1);

std::string all_of_standard_input() {
  std::string out;
  char piece[4096];
  for (;;) {
    const ssize_t n = ::read(STDIN_FILENO, piece, sizeof piece);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return out;
    out.append(piece, static_cast<std::size_t>(n));
  }
}

// As in `runyard check`: the host has loops and its interfaces, but no services behind them.
void live(const std::string& path, const std::function<void(std::string_view)>& report) {
  config::config defaults({}, {}, default_paths(executable_dir()));
  module_host host(defaults, 1);
  const auto image = std::make_shared<const module::sealed_image>(path);
  const auto seen = module::inspect(*image);
  if (!seen.manifest) return report(refused);
  auto one = std::make_unique<module::module_instance>(host.rt, image, *seen.manifest, RY_ABI_MINOR);
  report(loading.done);
  const auto input = all_of_standard_input();
  if (input.empty()) return report(refused);
  const auto given = json::parse(input).as_object();
  for (const auto& [key, value] : given.at("host_values").as_object())
    host.rt.host_values[std::string(key)] = std::string(value.as_string());
  const auto why = one->create(std::string(given.at("settings").as_string()));
  report(creating.done);
  bool ended = one->quiesce(steady::now() + quiesce_time);
  if (ended && why.empty()) ended = one->destroy();  // the server also keeps running if destroy() does not return
  report(destroying.done);
  if ((seen.manifest->flags & RY_MODULE_NO_UNLOAD) != 0) one->code().pin();
  // Unfinished work of the module still needs the library.
  if (ended)
    one.reset();
  else
    (void)one.release();
  report(unloading.done);
}

}  // namespace

exit_code serve_preflight(const std::string& path) {
  // Keeps the module's own output off the descriptor for the answers.
  const int answers = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  const auto report = [&](std::string_view line) {
    [[maybe_unused]] const auto n = ::write(answers, line.data(), line.size());
  };
  try {
    live(path, report);
  } catch (const std::exception&) {
    // The server reports the reason when it loads the module itself.
    report(refused);
  }
  ::_exit(static_cast<int>(exit_code::ok));  // skips exit handlers that the module may have registered
}

}  // namespace ry::app
