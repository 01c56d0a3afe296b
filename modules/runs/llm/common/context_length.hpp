// How providers say that a conversation does not fit the model's context. Pure.
#pragma once

#include <string_view>

namespace llm {

// A sentence of a provider's error. A refusal because of a rate or a quota is none, whatever tokens it counts, unless it
// says that this request alone is too large for the limit.
bool says_context_too_long(std::string_view message);

// `code` or `type` of a provider's error.
bool names_context_too_long(std::string_view code);

}  // namespace llm
