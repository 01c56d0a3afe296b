// The crash reporter: writes to standard error which module crashed or terminated the process, and in which call.
#pragma once

#include <string_view>

namespace ry::module {

// Installs the handlers for crashes and for exit() calls of modules. After the report a crash takes its normal course
// (core dump, sanitizer report). Call it before the first module is loaded; further calls have no effect. [any]
void explain_crashes() noexcept;

// On a crash, or an exit() of a module, appends the mark and a newline to this open file before the process ends; -1:
// no file. Signals sent by other processes are not crashes. One thread at a time.
void mark_crashes_in(int fd) noexcept;
inline constexpr std::string_view crash_mark = "crashed";

// Marks this thread as running a module's code outside of invoke(), for the crash reporter: crashes in code that is
// not in the code map yet, and exit(), are attributed to this step. If the step exceeds its time limit, it ends the
// process, unless a debugger is attached. One at a time.
class module_step {
 public:
  enum class time_limit { thirty_seconds, endless };
  // `what`: a literal, such as "its constructors".
  module_step(std::string_view module, const char* what, time_limit how_long);
  ~module_step();
  module_step(const module_step&) = delete;
  module_step& operator=(const module_step&) = delete;
};

}  // namespace ry::module
