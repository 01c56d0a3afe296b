#include "messages_request.hpp"

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "request.hpp"

namespace anthropic {

namespace json = boost::json;

namespace {

json::object image_block(const json::object& image) {
  return {{"type", "image"},
          {"source",
           {{"type", "base64"},
            {"media_type", llm::text_at(image, "media_type")},
            {"data", llm::text_at(image, "data")}}}};
}

// The API refuses empty text blocks.
void add_text(json::array& blocks, std::string_view text) {
  if (!text.empty()) blocks.push_back({{"type", "text"}, {"text", text}});
}

json::array user_blocks(const json::object& message) {
  json::array blocks;
  add_text(blocks, llm::content_text(message));
  for (const auto* image : llm::content_images(message)) blocks.push_back(image_block(*image));
  return blocks;
}

json::array assistant_blocks(const json::object& message) {
  json::array blocks;
  add_text(blocks, llm::content_text(message));
  if (const auto* calls = llm::array_at(message, "tool_calls"))
    for (const auto& c : *calls) {
      if (!c.is_object()) throw llm::bad_request("an element of \"tool_calls\" is not an object");
      const auto& call = c.get_object();
      const auto* args = call.if_contains("arguments");
      json::object input;  // what the model wrote wrongly cannot be sent back: only objects may
      if (args && args->is_object()) {
        input = args->get_object();
      } else if (args && args->is_string()) {
        boost::system::error_code ec;
        if (const auto v = json::parse(args->get_string(), ec); !ec && v.is_object())
          input = v.get_object();
      }
      blocks.push_back({{"type", "tool_use"},
                        {"id", llm::text_at(call, "id")},
                        {"name", llm::text_at(call, "name")},
                        {"input", std::move(input)}});
    }
  return blocks;
}

json::object result_block(const json::object& message) {
  json::object out{{"type", "tool_result"}, {"tool_use_id", llm::text_at(message, "tool_call_id")}};
  const auto images = llm::content_images(message);
  if (images.empty()) {
    out["content"] = llm::content_text(message);
  } else {
    out["content"] = user_blocks(message);
  }
  if (llm::flag_at(message, "is_error")) out["is_error"] = true;
  return out;
}

// Roles alternate: what follows with the same role joins the message before. A tool's result is a
// block of the user's.
json::array messages(const json::object& request) {
  json::array out;
  const auto add = [&out](std::string_view role, json::array blocks) {
    if (blocks.empty()) return;
    if (out.empty() && role == "assistant")
      out.push_back({{"role", "user"}, {"content", "(The conversation began earlier.)"}});
    if (!out.empty() && llm::text_at(out.back().get_object(), "role") == role) {
      auto& content = out.back().get_object()["content"];
      if (content.is_array()) {
        for (auto& b : blocks) content.get_array().push_back(std::move(b));
        return;
      }
    }
    out.push_back({{"role", role}, {"content", std::move(blocks)}});
  };
  for (const auto& m : *llm::array_at(request, "messages")) {
    const auto& message = m.get_object();
    const auto role = llm::text_at(message, "role");
    if (role == "user")
      add("user", user_blocks(message));
    else if (role == "assistant")
      add("assistant", assistant_blocks(message));
    else
      add("user", json::array{result_block(message)});
  }
  if (out.empty()) throw llm::bad_request("all messages are empty");
  return out;
}

}  // namespace

std::string build_request(std::string_view neutral_json, const request_options& options) {
  const auto request = llm::parse_request(neutral_json);
  json::object out = options.extra_body;
  out["model"] = llm::text_at(request, "model");
  out["stream"] = true;
  out["max_tokens"] = options.max_tokens;
  if (const auto* n = request.if_contains("max_output_tokens"); n && n->is_number())
    out["max_tokens"] = *n;
  if (const auto system = llm::text_at(request, "system"); !system.empty()) out["system"] = system;
  out["messages"] = messages(request);
  if (const auto* tools = llm::array_at(request, "tools"); tools && !tools->empty()) {
    json::array list;
    for (const auto& t : *tools) {
      if (!t.is_object()) throw llm::bad_request("an element of \"tools\" is not an object");
      const auto& tool = t.get_object();
      json::object o{{"name", llm::text_at(tool, "name")}};
      if (const auto d = llm::text_at(tool, "description"); !d.empty()) o["description"] = d;
      const auto* parameters = llm::object_at(tool, "parameters");
      o["input_schema"] = parameters
                              ? *parameters
                              : json::object{{"type", "object"}, {"properties", json::object()}};
      list.push_back(std::move(o));
    }
    out["tools"] = std::move(list);
  }
  const auto* temperature = request.if_contains("temperature");
  if (options.temperature == sampling::send && temperature && temperature->is_number())
    out["temperature"] = *temperature;
  if (const auto* stop = llm::array_at(request, "stop"); stop && !stop->empty())
    out["stop_sequences"] = *stop;
  return json::serialize(out);
}

}  // namespace anthropic
