// Turns the events of a run into what a person sees in a terminal: the answer on standard output,
// everything else (tool calls, notes, errors) on standard error. Pure.
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

  // One event as JSON. What is no JSON object is ignored.
  void show(std::string_view event_json);

  bool ended() const noexcept { return !status_.empty(); }
  // "completed", "failed", "stopped"; empty while it runs.
  const std::string& status() const noexcept { return status_; }
  // Why it failed, for people.
  const std::string& error() const noexcept { return error_; }

 private:
  void note(std::string_view text);
  void fresh_line();  // notes never stand in the middle of an answer's line

  write_fn answer_, notes_;
  style style_;
  bool in_line_ = false;
  bool answered_ = false;  // the present attempt has written a part of its answer
  std::string status_, error_;
};

// Control characters (a model's output may hold terminal escapes) are dropped but for \n and \t.
std::string printable(std::string_view text);

}  // namespace ry::app::client
