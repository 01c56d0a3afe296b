// Texts that keep a conversation valid for the provider where the thread has no text.
#pragma once
#include <string_view>

namespace openai {

inline constexpr std::string_view no_answer = "(No answer.)";
inline constexpr std::string_view images_follow = "(The images of these results follow.)";
inline constexpr std::string_view images_of_results = "Images of the tool results:";

}  // namespace openai
