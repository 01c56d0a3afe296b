#include "core/app/boot/paths.hpp"

#include <cstdlib>

namespace ry::app {

namespace fs = std::filesystem;

fs::path executable_dir() {
  std::error_code ec;
  const auto self = fs::read_symlink("/proc/self/exe", ec);
  return ec ? fs::path(".") : self.parent_path();
}

config::defaults default_paths(const fs::path& executable_dir) {
  config::defaults d;
  const bool installed = executable_dir == "/usr/bin" || executable_dir == "/usr/local/bin";
  d.data_dir = installed ? "/var/lib/runyard" : ".runyard";
  std::error_code ec;
  for (const auto& candidate :
       {executable_dir.parent_path() / "lib" / "runyard" / "modules", executable_dir.parent_path() / "modules"}) {
    if (!fs::is_directory(candidate, ec)) continue;
    d.modules_path = candidate.string();
    return d;
  }
  d.modules_path = "/usr/lib/runyard/modules";
  return d;
}

fs::path default_config_file() {
  if (const char* from_environment = std::getenv("RUNYARD_CONFIG"); from_environment && *from_environment)
    return from_environment;
  std::error_code ec;
  for (const auto* candidate : {"conf/runyard.toml", "/etc/runyard/runyard.toml"})
    if (fs::exists(candidate, ec)) return candidate;
  return {};
}

}  // namespace ry::app
