// Recognizes provider errors that report that the conversation exceeds the model's context. Pure.
#pragma once

#include <string_view>

namespace llm {

// `message` is the text of a provider's error. False for rate and quota limits, even if they mention tokens, unless
// this request alone exceeds the limit.
bool says_context_too_long(std::string_view message);

// `code` is the code or type of a provider's error.
bool names_context_too_long(std::string_view code);

}  // namespace llm
