#include "request.hpp"

#include "json/exact.hpp"

namespace llm {

namespace json = boost::json;

json::object parse_request(std::string_view text) {
  boost::system::error_code ec;
  constexpr std::size_t max_depth = 64;  // leaves 61 levels for a tool's schema
  json::value v = module_json::parse_exactly(text, max_depth, ec);
  if (ec || !v.is_object()) throw bad_request("the request is not a JSON object");
  json::object o = std::move(v.get_object());
  if (text_at(o, "model").empty()) throw bad_request("the request has no \"model\"");
  const auto* messages = array_at(o, "messages");
  if (!messages || messages->empty()) throw bad_request("the request has no \"messages\"");
  for (const auto& m : *messages) {
    if (!m.is_object()) throw bad_request("an element of \"messages\" is not an object");
    const auto role = text_at(m.get_object(), "role");
    if (role != "user" && role != "assistant" && role != "tool") throw bad_request("a message has an unknown \"role\"");
  }
  return o;
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
      if (p.is_object() && text_at(p.get_object(), "type") == "image") out.push_back(&p.get_object());
  return out;
}

}  // namespace llm
