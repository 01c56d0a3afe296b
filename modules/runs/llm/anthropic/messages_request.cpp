#include "messages_request.hpp"

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "request.hpp"

namespace anthropic {

namespace json = boost::json;

namespace {

enum class thinking_mode { on, off };

bool thinks(const json::object& body) {
  const auto* t = llm::object_at(body, "thinking");
  return t && llm::text_at(*t, "type") != "disabled";
}

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

// Those of this model, as it gave them.
void add_thinking(json::array& blocks, const json::object& message, std::string_view model) {
  const auto* list = llm::array_at(message, "reasoning");
  if (!list) return;
  for (const auto& v : *list) {
    const auto* o = v.if_object();
    if (!o || llm::text_at(*o, "driver") != "anthropic" || llm::text_at(*o, "model") != model) continue;
    json::object block = *o;
    block.erase("driver");
    block.erase("model");
    blocks.push_back(std::move(block));
  }
}

json::array assistant_blocks(const json::object& message, std::string_view model, thinking_mode mode) {
  json::array blocks;
  if (mode == thinking_mode::on) add_thinking(blocks, message, model);
  const bool only_thought = !blocks.empty() && llm::content_text(message).empty() &&
                            !llm::array_at(message, "tool_calls");
  if (only_thought) return {};
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
json::array messages(const json::object& request, thinking_mode mode) {
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
      add("assistant", assistant_blocks(message, llm::text_at(request, "model"), mode));
    else
      add("user", json::array{result_block(message)});
  }
  if (out.empty()) throw llm::bad_request("all messages are empty");
  return out;
}

// The last message of the assistant asks for tools and does not begin with a thought.
bool goes_on_without_thought(const json::array& messages) {
  for (auto m = messages.rbegin(); m != messages.rend(); ++m) {
    const auto& message = m->get_object();
    if (llm::text_at(message, "role") != "assistant") continue;
    const auto* blocks = llm::array_at(message, "content");
    if (!blocks || blocks->empty() || m == messages.rbegin()) return false;
    const auto type_of = [](const json::value& b) { return llm::text_at(b.get_object(), "type"); };
    return type_of(blocks->back()) == "tool_use" && !type_of(blocks->front()).ends_with("thinking");
  }
  return false;
}

}  // namespace

std::string build_request(const json::object& request, const request_options& options) {
  json::object out = options.extra_body;
  out["model"] = llm::text_at(request, "model");
  out["stream"] = true;
  out["max_tokens"] = options.max_tokens;
  if (const auto* n = request.if_contains("max_output_tokens"); n && n->is_number())
    out["max_tokens"] = *n;
  if (const auto system = llm::text_at(request, "system"); !system.empty()) out["system"] = system;
  out["messages"] = messages(request, thinks(out) ? thinking_mode::on : thinking_mode::off);
  if (thinks(out) && goes_on_without_thought(out["messages"].get_array())) out.erase("thinking");
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
