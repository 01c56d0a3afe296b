// Applies memory limits for command_runner: the limit of each command, and the machine's reserve, with metrics and
// warnings for both.
//
// Thread: any. Lifetime: as long as the driver.
#pragma once
#include <cstdint>
#include <ry/ry.hpp>

#include "common/warning_pace.hpp"
#include "memory_reserve.hpp"
#include "watchdog.hpp"

namespace bubblewrap {

class memory_guard {
 public:
  memory_guard(const ry::context& ctx, std::uint64_t reserve_bytes);

  watchdog& watch() { return watch_; }
  // Starts to report the machine's memory; warns if the reserve cannot be kept because the kernel does not report it.
  void start();
  // False: memory is below the reserve, so a new command must be refused.
  bool check_reserve();
  // Counts a command that was terminated.
  void count(memory_verdict found) const;

 private:
  void observe(const memory_state& now) noexcept;

  const ry::context& ctx_;
  const memory_reserve reserve_;
  ry::metric available_bytes_, refused_, command_, machine_;
  logging::warning_pace warnings_;
  watchdog watch_;  // last: its threads use the other members
};

}  // namespace bubblewrap
