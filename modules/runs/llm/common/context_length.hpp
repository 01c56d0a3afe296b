// Recognizes provider errors that say that the conversation exceeds the model's context. Pure.
#pragma once

#include <string_view>

namespace llm {

// `message`: of a provider's error. False for rate and quota limits, whatever tokens they mention, unless the error
// says that this request alone exceeds the limit.
bool says_context_too_long(std::string_view message);

// `code`: code or type of a provider's error.
bool names_context_too_long(std::string_view code);

}  // namespace llm
