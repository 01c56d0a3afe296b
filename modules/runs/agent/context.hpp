// Keeps a conversation within a model's context window: shortens parts and selects messages to summarise. Pure; depends
// only on the persisted messages and the settings, so every worker sends the same request.
//
// Token counts are estimates: four ASCII characters are one token, every other character is one, an image is a fixed
// number. A tenth of the window remains as a margin.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "run/conversation.hpp"

namespace runs {

std::int64_t estimate_tokens(std::string_view text);
std::int64_t estimate_tokens(const std::vector<chat_message>& messages);

// The tokens that remain for messages in a window of this size.
std::int64_t room_for_messages(std::int64_t window_tokens, std::int64_t max_output_tokens, std::string_view system,
                               std::string_view tools_json);

// Shortens tool results that the model has already seen and removes reasoning and images of earlier turns, oldest first, until at
// most three quarters of the room are used. Changes nothing if all messages fit. Returns the new estimate.
std::int64_t shorten_old(std::vector<chat_message>& messages, std::int64_t room);
// Last resort: also shortens results that the model has not seen yet, the longest first.
std::int64_t shorten_recent(std::vector<chat_message>& messages, std::int64_t room);

// Whether the body of a tool result contains images.
bool contains_images(std::string_view tool_body);
// Replaces the images of tool results with a note, for a model that does not accept images. False: there were none.
bool remove_tool_images(std::vector<chat_message>& messages);

// How many of the first messages to summarise so that the rest takes at most half of the room. Never separates calls
// from their results, never includes the latest exchange, and never covers only an earlier summary. 0: not possible.
std::size_t to_summarise(const std::vector<chat_message>& messages, std::int64_t room);

// The text to summarise, truncated to the room of the summarising model.
std::string transcript(const std::vector<chat_message>& messages, std::size_t count, std::int64_t room);
inline constexpr std::string_view summary_instruction =
    "You condense the beginning of a conversation between a user, an assistant and the assistant's tools, "
    "so that the assistant can continue without it. Keep what the user asked for and decided, what was found "
    "out, file names, numbers, identifiers, what has been done and what is left to do. Leave out "
    "pleasantries and what was superseded. Write plain text, at most 600 words.";
// The body of the summary's message. If the request that this run works on is among the summarised messages, it is
// quoted, shortened to `room` bytes if necessary. An empty text: no model was available; a note replaces the messages.
std::string summary_body(std::string_view text, const std::vector<chat_message>& messages, std::size_t count,
                         std::int64_t room);

}  // namespace runs
