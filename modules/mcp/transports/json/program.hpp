// A program that is talked with over its standard input and output: run as it is, under the limits of
// ry.process/1, or inside a sandbox. All members and all calls of its listener on one executor.
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
  // False: no further output until resume().
  virtual bool output(std::int32_t fd, std::string_view bytes) noexcept = 0;
  // Last: the program and all it started are gone. code: 0..255, or -signal.
  virtual void ended(std::int32_t code, std::int32_t why) noexcept = 0;

 protected:
  ~listener() = default;
};

class program {
 public:
  virtual ~program() = default;  // after ended(), or before the program was started
  // done as in ry.process/1.
  virtual ry_status write(std::string_view bytes, ry_done done) noexcept = 0;
  virtual void close_stdin() noexcept = 0;
  virtual void resume() noexcept = 0;
  // Asks it to end; false: it can only be killed.
  virtual bool ask_to_end() noexcept = 0;
  virtual void kill() noexcept = 0;
};

using sandboxes = ry::drivers<ry_sandbox_driver_v1>;

// What to start, and where.
struct launch {
  command what;
  sandboxes::entry sandbox;  // empty: it runs as it is
  std::string account;       // whom it runs for, a UUID
  std::string cache;         // directory for what a package runner downloads; empty: none
};
// Starts it; throws ry::error.
std::unique_ptr<program> start_program(const ry::context& ctx, const settings& s, homes& own, const launch& how,
                                       ry_exec* exec, listener& to);

}  // namespace mcp_json
