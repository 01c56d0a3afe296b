// Which images of a request its model's provider does not take as they are, and in what size it takes them. Pure.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "conversation.hpp"
#include "image_cache.hpp"
#include "ry/ext/llm_provider.h"

namespace runs {

// What an image is scaled down to.
struct image_target {
  std::uint32_t side = 0;  // pixels
  std::size_t bytes = 0;
};
image_target target_for(const ry_llm_limits& limits);

struct image_misfit {
  std::size_t message = 0, part = 0;  // indices
  std::string bytes;
};
// Images of user messages and of results of tools, by their bytes. What is no image that can be read is not among them.
std::vector<image_misfit> images_that_do_not_fit(const std::vector<chat_message>& messages, const ry_llm_limits& limits);
// Whether the body holds an image with its bytes.
bool holds_image_data(const chat_message& m);

// Puts the scaled image, or the text about its problem, in the place of an image.
void replace_image(chat_message& m, std::size_t part, const scaled_picture& to);

// Texts for the model.
inline constexpr std::string_view first_frame_note = "[Only the first frame of this animation is shown.]";
std::string left_out_note(std::string_view problem);

}  // namespace runs
