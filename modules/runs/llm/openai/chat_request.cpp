#include "chat_request.hpp"

#include <boost/json/serialize.hpp>

#include "request.hpp"

namespace openai {

namespace json = boost::json;

namespace {

json::object image_part(const json::object& image) {
  std::string url = "data:";
  url.append(llm::text_at(image, "media_type")).append(";base64,");
  url.append(llm::text_at(image, "data"));
  return {{"type", "image_url"}, {"image_url", {{"url", url}}}};
}

json::value user_content(const json::object& message) {
  const auto images = llm::content_images(message);
  std::string text = llm::content_text(message);
  if (images.empty()) return json::value(std::move(text));
  json::array parts;
  if (!text.empty()) parts.push_back({{"type", "text"}, {"text", text}});
  for (const auto* image : images) parts.push_back(image_part(*image));
  return parts;
}

// What this model thought before it asked for tools.
std::string_view reasoning_of(const json::object& message, std::string_view model) {
  if (const auto* list = llm::array_at(message, "reasoning"))
    for (const auto& v : *list)
      if (const auto* o = v.if_object(); o && llm::text_at(*o, "driver") == "openai" &&
                                         llm::text_at(*o, "model") == model)
        return llm::text_at(*o, "reasoning_content");
  return {};
}

json::object assistant(const json::object& message) {
  json::object out{{"role", "assistant"}};
  std::string text = llm::content_text(message);
  json::array calls;
  if (const auto* list = llm::array_at(message, "tool_calls"))
    for (const auto& c : *list) {
      if (!c.is_object()) throw llm::bad_request("an element of \"tool_calls\" is not an object");
      const auto& call = c.get_object();
      const auto* args = call.if_contains("arguments");
      // What was no valid JSON is kept as the model wrote it.
      std::string text_of_args = !args               ? "{}"
                                 : args->is_string() ? std::string(args->get_string())
                                                     : json::serialize(*args);
      calls.push_back(
          {{"id", llm::text_at(call, "id")},
           {"type", "function"},
           {"function", {{"name", llm::text_at(call, "name")}, {"arguments", text_of_args}}}});
    }
  if (text.empty() && !calls.empty())
    out["content"] = nullptr;
  else
    out["content"] = text;
  if (!calls.empty()) out["tool_calls"] = std::move(calls);
  return out;
}

json::object tool(const json::object& message) {
  std::string text = llm::content_text(message);
  // The protocol has no mark for a failed call.
  if (llm::flag_at(message, "is_error") && !text.starts_with("Error")) text = "Error: " + text;
  return {
      {"role", "tool"}, {"tool_call_id", llm::text_at(message, "tool_call_id")}, {"content", text}};
}

json::array messages(const json::object& request, const request_options& options) {
  json::array out;
  const auto& all = *llm::array_at(request, "messages");
  std::size_t turn = 0;  // where the turn in progress begins
  for (std::size_t i = 0; i < all.size(); ++i)
    if (llm::text_at(all[i].get_object(), "role") == "user") turn = i;
  if (const auto system = llm::text_at(request, "system"); !system.empty())
    out.push_back({{"role", "system"}, {"content", system}});
  json::array images;  // of tool results: only users may show images, after all results of a turn
  const auto show_images = [&] {
    if (!images.empty()) out.push_back({{"role", "user"}, {"content", std::move(images)}});
    images = json::array();
  };
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto& message = all[i].get_object();
    const auto role = llm::text_at(message, "role");
    if (role != "tool") show_images();
    if (role == "user") {
      out.push_back({{"role", "user"}, {"content", user_content(message)}});
    } else if (role == "assistant") {
      out.push_back(assistant(message));
      const auto thought = reasoning_of(message, llm::text_at(request, "model"));
      if (options.send_reasoning && i > turn && !thought.empty())
        out.back().get_object()["reasoning_content"] = thought;
    } else {
      out.push_back(tool(message));
      for (const auto* image : llm::content_images(message)) images.push_back(image_part(*image));
    }
  }
  show_images();
  return out;
}

}  // namespace

std::string build_request(const json::object& request, const request_options& options) {
  json::object out = options.extra_body;
  out["model"] = llm::text_at(request, "model");
  out["messages"] = messages(request, options);
  out["stream"] = true;
  if (options.stream_usage) out["stream_options"] = {{"include_usage", true}};
  if (const auto* tools = llm::array_at(request, "tools"); tools && !tools->empty()) {
    json::array list;
    for (const auto& t : *tools) {
      if (!t.is_object()) throw llm::bad_request("an element of \"tools\" is not an object");
      json::object f{{"name", llm::text_at(t.get_object(), "name")}};
      if (const auto d = llm::text_at(t.get_object(), "description"); !d.empty())
        f["description"] = d;
      const auto* parameters = llm::object_at(t.get_object(), "parameters");
      f["parameters"] = parameters
                            ? *parameters
                            : json::object{{"type", "object"}, {"properties", json::object()}};
      list.push_back({{"type", "function"}, {"function", std::move(f)}});
    }
    out["tools"] = std::move(list);
  }
  if (const auto* n = request.if_contains("max_output_tokens"); n && n->is_number())
    out[options.max_tokens_field] = *n;
  if (const auto* t = request.if_contains("temperature"); t && t->is_number())
    out["temperature"] = *t;
  if (const auto* stop = llm::array_at(request, "stop"); stop && !stop->empty())
    out["stop"] = *stop;
  return json::serialize(out);
}

}  // namespace openai
