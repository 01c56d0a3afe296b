// A child process that communicates through standard input and output: run directly under the limits of ry.process/1,
// or in a sandbox. All members and all listener callbacks run on one executor.
#pragma once

#include <ry/ext/sandbox_driver.h>
#include <ry/if/process.h>

#include <memory>
#include <ry/ry.hpp>

#include "homes.hpp"
#include "settings.hpp"

namespace mcp_json {

class listener {
 public:
  // Returns false to pause output until resume() (backpressure).
  virtual bool output(std::int32_t fd, std::string_view bytes) noexcept = 0;
  // The last callback: the program and all its descendants have terminated. code: 0..255, or -signal.
  virtual void exited(std::int32_t code, std::int32_t reason) noexcept = 0;

 protected:
  ~listener() = default;
};

class program {
 public:
  virtual ~program() = default;  // after exited(), or before the program was started
  // done: as in ry.process/1.
  virtual ry_status write(std::string_view bytes, ry_done done) noexcept = 0;
  virtual void close_stdin() noexcept = 0;
  virtual void resume() noexcept = 0;
  // Requests termination (SIGTERM). Returns false if the program can only be killed.
  virtual bool terminate() noexcept = 0;
  virtual void kill() noexcept = 0;
};

using sandboxes = ry::drivers<ry_sandbox_driver_v1>;

// The command to start and its environment.
struct launch_options {
  command command_line;
  sandboxes::entry sandbox;  // empty: runs without a sandbox
  std::string account;  // the account that it runs for, a UUID
  std::string cache;  // download directory of a package runner; empty: none
};
// Starts the program; throws ry::error.
std::unique_ptr<program> start_program(const ry::context& ctx, const settings& s, homes& home_directories,
                                       const launch_options& options, ry_exec* exec, listener& events);

}  // namespace mcp_json
