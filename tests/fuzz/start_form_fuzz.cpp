// The form of a start: fields in any order and number, names of files.
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "check.hpp"
#include "modules/runs/api/start_form.hpp"
#include "modules/runs/text.hpp"

using namespace runs;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static constexpr std::string_view names[] = {"prompt",     "thread_id",      "project_id",     "agent_id",
                                               "model_name", "optimistic",     "memory_enabled", "mode",
                                               "queue",      "budget_credits", "budget_policy",  "on_busy"};
  std::string_view input = fuzz::view(data, size);
  std::vector<form_field> fields;
  std::vector<std::string_view> sent;
  while (!input.empty() && fields.size() < 64) {
    const std::uint8_t kind = fuzz::take(input);
    const std::size_t wanted = fuzz::take(input);
    const std::size_t n = std::min(wanted, input.size());  // what take() left
    const std::string_view value = input.substr(0, n);
    input.remove_prefix(n);
    if (kind % 16 < std::size(names))
      fields.push_back({names[kind % 16], value});
    else if (kind % 16 == 12)
      fields.push_back({value, value});
    else
      sent.push_back(value);
  }
  const auto parsed = parse_start(fields);
  if (const auto* refused = std::get_if<form_refusal>(&parsed)) {
    fuzz::promise(!refused->detail.empty() && is_utf8(refused->detail), "a refusal has a sentence");
  } else {
    const start_request& r = std::get<start_request>(parsed);
    fuzz::promise(r.thread_id || !r.prompt.empty(), "a new thread has a prompt");
    fuzz::promise(!r.optimistic || (r.thread_id && r.project_id), "optimistic needs both ids");
    fuzz::promise(is_utf8(r.prompt) && r.prompt.find('\0') == std::string::npos, "the prompt is text");
    for (const auto* id : {&r.thread_id, &r.project_id, &r.agent_id})
      fuzz::promise(!*id || normal_uuid(**id) == **id, "ids are normal");
    fuzz::promise(!r.budget.set() || r.budget.micro > 0, "a budget is positive");
    fuzz::promise(is_utf8(title_of(r.prompt)), "a title is text");
  }
  std::set<std::string> taken;
  std::vector<std::string> safe;
  for (std::string_view name : sent) safe.push_back(free_name(safe_file_name(name), taken));
  for (std::size_t i = 0; i < safe.size(); ++i) {
    const std::string& name = safe[i];
    fuzz::promise(!name.empty() && name.size() <= 140 && is_utf8(name), "a name is text of bounded size");
    constexpr std::string_view special("/\\\0\n\r\"'`$;|&<>*?", 17);
    fuzz::promise(name.find_first_of(special) == std::string::npos, "nothing special in it");
    fuzz::promise(name[0] != '.' && name[0] != '-', "neither hidden nor an option");
    for (std::size_t k = 0; k < i; ++k) fuzz::promise(safe[k] != name, "no two are the same");
  }
  return 0;
}
