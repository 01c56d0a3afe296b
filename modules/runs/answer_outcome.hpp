// What the end of a model's answer means for the run. Pure.
#pragma once
#include <cstdint>
#include <string_view>

namespace runs {

// The `finish` of the event llm_response_end, from RY_LLM_FINISH_*; a value that is not known counts as stop.
std::string_view finish_name(std::int32_t finish, bool has_calls);

// The status of an answer that the driver reported as a success. RY_OK unless the answer is a failed attempt: the
// provider reports an error, or announces tool calls and makes none.
std::int32_t status_of_answer(std::int32_t finish, bool has_calls);

enum class outcome {
  complete,  // the model finished; its text ends the run
  calls,     // tool calls to make
  cut,       // text that ends at the output limit and can be continued
  paused,    // text of a turn that the provider paused
  filtered,  // withheld by the provider's content filter
  refused,   // the model declined
  empty,     // no text and no calls
};
struct answer_facts {
  std::int32_t finish = 0;
  bool has_text = false;   // other than blanks
  bool has_calls = false;
  bool continues = false;  // the request held text of the same answer that was cut or paused before
};
// For an answer whose status_of_answer() is RY_OK.
outcome judge_answer(const answer_facts& facts);

// Answers without content that the user could use cost nothing.
bool is_charged(outcome how, bool has_text);

}  // namespace runs
