#include "core/app/boot/start_guard.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <fstream>

#include "core/module/crash_reporter.hpp"
#include "core/observe/log.hpp"

namespace ry::app {

namespace fs = std::filesystem;

namespace {

// A start that is killed only once (by an operator, a time limit or the machine) does not indicate a faulty module.
constexpr int max_ended_starts = 2;

}  // namespace

start_guard::start_guard(const fs::path& data_dir) : directory_(data_dir / "module-starts") {
  std::error_code ec;
  fs::create_directory(directory_, ec);
  if (ec)
    observe::log(
        observe::level::warn, "host",
        "cannot record module starts; if a module crashes the server at startup, the next start does not detect it",
        {{"directory", directory_.string()}, {"reason", ec.message()}});
}

start_guard::~start_guard() {
  close_record();
}

start_guard::record start_guard::read(const std::string& module) const {
  record r;
  std::string mark;
  std::ifstream in(directory_ / module);
  in >> r.sha256 >> r.starts >> mark;
  r.crashed = mark == module::crash_mark;
  return r;
}

std::string start_guard::objection(const std::string& module, const std::string& sha256) const {
  const auto last = read(module);
  // A different file of the module is not blamed for the last start.
  if (last.sha256.empty() || last.sha256 != sha256) return {};
  if (last.crashed) return "the server crashed during the last start of this file";
  if (last.starts >= max_ended_starts)
    return "the server ended during the last " + std::to_string(last.starts) + " starts of this file";
  return {};
}

void start_guard::starting(const std::string& module, const std::string& sha256) {
  const auto last = read(module);
  const int starts = last.sha256 == sha256 ? last.starts + 1 : 1;
  const auto file = directory_ / module;
  std::ofstream(file, std::ios::trunc) << sha256 << ' ' << starts << '\n';
  close_record();
  fd_ = ::open(file.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  module::mark_crashes_in(fd_);
}

void start_guard::started(const std::string& module) {
  close_record();
  std::error_code ignored;
  fs::remove(directory_ / module, ignored);
}

void start_guard::close_record() noexcept {
  module::mark_crashes_in(-1);
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

}  // namespace ry::app
