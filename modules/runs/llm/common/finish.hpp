// The names that providers give to the end of an answer. Pure.
#pragma once

#include <cstdint>
#include <string_view>

namespace llm {

// RY_LLM_FINISH_* of a finish_reason (OpenAI and those that speak its protocol) or a stop_reason (Anthropic), in any
// spelling; 0: it is empty, or "null" as text. An unknown name is judged by the words in it; without a telling word it is an ordinary end.
std::int32_t finish_of(std::string_view reason);

// The same with the name that the model's own provider gave (native_finish_reason of OpenRouter and others), because
// gateways map unknown reasons to "stop": the more severe of the two counts. An unknown native name is ignored; a native
// name alone ends an answer only if the answer was truncated, withheld or failed.
std::int32_t finish_of(std::string_view reason, std::string_view native);

// Of two ends of one answer: an error, then a filter, a refusal, a limit, a pause, calls, an ordinary end, 0.
std::int32_t graver(std::int32_t a, std::int32_t b);

}  // namespace llm
