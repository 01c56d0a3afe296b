#include "agent/image_fit.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <optional>

#include "json/members.hpp"
#include "llm/common/image_type.hpp"

namespace runs {

namespace json = boost::json;

namespace {

// Models use no higher resolution, whatever they accept; within every provider's limit for many images.
constexpr std::uint32_t scaled_side = 2000;
constexpr std::size_t scaled_bytes = 1536u << 10;
constexpr std::size_t header_characters = 64u << 10;  // base64 of the beginning, which nearly always contains the size

std::string_view payload(std::string_view data) {
  if (!data.starts_with("data:")) return data;
  const std::size_t comma = data.find(',');
  return comma == std::string_view::npos ? std::string_view() : data.substr(comma + 1);
}

// An image part with data, or nullptr.
const json::object* image_part(const json::value& part) {
  const json::object* o = part.if_object();
  return o != nullptr && module_json::text_at(*o, "type") == "image" && !module_json::text_at(*o, "data").empty()
             ? o
             : nullptr;
}

json::value parse_body(const chat_message& m) {
  boost::system::error_code bad;
  json::value v = json::parse(m.body, bad, {}, body_options());
  return bad ? json::value() : std::move(v);
}

json::array* content_of_body(json::value& body) {
  json::object* o = body.if_object();
  json::value* content = o != nullptr ? o->if_contains("content") : nullptr;
  return content != nullptr ? content->if_array() : nullptr;
}

struct seen_image {
  std::size_t message, part;
  std::string_view data;
  llm::image_header is;
};

// Decodes only the beginning, unless that does not contain the size.
llm::image_header header_of(std::string_view data, const ry_llm_limits& limits) {
  llm::image_header h;
  const auto head = llm::decode_base64(data.substr(0, header_characters));
  if (head) h = llm::read_image_header(*head);
  const bool is_other = head && h.media_type.empty();
  const bool unclear = h.width == 0 || (h.media_type == "image/gif" && limits.gifs == RY_LLM_GIF_STILL);
  if (data.size() <= header_characters || is_other || !unclear) return h;
  if (const auto all = llm::decode_base64(data)) h = llm::read_image_header(*all);
  return h;
}

bool fits(const seen_image& image, const ry_llm_limits& limits, bool many) {
  const bool gif = image.is.media_type == "image/gif";
  if (gif && limits.gifs == RY_LLM_GIF_NONE) return false;
  if (gif && limits.gifs == RY_LLM_GIF_STILL && image.is.frames == llm::image_frames::several) return false;
  const std::uint32_t side = std::max(image.is.width, image.is.height);
  if (limits.image_side > 0 && side > limits.image_side) return false;
  if (many && side > limits.image_side_of_many) return false;
  return limits.image_bytes == 0 || image.data.size() <= limits.image_bytes;
}

}  // namespace

image_target target_for(const ry_llm_limits& limits) {
  image_target out{scaled_side, scaled_bytes};
  if (limits.image_side > 0) out.side = std::min(out.side, limits.image_side);
  if (limits.many_images > 0 && limits.image_side_of_many > 0) out.side = std::min(out.side, limits.image_side_of_many);
  if (limits.image_bytes > 0) out.bytes = std::min(out.bytes, static_cast<std::size_t>(limits.image_bytes / 4 * 3));
  return out;
}

bool holds_image_data(const chat_message& m) {
  return (m.role == "user" || m.role == "tool") && m.body.find("\"image\"") != std::string::npos &&
         m.body.find("\"data\":") != std::string::npos;
}

std::vector<image_misfit> images_that_do_not_fit(const std::vector<chat_message>& messages,
                                                 const ry_llm_limits& limits) {
  std::vector<json::value> bodies(messages.size());
  std::vector<seen_image> images;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    if (!holds_image_data(messages[i])) continue;
    bodies[i] = parse_body(messages[i]);
    const json::array* content = content_of_body(bodies[i]);
    for (std::size_t k = 0; content != nullptr && k < content->size(); ++k) {
      const json::object* part = image_part((*content)[k]);
      if (part == nullptr) continue;
      const std::string_view data = payload(module_json::text_at(*part, "data"));
      const llm::image_header is = header_of(data, limits);
      if (!is.media_type.empty()) images.push_back({i, k, data, is});
    }
  }
  const bool many = limits.many_images > 0 && images.size() > limits.many_images;
  std::vector<image_misfit> out;
  for (const seen_image& image : images) {
    if (fits(image, limits, many)) continue;
    if (auto bytes = llm::decode_base64(image.data)) out.push_back({image.message, image.part, std::move(*bytes)});
  }
  return out;
}

std::string left_out_note(std::string_view problem) {
  return "[An image was left out: it " + std::string(problem) + ".]";
}

void replace_image(chat_message& m, std::size_t part, const scaled_picture& to) {
  json::value body = parse_body(m);
  json::array* content = content_of_body(body);
  if (content == nullptr || part >= content->size()) return;
  if (to.problem.empty())
    (*content)[part] = {{"type", "image"}, {"media_type", to.media_type}, {"data", to.data}};
  else
    (*content)[part] = {{"type", "text"}, {"text", left_out_note(to.problem)}};
  if (to.first_frame) content->push_back({{"type", "text"}, {"text", first_frame_note}});
  m.body = one_line(std::move(body));
}

}  // namespace runs
