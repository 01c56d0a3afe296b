#include "request.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "json/exact.hpp"

namespace llm {

namespace json = boost::json;

namespace {

// Of Unicode: White_Space, Cc and Cf.
constexpr struct {
  char32_t first, last;
} invisible[] = {{0x0, 0x20},        {0x7f, 0xa0},       {0xad, 0xad},       {0x600, 0x605},      {0x61c, 0x61c},
                 {0x6dd, 0x6dd},     {0x70f, 0x70f},     {0x890, 0x891},     {0x8e2, 0x8e2},      {0x1680, 0x1680},
                 {0x180e, 0x180e},   {0x2000, 0x200f},   {0x2028, 0x202f},   {0x205f, 0x206f},    {0x3000, 0x3000},
                 {0xfeff, 0xfeff},   {0xfff9, 0xfffb},   {0x110bd, 0x110bd}, {0x110cd, 0x110cd},  {0x13430, 0x1343f},
                 {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0001, 0xe0001}, {0xe0020, 0xe007f}};

// The character at `at`, which moves behind it. The text is valid UTF-8: it comes from a JSON parser.
char32_t next_character(std::string_view text, std::size_t& at) {
  const auto lead = static_cast<std::uint8_t>(text[at++]);
  if (lead < 0xc0) return lead;
  char32_t c = lead & (lead >= 0xf0 ? 0x07 : lead >= 0xe0 ? 0x0f : 0x1f);
  for (; at < text.size() && (static_cast<std::uint8_t>(text[at]) & 0xc0) == 0x80; ++at)
    c = c << 6 | (static_cast<std::uint8_t>(text[at]) & 0x3f);
  return c;
}

}  // namespace

json::object parse_request(std::string_view text) {
  boost::system::error_code ec;
  constexpr std::size_t most_depth = 64;  // a tool's schema may be 61 deep in there
  json::value v = module_json::parse_exactly(text, most_depth, ec);
  if (ec || !v.is_object()) throw bad_request("the request is not a JSON object");
  json::object o = std::move(v.get_object());
  if (text_at(o, "model").empty()) throw bad_request("the request has no \"model\"");
  const auto* messages = array_at(o, "messages");
  if (!messages || messages->empty()) throw bad_request("the request has no \"messages\"");
  for (const auto& m : *messages) {
    if (!m.is_object()) throw bad_request("an element of \"messages\" is not an object");
    const auto role = text_at(m.get_object(), "role");
    if (role != "user" && role != "assistant" && role != "tool")
      throw bad_request("a message has an unknown \"role\"");
  }
  return o;
}

std::string_view text_at(const json::object& o, std::string_view key) {
  const auto* v = o.if_contains(key);
  return v && v->is_string() ? std::string_view(v->get_string()) : std::string_view();
}

const json::array* array_at(const json::object& o, std::string_view key) {
  const auto* v = o.if_contains(key);
  return v ? v->if_array() : nullptr;
}

const json::object* object_at(const json::object& o, std::string_view key) {
  const auto* v = o.if_contains(key);
  return v ? v->if_object() : nullptr;
}

bool flag_at(const json::object& o, std::string_view key) {
  const auto* v = o.if_contains(key);
  return v && v->is_bool() && v->get_bool();
}

bool is_blank(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const char32_t c = next_character(text, at);
    if (std::none_of(std::begin(invisible), std::end(invisible),
                     [c](const auto& range) { return c >= range.first && c <= range.last; }))
      return false;
  }
  return true;
}

std::string content_text(const json::object& message) {
  const auto* content = message.if_contains("content");
  if (!content) return {};
  if (content->is_string()) return std::string(content->get_string());
  std::string out;
  if (const auto* parts = content->if_array())
    for (const auto& p : *parts)
      if (p.is_object() && text_at(p.get_object(), "type") == "text") {
        if (!out.empty()) out += '\n';
        out += text_at(p.get_object(), "text");
      }
  return out;
}

std::vector<const json::object*> content_images(const json::object& message) {
  std::vector<const json::object*> out;
  if (const auto* parts = array_at(message, "content"))
    for (const auto& p : *parts)
      if (p.is_object() && text_at(p.get_object(), "type") == "image")
        out.push_back(&p.get_object());
  return out;
}

}  // namespace llm
