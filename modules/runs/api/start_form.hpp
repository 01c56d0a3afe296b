// The form of POST /agent/start: its fields, and checks without the database. Pure.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "types/start_request.hpp"

namespace runs {

struct form_field {
  std::string_view name, value;
};

// An error; `detail` is the member of the response.
struct form_refusal {
  std::string detail;
  std::uint32_t http_status = 400;
};

// Whether parse_start() reads this field. Each such field may be given only once.
bool is_start_field(std::string_view name);

// optional: a start without thread and prompt is not refused.
enum class prompt_rule { required, optional };
std::variant<start_request, form_refusal> parse_start(const std::vector<form_field>& fields,
                                                      prompt_rule rule = prompt_rule::required);

struct attached_file {
  std::string name;
  std::uint64_t size = 0;
};
// The user's message with one line per file.
std::string prompt_with_files(std::string_view prompt, const std::vector<attached_file>& files);
// A title for a new thread: the first line of the prompt that is not blank, cleaned, at most 80 characters.
std::string title_of(std::string_view prompt);

}  // namespace runs
