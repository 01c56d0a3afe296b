// Interprets the finish reasons of providers. Pure.
#pragma once

#include <cstdint>
#include <string_view>

namespace llm {

// Returns RY_LLM_FINISH_* for a finish_reason (OpenAI and compatible servers) or a stop_reason (Anthropic), in any
// spelling; 0 if it is empty or the text "null". An unknown name is classified by the words that it contains; without
// a known word it counts as an ordinary end.
std::int32_t finish_of(std::string_view reason);

// Also considers the finish reason of the model's own provider (native_finish_reason of OpenRouter and others), because
// gateways map unknown reasons to "stop": the more severe of the two counts. An unknown native reason is ignored;
// a native reason without a finish reason ends an answer only if the answer was truncated, withheld or failed.
std::int32_t finish_of(std::string_view reason, std::string_view native);

// The more severe of two ends, in this order: error, filter, refusal, limit, pause, calls, ordinary end, 0.
std::int32_t more_severe(std::int32_t a, std::int32_t b);

}  // namespace llm
