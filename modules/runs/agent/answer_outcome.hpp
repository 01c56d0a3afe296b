// Derives the next step of a run from the end of a model's answer. Pure.
#pragma once
#include <cstdint>
#include <string_view>

namespace runs {

// The member `finish` of the event llm_response_end for RY_LLM_FINISH_*; an unknown value counts as stop.
std::string_view finish_name(std::int32_t finish, bool has_calls);

// The status of an answer that the driver reported as a success. It is an error if the provider reports one, or
// announces tool calls and makes none.
std::int32_t status_of_answer(std::int32_t finish, bool has_calls);

enum class outcome {
  complete,  // the model finished; its text ends the run
  calls,  // the model requests tool calls
  truncated,  // at the output limit; can be continued
  paused,  // the provider paused the turn
  filtered,  // withheld by the provider's content filter
  refused,  // the model declined
  empty,  // no text and no calls
};
struct answer_state {
  std::int32_t finish = 0;
  bool has_text = false;  // other than white space
  bool has_calls = false;
  bool continues = false;  // the request ended with a truncated or paused part of the same answer
};
// Requires status_of_answer() == RY_OK.
outcome judge_answer(const answer_state& state);

// An answer without content for the user is free of charge.
bool is_charged(outcome result, bool has_text);

}  // namespace runs
