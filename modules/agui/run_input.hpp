// Converts the body RunAgentInput of AG-UI to a start of runs/1. The result depends only on the body, so that a repeated
// request has the same fields. Pure.
#pragma once
#include <boost/json/array.hpp>
#include <functional>
#include <ry/cpp/runs.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace agui {

constexpr std::size_t max_input_bytes = 8 << 20;

struct input_file {
  std::string name, media_type, content;
};

// The user's response to an interrupt, which is an approval of runs/1.
struct resume_entry {
  std::string place;  // in the body
  std::string approval;
  bool cancelled = false;  // denies the call unless another decision was made before
  std::string decision;  // as ry_runs_v1::decide takes it
};

struct run_input {
  std::string thread_id, run_id;
  bool outcomes = false;  // the client knows AG-UI 1.0
  bool has_messages = false;
  // Of the start, without those of thread, project and agent.
  ry::runs::fields fields;
  std::vector<input_file> files;
  // Not empty: the messages end with output of this run and contain no new input, so no run is started.
  std::string attach_run;
  // Not empty: the request continues the run that waits for these decisions, and starts none.
  std::vector<resume_entry> resume;
  // Of such a request: the run of the newest answer, or empty, and the ids of the tool messages.
  std::string answer_run;
  std::set<std::string, std::less<>> tool_messages;
  // The client's messages that precede the run's first answer, as JSON, without those that clients keep themselves
  // (see MESSAGES_SNAPSHOT). Empty if it is too large to be kept.
  std::string base_messages;
  std::vector<std::string> notices;  // about parts that were ignored

  bool has(std::string_view field) const;
};

// The body of the connect route, of which only the ids are used.
enum class input_use { run, connect };

// Throws 400 for malformed JSON and 422, which names the member, for other errors.
run_input read_run_input(std::string_view body, input_use use);

}  // namespace agui
