// Images of user messages: in the thread they stand by their path in the workspace, in a request by their
// bytes, and only for models that see.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parts.hpp"
#include "ry/ext/llm_provider.h"

namespace runs {

// Of one request. Providers refuse more.
constexpr std::size_t most_pictures = 20;
constexpr std::uint64_t most_picture_bytes = 5u << 20;        // of one that is not scaled down
constexpr std::uint64_t most_pictures_bytes = 20u << 20;      // of all
// Bytes of text that are worked on in one turn of a loop, some milliseconds; more goes to a thread that may block.
constexpr std::uint64_t most_in_a_turn = 512u << 10;

struct picture {
  std::string path, media_type;
};
// A user message with its text and images. Pure, as are the next two.
std::string user_body_with(std::string_view text, const std::vector<picture>& pictures);
// The paths of a body's images, in order; empty for nearly all bodies.
std::vector<std::string> pictures_in(std::string_view body);
// The body as a request has it: images whose bytes are given (base64, by path), texts that stand for or follow images
// (also by path), the text of all.
std::string resolve_pictures(std::string_view body, const std::map<std::string, std::string>& base64,
                             const std::map<std::string, std::string>& notes = {});

// The messages as `model` is to get them; nullopt: as they are. The latest images of the user are shown; a model that
// sees none gets none, of tools neither. Images beyond the limits are scaled down. On the run's executor.
ry::task<std::optional<std::vector<chat_message>>> show_pictures(parts& p, std::shared_ptr<live_run> run,
                                                                 std::string model, ry_llm_limits limits,
                                                                 const std::vector<chat_message>& messages);

}  // namespace runs
