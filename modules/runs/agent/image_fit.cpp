#include "agent/image_fit.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <optional>

#include "json/members.hpp"
#include "llm/common/image_type.hpp"

namespace runs {

namespace json = boost::json;

namespace {

// Models do not use a higher resolution, even if they accept it. Within every provider's limit for many images.
constexpr std::uint32_t scaled_side = 2000;
constexpr std::size_t scaled_bytes = 1536u << 10;
constexpr std::size_t header_base64_chars = 64u
                                            << 10;  // base64 of the beginning, which nearly always contains the size

std::string_view without_data_url_prefix(std::string_view data) {
  if (!data.starts_with("data:")) return data;
  const std::size_t comma = data.find(',');
  return comma == std::string_view::npos ? std::string_view() : data.substr(comma + 1);
}

// Returns the part if it is an image with data, otherwise nullptr.
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

struct image_in_message {
  std::size_t message, part;
  std::string_view data;
  llm::image_header header;
};

// Decodes only the beginning, unless the size or the frames cannot be read from it.
llm::image_header header_of(std::string_view data, const ry_llm_limits& limits) {
  llm::image_header h;
  const auto head = llm::decode_base64(data.substr(0, header_base64_chars));
  if (head) h = llm::read_image_header(*head);
  const bool not_an_image = head && h.media_type.empty();
  const bool needs_all_bytes = h.width == 0 || (h.media_type == "image/gif" && limits.gifs == RY_LLM_GIF_STILL);
  if (data.size() <= header_base64_chars || not_an_image || !needs_all_bytes) return h;
  if (const auto all = llm::decode_base64(data)) h = llm::read_image_header(*all);
  return h;
}

bool fits(const image_in_message& image, const ry_llm_limits& limits, bool many) {
  const bool gif = image.header.media_type == "image/gif";
  if (gif && limits.gifs == RY_LLM_GIF_NONE) return false;
  if (gif && limits.gifs == RY_LLM_GIF_STILL && image.header.frames == llm::image_frames::several) return false;
  const std::uint32_t side = std::max(image.header.width, image.header.height);
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

bool contains_image_data(const chat_message& m) {
  return (m.role == "user" || m.role == "tool") && m.body.find("\"image\"") != std::string::npos &&
         m.body.find("\"data\":") != std::string::npos;
}

std::vector<unsupported_image> find_unsupported_images(const std::vector<chat_message>& messages,
                                                       const ry_llm_limits& limits) {
  std::vector<json::value> bodies(messages.size());
  std::vector<image_in_message> images;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    if (!contains_image_data(messages[i])) continue;
    bodies[i] = parse_body(messages[i]);
    const json::array* content = content_of_body(bodies[i]);
    for (std::size_t k = 0; content != nullptr && k < content->size(); ++k) {
      const json::object* part = image_part((*content)[k]);
      if (part == nullptr) continue;
      const std::string_view data = without_data_url_prefix(module_json::text_at(*part, "data"));
      const llm::image_header header = header_of(data, limits);
      if (!header.media_type.empty()) images.push_back({i, k, data, header});
    }
  }
  const bool many = limits.many_images > 0 && images.size() > limits.many_images;
  std::vector<unsupported_image> out;
  for (const image_in_message& image : images) {
    if (fits(image, limits, many)) continue;
    if (auto bytes = llm::decode_base64(image.data)) out.push_back({image.message, image.part, std::move(*bytes)});
  }
  return out;
}

std::string omitted_image_note(std::string_view problem) {
  return "[An image was omitted: it " + std::string(problem) + ".]";
}

void replace_image(chat_message& m, std::size_t part, const scaled_picture& to) {
  json::value body = parse_body(m);
  json::array* content = content_of_body(body);
  if (content == nullptr || part >= content->size()) return;
  if (to.problem.empty())
    (*content)[part] = {{"type", "image"}, {"media_type", to.media_type}, {"data", to.data}};
  else
    (*content)[part] = {{"type", "text"}, {"text", omitted_image_note(to.problem)}};
  if (to.first_frame) content->push_back({{"type", "text"}, {"text", first_frame_note}});
  m.body = one_line(std::move(body));
}

}  // namespace runs
