#include "core/app/start_guard.hpp"

#include <fstream>

#include "core/observe/log.hpp"

namespace ry::app {

namespace fs = std::filesystem;

start_guard::start_guard(const fs::path& data_dir) : directory_(data_dir / "module-starts") {
  std::error_code ec;
  fs::create_directory(directory_, ec);
  if (ec)
    observe::log(observe::level::warn, "host",
                 "cannot record module starts; a module that crashes the server at startup is not detected at the next start",
                 {{"directory", directory_.string()}, {"reason", ec.message()}});
}

std::string start_guard::objection(const std::string& module, const std::string& sha256) const {
  std::string of_file;
  std::ifstream(directory_ / module) >> of_file;
  // Another file of the module gets its own chance.
  return of_file.empty() || of_file != sha256 ? std::string() : "the server ended during the last start of this file";
}

void start_guard::starting(const std::string& module, const std::string& sha256) {
  std::ofstream(directory_ / module, std::ios::trunc) << sha256 << '\n';
}

void start_guard::started(const std::string& module) {
  std::error_code ignored;
  fs::remove(directory_ / module, ignored);
}

}  // namespace ry::app
