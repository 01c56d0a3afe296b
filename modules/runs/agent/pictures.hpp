// Images of user messages: the thread stores their workspace paths; requests to models with vision contain their bytes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <ry/ry.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "run/conversation.hpp"
#include "run/live_run.hpp"
#include "settings/settings.hpp"
#include "workspace/run_workspace.hpp"
#include "workspace/sandbox_drivers.hpp"

namespace runs {

class image_scaler;

// Limits of one request, below the limits of the providers.
constexpr std::size_t max_pictures = 20;
constexpr std::uint64_t max_picture_bytes = 5u << 20;  // of one image that is not scaled down
constexpr std::uint64_t max_pictures_bytes = 20u << 20;  // of all images
struct picture {
  std::string path, media_type;
};
// A user message with its text and images. Pure, like the next two functions.
std::string user_body_with(std::string_view text, const std::vector<picture>& pictures);
// The paths of a body's images, in order; usually none.
std::vector<std::string> pictures_in(std::string_view body);
// The body for a request: its text, the bytes of the images (base64, by path), and the notes that replace or follow
// images (by path).
std::string resolve_pictures(std::string_view body, const std::map<std::string, std::string>& base64,
                             const std::map<std::string, std::string>& notes = {});

// The messages for `model` with the user's latest images; nullopt: unchanged. A model without vision gets no images,
// not even those of tools. `scaler`, created for this request, scales down images above the limits. Thread: the run's
// executor.
ry::task<std::optional<std::vector<chat_message>>> show_pictures(
    const ry::context& ctx, const settings& config, const sandbox_drivers& sandboxes, const run_workspace& files,
    std::shared_ptr<live_run> run, std::string model, image_scaler& scaler, const std::vector<chat_message>& messages);

}  // namespace runs
