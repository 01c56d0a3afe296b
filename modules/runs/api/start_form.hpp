// The form of POST /agent/start: its fields, checks without the database, and names of uploaded files. Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "agent/budget.hpp"
#include "start/model_parameters.hpp"
#include "start/run_mode.hpp"

namespace runs {

struct form_field {
  std::string_view name, value;
};

// Behaviour of a start on a thread with an unfinished run.
enum class busy_policy { reject, enqueue, interrupt };

struct start_request {
  std::string prompt;  // empty: continue the thread; never only white space
  std::optional<std::string> thread_id, project_id, agent_id, model_name;
  std::optional<run_mode> mode;
  bool optimistic = false;
  std::optional<bool> memory_enabled;
  runs::budget budget;
  model_parameters parameters;
  bool queue = false;  // queue the run instead of rejecting it if all slots are in use
  busy_policy on_busy = busy_policy::reject;
};

// An error; `detail` is the member of the response.
struct form_refusal {
  std::string detail;
  std::uint32_t http_status = 400;
};

// Whether parse_start() reads this field. Each such field may be given only once.
bool is_start_field(std::string_view name);

std::variant<start_request, form_refusal> parse_start(const std::vector<form_field>& fields);

// A name that is safe in every file system and on a command line: no directories, no control, invisible or
// bidirectional characters, no leading dot or dash, at most 120 bytes, valid UTF-8. Never empty.
std::string safe_file_name(std::string_view received);
// "a.txt", "a_2.txt", "a_3.txt": the n-th candidate for a name.
std::string numbered_name(const std::string& name, unsigned n);
// The first free candidate for `name`; adds it to `taken`.
std::string unique_name(const std::string& name, std::set<std::string>& taken);

struct attached_file {
  std::string name;
  std::uint64_t size = 0;
};
// The user's message with one line per file.
std::string prompt_with_files(std::string_view prompt, const std::vector<attached_file>& files);
// A title for a new thread: the first line of the prompt that is not blank, cleaned, at most 80 characters.
std::string title_of(std::string_view prompt);

}  // namespace runs
