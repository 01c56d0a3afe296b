// Remembers, beyond the end of the process, which module was being started: a module whose start() takes the server
// down is left out of the next start if it is not required, and named if it is. One file per module in
// <data_dir>/module-starts, which exists while its start() runs.
//
// Threads: the main thread.
#pragma once

#include <filesystem>
#include <string>

#include "core/module/start_guard.hpp"

namespace ry::app {

class start_guard final : public module::start_guard {
 public:
  explicit start_guard(const std::filesystem::path& data_dir);

  std::string objection(const std::string& module, const std::string& sha256) const override;
  void starting(const std::string& module, const std::string& sha256) override;
  void started(const std::string& module) override;

 private:
  std::filesystem::path directory_;
};

}  // namespace ry::app
