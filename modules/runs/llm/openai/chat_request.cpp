#include "chat_request.hpp"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "placeholder_texts.hpp"

namespace openai {

namespace json = boost::json;

namespace {

// Google documents this value for calls that Gemini did not make.
constexpr std::string_view no_signature = "skip_thought_signature_validator";

json::object image_url_part(const llm::shown_image& image) {
  std::string url = "data:";
  url.append(image.media_type).append(";base64,").append(image.data);
  return {{"type", "image_url"}, {"image_url", {{"url", url}}}};
}

class message_list {
 public:
  message_list(std::string_view model, const request_options& options, bool sign_calls)
      : model_(model), options_(options), sign_calls_(sign_calls) {}

  json::array of(std::string_view system, const std::vector<llm::turn>& turns) {
    if (!llm::is_blank(system)) out_.push_back({{"role", "system"}, {"content", system}});
    for (const auto& t : turns) {
      if (t.role == llm::turn::speaker::user) {
        user(t);
      } else {
        add_pending_images();
        assistant(t);
      }
    }
    add_pending_images();
    return std::move(out_);
  }

 private:
  std::string_view last_role() const {
    return out_.empty() ? std::string_view() : llm::text_at(out_.back().get_object(), "role");
  }

  // Inserts the assistant message that templates with strict turns require between `user` or `tool` and a user message.
  void add_filler_before_user(std::string_view text_after_results) {
    if (!options_.alternate_roles) return;
    if (last_role() == "user") out_.push_back({{"role", "assistant"}, {"content", no_answer}});
    if (last_role() == "tool") out_.push_back({{"role", "assistant"}, {"content", text_after_results}});
  }

  void user(const llm::turn& t) {
    json::array parts = std::exchange(pending_images_, {});
    add_filler_before_user(parts.empty() ? no_answer : images_follow);
    if (parts.empty() && t.images.empty()) {
      out_.push_back({{"role", "user"}, {"content", t.text}});
      return;
    }
    if (!parts.empty()) parts.insert(parts.begin(), json::object{{"type", "text"}, {"text", images_of_results}});
    if (!t.text.empty()) parts.push_back({{"type", "text"}, {"text", t.text}});
    for (const auto& image : t.images) parts.push_back(image_url_part(image));
    out_.push_back({{"role", "user"}, {"content", std::move(parts)}});
  }

  // Only user messages may contain images, so images of results follow all results of a turn.
  void add_pending_images() {
    if (!pending_images_.empty()) user({});
  }

  void assistant(const llm::turn& t) {
    json::object message{{"role", "assistant"}};
    if (t.text.empty())
      message["content"] = nullptr;
    else
      message["content"] = t.text;
    json::array calls;
    for (const auto& c : t.calls)
      calls.push_back({{"id", c.id},
                       {"type", "function"},
                       {"function", {{"name", c.name}, {"arguments", json::serialize(c.arguments)}}}});
    add_reasoning(message, calls, t);
    if (!calls.empty()) message["tool_calls"] = std::move(calls);
    out_.push_back(std::move(message));
    for (const auto& c : t.calls) {
      std::string text = c.result.text;
      if (text.empty()) text = "(image)";
      // The protocol cannot mark a failed call.
      if (c.result.failed && !text.starts_with("Error")) text.insert(0, "Error: ");
      out_.push_back({{"role", "tool"}, {"tool_call_id", c.id}, {"content", text}});
      for (const auto& image : c.result.images) pending_images_.push_back(image_url_part(image));
    }
  }

  // Adds the blocks that this model produced with the message. Signatures belong to their calls.
  void add_reasoning(json::object& message, json::array& calls, const llm::turn& t) {
    json::array details;
    // DeepSeek rejects a call without this member, even if the call is from an earlier turn or another model.
    if (options_.send_reasoning && !calls.empty()) message["reasoning_content"] = "";
    for (const auto* block : t.reasoning) {
      if (llm::text_at(*block, "driver") != "openai" || llm::text_at(*block, "model") != model_) continue;
      if (const auto text = llm::text_at(*block, "reasoning_content");
          options_.send_reasoning && !text.empty() && !calls.empty())
        message["reasoning_content"] = text;
      if (const auto* list = llm::array_at(*block, "reasoning_details"))
        details.insert(details.end(), list->begin(), list->end());
      const auto* signed_calls = llm::array_at(*block, "calls");
      if (signed_calls == nullptr) continue;
      for (const auto& s : *signed_calls) {
        const auto* o = s.if_object();
        const auto* extra = o ? llm::object_at(*o, "extra_content") : nullptr;
        if (extra == nullptr) continue;
        for (std::size_t i = 0; i < t.calls.size(); ++i)
          if (t.calls[i].stored_id == llm::text_at(*o, "id")) calls[i].get_object()["extra_content"] = *extra;
      }
    }
    if (!details.empty()) message["reasoning_details"] = std::move(details);
    if (sign_calls_ && !calls.empty() && !calls[0].get_object().contains("extra_content"))
      calls[0].get_object()["extra_content"] = {{"google", {{"thought_signature", no_signature}}}};
  }

  const std::string_view model_;
  const request_options& options_;
  const bool sign_calls_;
  json::array out_, pending_images_;
};

// Whether the model signed calls of this conversation. If so, it also checks the other calls.
bool has_signed_calls(const std::vector<llm::turn>& turns, std::string_view model) {
  return std::any_of(turns.begin(), turns.end(), [model](const llm::turn& t) {
    return std::any_of(t.reasoning.begin(), t.reasoning.end(), [model](const json::object* block) {
      if (llm::text_at(*block, "driver") != "openai" || llm::text_at(*block, "model") != model) return false;
      const auto* calls = llm::array_at(*block, "calls");
      if (calls == nullptr) return false;
      return std::any_of(calls->begin(), calls->end(), [](const json::value& c) {
        const auto* o = c.if_object();
        const auto* extra = o ? llm::object_at(*o, "extra_content") : nullptr;
        const auto* google = extra ? llm::object_at(*extra, "google") : nullptr;
        return google && google->contains("thought_signature");
      });
    });
  });
}

json::array function_list(const llm::tool_set& tools) {
  json::array list;
  for (const auto& t : tools.offered()) {
    json::object f{{"name", t.name}};
    if (!t.description.empty()) f["description"] = t.description;
    f["parameters"] = t.parameters;
    list.push_back({{"type", "function"}, {"function", std::move(f)}});
  }
  return list;
}

void set_parameters(json::object& out, const json::object& request, const request_options& options,
                    std::vector<llm::notice>& notices) {
  const auto model = llm::text_at(request, "model");
  const auto effort = llm::text_at(request, "reasoning_effort");
  const bool reasons = options.known_models && is_reasoning(model) && effort != "none";
  const auto skip = [&notices](std::string_view name, std::string_view reason) {
    notices.push_back({"parameter_skipped", std::string(name) + " was omitted: " + std::string(reason)});
  };
  const auto* limit = request.if_contains("max_output_tokens");
  if (limit && limit->is_number()) out[options.max_tokens_field] = *limit;
  for (std::string_view name : {"temperature", "top_p"}) {
    const auto* n = request.if_contains(name);
    if (!n || !n->is_number()) continue;
    if (reasons)
      skip(name, "reasoning models do not support it.");
    else
      out[name] = *n;
  }
  if (!effort.empty()) {
    if (options.known_models && is_without_reasoning(model))
      skip("reasoning_effort", "the model does not reason.");
    else
      out["reasoning_effort"] = effort;
  }
  if (const auto* stop = llm::array_at(request, "stop"); stop && !stop->empty()) {
    if (reasons)
      skip("stop", "reasoning models do not support it.");
    else
      out["stop"] = *stop;
  }
}

}  // namespace

request_options options_of(dialect d) {
  request_options o;
  o.tools.names = llm::tool_rules::name_start::letter;
  o.tools.count = 128;
  o.tools.description_chars = 1024;
  o.history.images.gifs = llm::image_limits::gif::still;
  o.history.images.encoded_bytes = 20u << 20;
  o.history.images.total_encoded_bytes = 48u << 20;
  switch (d) {
    case dialect::compatible:
      break;
    case dialect::openai:
      o.history.ids = llm::id_form::openai;
      o.alternate_roles = false;
      o.known_models = true;
      break;
    case dialect::mistral:
      o.history.ids = llm::id_form::mistral;
      o.history.images.encoded_bytes = 10u << 20;
      o.history.images.count = 8;
      o.required_choice = "any";
      break;
    case dialect::gemini:
      o.history.ids = llm::id_form::openai;
      o.history.images.gifs = llm::image_limits::gif::none;
      o.history.images.total_encoded_bytes = 18u << 20;
      o.tools.schemas = llm::schema_dialect::openapi;
      o.alternate_roles = false;
      o.sign_calls = true;
      break;
  }
  return o;
}

std::optional<llm::output_format> take_output_schema(json::object& request, dialect d, llm::schema_passing passing) {
  std::optional<llm::schema_limits> limits;
  const bool has_tools = request.contains("tools");
  const bool is_known = (d == dialect::openai && has_structured_outputs(llm::text_at(request, "model"))) ||
                        ((d == dialect::mistral || d == dialect::gemini) && !has_tools);
  if (passing == llm::schema_passing::native || (passing == llm::schema_passing::automatic && is_known)) {
    limits.emplace();
    limits->recursion = limits->all_required = d == dialect::openai;
    limits->optional_properties = limits->alternatives = SIZE_MAX;
  }
  return llm::take_output_schema(request, limits, d == dialect::openai || passing == llm::schema_passing::native);
}

built_request build_request(const json::object& request, const request_options& options,
                            const std::optional<llm::output_format>& format) {
  built_request built;
  json::object out = options.extra_body;
  const auto model = llm::text_at(request, "model");
  out["model"] = model;
  llm::tool_set tools(request, options.tools, built.notices);
  auto rules = options.history;
  if (rules.ids == llm::id_form::compatible && is_mistral(model)) rules.ids = llm::id_form::mistral;
  const auto turns = llm::read_history(request, rules, tools, built.notices);
  const bool sign_calls = options.sign_calls || has_signed_calls(turns, model);
  out["messages"] = message_list(model, options, sign_calls).of(llm::text_at(request, "system"), turns);
  out["stream"] = true;
  if (options.stream_usage) out["stream_options"] = {{"include_usage", true}};
  if (auto list = function_list(tools); !list.empty()) out["tools"] = std::move(list);
  if (const auto choice = llm::read_tool_choice(request, tools, built.notices); choice.mode == "tool")
    out["tool_choice"] = {{"type", "function"}, {"function", {{"name", choice.name}}}};
  else if (!choice.mode.empty())
    out["tool_choice"] = choice.mode == "required" ? options.required_choice : choice.mode;
  set_parameters(out, request, options, built.notices);
  if (format)
    out["response_format"] = {
        {"type", "json_schema"},
        {"json_schema", {{"name", "output"}, {"schema", format->schema}, {"strict", format->is_strict}}}};
  built.names = tools.names();
  built.body = json::serialize(out);
  return built;
}

}  // namespace openai
