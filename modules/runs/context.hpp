// Keeps a conversation within a model's window: what is shortened, what has to be summarised. Pure, and from
// the persisted messages and the settings alone, so that any worker sends the same.
//
// Tokens are estimated: four ASCII characters make one, each other character is one, an image is a
// fixed number. A tenth of the window is left as a margin for that.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "conversation.hpp"

namespace runs {

std::int64_t estimate_tokens(std::string_view text);
std::int64_t estimate_tokens(const std::vector<chat_message>& messages);

// What is left for messages in a window of so many tokens.
std::int64_t room_for_messages(std::int64_t window_tokens, std::int64_t max_output_tokens,
                               std::string_view system, std::string_view tools_json);

// Shortens results of tools that the model has seen, and leaves images of earlier turns out, oldest first,
// until three quarters of the room are used; nothing when all fits. Returns the estimate afterwards.
std::int64_t shorten_old(std::vector<chat_message>& messages, std::int64_t room);
// The last resort: results that the model has not seen yet, the longest first.
std::int64_t shorten_recent(std::vector<chat_message>& messages, std::int64_t room);

// Whether the body of a result of a tool has images in it.
bool holds_images(std::string_view tool_body);
// Results of tools with a note in the place of their images, for a model that takes none. False: there were
// none.
bool leave_out_images_of_tools(std::vector<chat_message>& messages);

// How many messages from the front should become a summary so that the rest takes half of the room; never
// apart from their results, never the latest exchange, never only a summary again. 0: none can.
std::size_t to_summarise(const std::vector<chat_message>& messages, std::int64_t room);

// The text to be summarised, for a model with so much room.
std::string transcript(const std::vector<chat_message>& messages, std::size_t count, std::int64_t room);
inline constexpr std::string_view summary_instruction =
    "You condense the beginning of a conversation between a user, an assistant and the assistant's tools, "
    "so that the assistant can go on without it. Keep what the user asked for and decided, what was found "
    "out, file names, numbers, identifiers, what has been done and what is left to do. Leave out "
    "pleasantries and what was superseded. Write plain text, at most 600 words.";
// The body of the summary's message. The request that this run works on is kept word by word when it is
// among what is summarised. An empty text: no model could be asked, the messages are left out.
std::string summary_body(std::string_view text, const std::vector<chat_message>& messages,
                         std::size_t count, std::int64_t room);

}  // namespace runs
