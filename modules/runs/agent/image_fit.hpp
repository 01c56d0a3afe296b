// Finds the images of a request that the model's provider does not accept, and the size to scale them to. Pure.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "run/conversation.hpp"
#include "ry/ext/llm_provider.h"
#include "workspace/image_cache.hpp"

namespace runs {

// Limits for a scaled image.
struct image_target {
  std::uint32_t side = 0;  // pixels
  std::size_t bytes = 0;
};
image_target target_for(const ry_llm_limits& limits);

struct unsupported_image {
  std::size_t message = 0, part = 0;  // indices
  std::string bytes;
};
// Finds the images in user messages and tool results that violate the limits. Ignores data that is not a readable
// image.
std::vector<unsupported_image> find_unsupported_images(const std::vector<chat_message>& messages,
                                                       const ry_llm_limits& limits);
// Whether the body contains the bytes of an image.
bool contains_image_data(const chat_message& m);

// Replaces an image with the scaled one, or with a text about its problem.
void replace_image(chat_message& m, std::size_t part, const scaled_picture& to);

// Texts for the model.
inline constexpr std::string_view first_frame_note = "[Only the first frame of this animation is shown.]";
std::string omitted_image_note(std::string_view problem);

}  // namespace runs
