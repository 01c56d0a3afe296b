// Renders a run's events for a terminal: the answer on standard output, everything else (tool calls, notes, errors)
// on standard error. Pure.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace ry::app::client {

enum class style { plain, color };

class run_view {
 public:
  using write_fn = std::function<void(std::string_view)>;
  run_view(write_fn answer, write_fn notes, style s);

  // Shows one event, given as JSON. Anything but a JSON object is ignored.
  void show(std::string_view event_json);

  bool ended() const noexcept { return !status_.empty(); }
  // "completed", "failed" or "stopped"; empty while the run is in progress.
  const std::string& status() const noexcept { return status_; }
  // Why the run failed, as human-readable text.
  const std::string& error() const noexcept { return error_; }

 private:
  void note(std::string_view text);
  void fresh_line();  // keeps notes off an unfinished line of the answer

  write_fn answer_, notes_;
  style style_;
  bool in_line_ = false;
  bool answered_ = false;  // the current attempt has written a part of its answer
  std::string status_, error_;
};

// Removes control characters except \n and \t, because a model's output may contain terminal escapes.
std::string printable(std::string_view text);

}  // namespace ry::app::client
