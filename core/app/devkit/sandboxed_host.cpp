#include "core/app/devkit/sandboxed_host.hpp"

#include "core/app/boot/loading.hpp"
#include "core/app/boot/paths.hpp"
#include "core/http/listener.hpp"

namespace ry::app {

namespace {

constexpr std::size_t loops = 1;
constexpr auto stop_time = std::chrono::seconds(5);

config::sources sources_of(const std::vector<tried_module>& modules, const std::filesystem::path& data_dir,
                           const std::vector<std::string>& settings) {
  config::sources from;
  from.overrides = {"data_dir=" + data_dir.string(), "modules.path=" + data_dir.string(), "deployment.mode=local"};
  for (const auto& m : modules) {
    from.overrides.push_back("modules." + m.name + ".enabled=true");
    from.overrides.push_back("modules." + m.name + ".path=" + std::filesystem::absolute(m.file).string());
    for (const auto& s : m.settings) from.overrides.push_back(m.name + "." + s);
  }
  from.overrides.insert(from.overrides.end(), settings.begin(), settings.end());
  return from;
}

}  // namespace

sandboxed_host::sandboxed_host(const std::vector<tried_module>& modules, const std::filesystem::path& data_dir,
                               const std::vector<std::string>& settings)
    : config_(sources_of(modules, data_dir, settings), {}, default_paths(executable_dir())),
      data_dir_(data_dir),
      host_(config_, loops),
      services_(host_, config_, data_dir_) {}

sandboxed_host::~sandboxed_host() {
  stop();
}

std::string sandboxed_host::prepare() {
  auto found = find_modules(config_);
  config_.check_names(found.names);
  const auto report = host_.modules.prepare(found.specs);
  std::string why;
  for (const auto& p : config_.faults()) why += (why.empty() ? "" : "\n") + p.format();
  for (const auto& p : report.problems) {
    if (!p.follows) why += (why.empty() ? "" : "\n") + p.message;
  }
  return why;
}

std::string sandboxed_host::settings_of(const std::string& name, std::string_view schema) {
  return config_.module_settings(name, schema).value_or("{}");
}

std::string sandboxed_host::start() {
  const auto report = host_.modules.start();
  return report.problems.empty() ? std::string() : report.text();
}

std::uint16_t sandboxed_host::listen() {
  http::listener listener("127.0.0.1", 0);
  services_.server.publish(host_.modules.routes());
  services_.server.start(std::move(listener));
  listening_ = true;
  return services_.server.port();
}

void sandboxed_host::stop() {
  if (std::exchange(listening_, false)) {
    services_.server.drain(std::chrono::steady_clock::now() + stop_time);
  }
  host_.modules.stop(std::chrono::system_clock::now() + stop_time);
}

}  // namespace ry::app
