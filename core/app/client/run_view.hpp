// Renders a run's events for a terminal: the answer on standard output, everything else (tool calls, notes, errors)
// on standard error. Pure.
#pragma once

#include <boost/json/object.hpp>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

  // Ids of the approvals that the run waits for, in their order.
  const std::vector<std::string>& waiting() const noexcept { return waiting_; }
  // Removes a decided approval from waiting().
  void forget_approval(const std::string& id);
  // Whether the caller asks for decisions. Otherwise the view names the request that decides; url: the server.
  void expect_decisions(bool asks, std::string url);

 private:
  void note(std::string_view text);
  void show_approval(const boost::json::object& event);
  void fresh_line();  // keeps notes off an unfinished line of the answer

  write_fn answer_, notes_;
  style style_;
  bool in_line_ = false;
  bool answered_ = false;  // the current attempt has written a part of its answer
  std::string status_, error_;
  std::vector<std::string> waiting_;
  bool asks_ = false;
  std::string url_;
};

// An answer to the question about an approval.
enum class decision { approve, deny, always };
// "y" or "yes", "n" or "no", "a" or "always", in any case; nullopt: anything else.
std::optional<decision> read_decision(std::string_view line);
// The body of POST /approvals/{id}. reason: of a denial; empty: none.
std::string decision_body(decision made, const std::string& reason);

// Removes control characters except \n and \t, because a model's output may contain terminal escapes.
std::string printable(std::string_view text);

}  // namespace ry::app::client
