// What is said on standard error when a module takes the process down: which module, and what the host had called.
#pragma once

#include <string_view>

namespace ry::module {

// From now on crashes and calls of exit() in modules are explained; crashes go their way then as before (a core file, a
// sanitizer's report). Once for the process, before the first module is loaded; again: nothing happens. [any]
void explain_crashes() noexcept;

// A crash, or an exit() of a module, appends the mark and a line end to this open file before the process ends. -1: to none.
// A signal that another process sent is no crash. One thread at a time.
void mark_crashes_in(int fd) noexcept;
inline constexpr std::string_view crash_mark = "crashed";

// While one lives, this thread is inside a module outside of what invoke() knows of: it is said when the module ends the
// process, crashes in code that is not on the map yet, or does not come back in time, which ends the process too, unless
// a debugger holds it. One at a time.
class module_step {
 public:
  enum class patience { thirty_seconds, endless };
  // `what`: a literal, "its constructors".
  module_step(std::string_view module, const char* what, patience how_long);
  ~module_step();
  module_step(const module_step&) = delete;
  module_step& operator=(const module_step&) = delete;
};

}  // namespace ry::module
