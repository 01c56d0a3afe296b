// The form of POST /agent/start: any fields in any order and number, and names of uploaded files.
#include <ry/cpp/utf8.hpp>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "check.hpp"
#include "modules/runs/api/start_form.hpp"
#include "modules/runs/text.hpp"
#include "modules/runs/workspace/safe_file_name.hpp"

using namespace runs;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static constexpr std::string_view names[] = {"prompt",     "thread_id",      "project_id",     "agent_id",
                                               "model_name", "optimistic",     "memory_enabled", "mode",
                                               "queue",      "budget_credits", "budget_policy",  "on_busy"};
  std::string_view input = fuzz::view(data, size);
  std::vector<form_field> fields;
  std::vector<std::string_view> file_names;
  while (!input.empty() && fields.size() < 64) {
    const std::uint8_t kind = fuzz::take(input);
    const std::size_t length = fuzz::take(input);
    const std::size_t n = std::min(length, input.size());  // the length byte may exceed the remaining input
    const std::string_view value = input.substr(0, n);
    input.remove_prefix(n);
    if (kind % 16 < std::size(names))
      fields.push_back({names[kind % 16], value});
    else if (kind % 16 == 12)
      fields.push_back({value, value});
    else
      file_names.push_back(value);
  }
  const auto parsed = parse_start(fields);
  if (const auto* refused = std::get_if<form_refusal>(&parsed)) {
    fuzz::check(!refused->detail.empty() && ry::is_utf8(refused->detail), "an error has a message");
  } else {
    const start_request& r = std::get<start_request>(parsed);
    fuzz::check(r.thread_id || !r.prompt.empty(), "a new thread has a prompt");
    fuzz::check(!r.optimistic || (r.thread_id && r.project_id), "optimistic needs both ids");
    fuzz::check(ry::is_utf8(r.prompt) && r.prompt.find('\0') == std::string::npos, "the prompt is UTF-8 without NUL");
    for (const auto* id : {&r.thread_id, &r.project_id, &r.agent_id})
      fuzz::check(!*id || canonical_uuid(**id) == **id, "ids are canonical");
    fuzz::check(!r.budget.set() || r.budget.micro > 0, "a budget is positive");
    fuzz::check(ry::is_utf8(title_of(r.prompt)), "a title is UTF-8");
  }
  std::set<std::string> taken;
  std::vector<std::string> safe;
  for (std::string_view name : file_names) safe.push_back(unique_name(safe_file_name(name), taken));
  for (std::size_t i = 0; i < safe.size(); ++i) {
    const std::string& name = safe[i];
    fuzz::check(!name.empty() && name.size() <= 140 && ry::is_utf8(name), "a name is text of bounded size");
    constexpr std::string_view special("/\\\0\n\r\"'`$;|&<>*?", 17);
    fuzz::check(name.find_first_of(special) == std::string::npos,
                "a name has no character that is special in a path or a shell");
    fuzz::check(name[0] != '.' && name[0] != '-', "a name begins neither with a dot nor with a hyphen");
    for (std::size_t k = 0; k < i; ++k) fuzz::check(safe[k] != name, "names are unique");
  }
  return 0;
}
