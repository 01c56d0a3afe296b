// Records across restarts which module was being started. A module whose start() crashed the server, or during whose
// start the server terminated twice in a row, is skipped at the next start if it is optional, and reported if it is
// required. One file per module in <data_dir>/module-starts exists while its start() runs: it contains the module
// file's SHA-256, the number of starts, and a mark if the server crashed.
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
  ~start_guard() override;
  start_guard(const start_guard&) = delete;
  start_guard& operator=(const start_guard&) = delete;

  std::string objection(const std::string& module, const std::string& sha256) const override;
  void starting(const std::string& module, const std::string& sha256) override;
  void started(const std::string& module) override;

 private:
  struct record {
    std::string sha256;
    int starts = 0;
    bool crashed = false;
  };
  record read(const std::string& module) const;
  void close_record() noexcept;

  std::filesystem::path directory_;
  int fd_ = -1;
};

}  // namespace ry::app
