#include "responses_request.hpp"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include "placeholder_texts.hpp"
#include "request.hpp"

namespace openai {

namespace json = boost::json;
using llm::array_at;
using llm::text_at;

namespace {

constexpr std::string_view encrypted_content = "reasoning.encrypted_content";

json::object text_part(std::string_view text) {
  return {{"type", "input_text"}, {"text", text}};
}

json::object input_image(const llm::shown_image& image) {
  std::string url = "data:";
  url.append(image.media_type).append(";base64,").append(image.data);
  return {{"type", "input_image"}, {"image_url", std::move(url)}, {"detail", "auto"}};
}

// The part of an assistant turn's text that the model sent as one message.
struct message_piece {
  std::size_t at = 0, size = 0;
};

std::optional<std::size_t> size_at(const json::object& o, std::string_view key) {
  const auto* v = o.if_contains(key);
  if (!v || !v->is_number()) return std::nullopt;
  boost::system::error_code ec;
  const auto n = v->to_number<std::size_t>(ec);
  if (ec) return std::nullopt;
  return n;
}

bool is_character_boundary(std::string_view text, std::size_t at) {
  return at == text.size() || (static_cast<unsigned char>(text[at]) & 0xc0) != 0x80;
}

// Returns the location of the message `item` in `text`, after `from`; nullopt if the text is not the stored one.
std::optional<message_piece> piece_of(const json::object& item, std::string_view text, std::size_t from) {
  const auto at = size_at(item, "at"), size = size_at(item, "size");
  if (!at || !size || *at < from || *at > text.size() || *size > text.size() - *at) return std::nullopt;
  if (!is_character_boundary(text, *at) || !is_character_boundary(text, *at + *size)) return std::nullopt;
  if (!llm::is_blank(text.substr(from, *at - from))) return std::nullopt;
  return message_piece{*at, *size};
}

class input_list {
 public:
  input_list(std::string_view model, const responses_options& options, const reasoning_refusals& refusals)
      : model_(model), options_(options), refusals_(refusals) {}

  json::array of(const std::vector<llm::turn>& turns) {
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

  // Identifies the reasoning items that were added.
  std::vector<reasoning_refusals::mark> marks() const { return marks_; }

 private:
  enum class last { nothing, user, assistant, results };

  void message(std::string_view role, std::string_view text) {
    out_.push_back({{"type", "message"}, {"role", role}, {"content", text}});
  }

  void user(const llm::turn& t) {
    json::array parts = std::exchange(pending_images_, {});
    const bool of_results = !parts.empty();
    if (options_.alternate_roles && last_kind_ == last::user) message("assistant", no_answer);
    if (options_.alternate_roles && last_kind_ == last::results)
      message("assistant", of_results ? images_follow : no_answer);
    last_kind_ = last::user;
    if (!of_results && t.images.empty()) return message("user", t.text);
    if (of_results) parts.insert(parts.begin(), text_part(images_of_results));
    if (!t.text.empty()) parts.push_back(text_part(t.text));
    for (const auto& image : t.images) parts.push_back(input_image(image));
    out_.push_back({{"type", "message"}, {"role", "user"}, {"content", std::move(parts)}});
  }

  // Images that results may not contain follow after all results of a turn.
  void add_pending_images() {
    if (!pending_images_.empty()) user({});
  }

  void assistant(const llm::turn& t) {
    call_added_.assign(t.calls.size(), false);
    const json::array items = stored_items(t);
    const std::string_view text = t.text;
    const bool text_is_divided = matches_text(items, text);
    bool text_added = text.empty();
    const auto add_complete_text = [&] {
      if (!std::exchange(text_added, true)) add_message(text, {});
    };
    // If the text does not match the stored messages, it is sent in place of the first one.
    const bool has_message = std::any_of(
        items.begin(), items.end(), [](const json::value& i) { return text_at(i.get_object(), "type") == "message"; });
    for (const auto& i : items) {
      const auto& item = i.get_object();
      const auto type = text_at(item, "type");
      if (type == "reasoning") {
        pending_reasoning_.push_back(item);
      } else if (type == "message" && text_is_divided) {
        const auto at = *size_at(item, "at");
        add_message(text.substr(at, *size_at(item, "size")), text_at(item, "phase"));
        text_added = true;
      } else if (type == "message") {
        add_complete_text();
      } else if (type == "function_call") {
        if (!has_message) add_complete_text();
        call(t, text_at(item, "call_id"));
      }
    }
    add_complete_text();
    for (std::size_t n = 0; n < t.calls.size(); ++n) call(t.calls[n], n);
    pending_reasoning_.clear();  // the API rejects trailing reasoning
    for (const auto& c : t.calls) result(c);
    last_kind_ = t.calls.empty() ? last::assistant : last::results;
  }

  // Returns the stored items of the answer, in order, if this model of this provider produced them.
  json::array stored_items(const llm::turn& t) const {
    json::array out;
    for (const auto* block : t.reasoning) {
      if (text_at(*block, "driver") != "openai" || text_at(*block, "wire") != "responses" ||
          text_at(*block, "model") != model_ || text_at(*block, "provider") != options_.provider)
        continue;
      if (const auto* items = array_at(*block, "items"))
        for (const auto& i : *items)
          if (const auto* item = i.if_object(); item && is_sent_back(*item)) out.push_back(*item);
    }
    return out;
  }

  bool is_sent_back(const json::object& item) const {
    if (text_at(item, "type") != "reasoning") return true;
    const bool encrypted = !text_at(item, "encrypted_content").empty();
    if (encrypted ? !options_.encrypted_reasoning || refusals_.refuses_encryption(model_) : !options_.reasoning_text)
      return false;
    return !refusals_.refuses(reasoning_refusals::mark_of(item));
  }

  static bool matches_text(const json::array& items, std::string_view text) {
    std::size_t end = 0;
    bool any = false;
    for (const auto& i : items) {
      const auto& item = i.get_object();
      if (text_at(item, "type") != "message") continue;
      const auto piece = piece_of(item, text, end);
      if (!piece) return false;
      end = piece->at + piece->size;
      any = true;
    }
    return any && llm::is_blank(text.substr(end));
  }

  void add_pending_reasoning() {
    for (auto& item : pending_reasoning_) {
      marks_.push_back(reasoning_refusals::mark_of(item));
      out_.push_back(std::move(item));
    }
    pending_reasoning_.clear();
  }

  void add_message(std::string_view text, std::string_view phase) {
    if (llm::is_blank(text)) return;
    add_pending_reasoning();
    message("assistant", text);
    if (!phase.empty()) out_.back().get_object()["phase"] = phase;
  }

  void call(const llm::turn& t, std::string_view stored_id) {
    for (std::size_t n = 0; n < t.calls.size(); ++n)
      if (!call_added_[n] && t.calls[n].stored_id == stored_id) return call(t.calls[n], n);
  }

  void call(const llm::past_call& c, std::size_t n) {
    if (call_added_[n]) return;
    call_added_[n] = true;
    add_pending_reasoning();
    out_.push_back(
        {{"type", "function_call"}, {"call_id", c.id}, {"name", c.name}, {"arguments", json::serialize(c.arguments)}});
  }

  void result(const llm::past_call& c) {
    std::string text = c.result.text;
    // The API cannot mark a failed call.
    if (c.result.failed && !text.starts_with("Error")) text.insert(0, text.empty() ? "Error" : "Error: ");
    json::object item{{"type", "function_call_output"}, {"call_id", c.id}};
    if (options_.images_in_results && !c.result.images.empty()) {
      json::array parts;
      if (!text.empty()) parts.push_back(text_part(text));
      for (const auto& image : c.result.images) parts.push_back(input_image(image));
      item["output"] = std::move(parts);
    } else {
      for (const auto& image : c.result.images) pending_images_.push_back(input_image(image));
      item["output"] = text.empty() ? std::string("(image)") : std::move(text);
    }
    out_.push_back(std::move(item));
  }

  const std::string_view model_;
  const responses_options& options_;
  const reasoning_refusals& refusals_;
  json::array out_, pending_images_;
  std::vector<json::object> pending_reasoning_;  // reasoning that waits for the item after it
  std::vector<bool> call_added_;  // by call of the turn
  std::vector<reasoning_refusals::mark> marks_;
  last last_kind_ = last::nothing;
};

json::array function_tools(const llm::tool_set& tools) {
  json::array list;
  for (const auto& t : tools.offered()) {
    json::object o{{"type", "function"}, {"name", t.name}};
    if (!t.description.empty()) o["description"] = t.description;
    o["parameters"] = t.parameters;
    o["strict"] = false;  // the API's default would reject optional parameters
    list.push_back(std::move(o));
  }
  return list;
}

void set_tool_choice(json::object& out, const llm::tool_choice& choice) {
  if (choice.mode == "tool")
    out["tool_choice"] = {{"type", "function"}, {"name", choice.name}};
  else if (!choice.mode.empty())
    out["tool_choice"] = choice.mode;
}

void set_parameters(json::object& out, const json::object& request, const responses_options& options,
                    std::vector<llm::notice>& notices) {
  const auto number = [&request](std::string_view key) {
    const auto* n = request.if_contains(key);
    return n && n->is_number() ? n : nullptr;
  };
  const auto model = text_at(request, "model");
  const auto effort = text_at(request, "reasoning_effort");
  const bool reasons = options.known_models && is_reasoning(model) && effort != "none";
  for (std::string_view key : {"temperature", "top_p"}) {
    const auto* n = number(key);
    if (n == nullptr) continue;
    if (reasons)
      notices.push_back({"parameter_skipped", std::string(key) + " was omitted: reasoning models do not support it."});
    else
      out[key] = *n;
  }
  if (const auto* n = number("max_output_tokens")) {
    const bool too_few = n->to_number<double>() < static_cast<double>(options.min_output_tokens);
    out["max_output_tokens"] = too_few ? json::value(options.min_output_tokens) : *n;
  }
  if (!effort.empty() && options.known_models && is_without_reasoning(model)) {
    notices.push_back({"parameter_skipped", "reasoning_effort was omitted: the model does not reason."});
  } else if (!effort.empty()) {
    auto* reasoning = out.if_contains("reasoning");
    if (reasoning == nullptr || !reasoning->is_object()) out["reasoning"] = json::object();
    out["reasoning"].get_object()["effort"] = effort;
  }
  if (const auto* stop = array_at(request, "stop"); stop && !stop->empty())
    notices.push_back({"parameter_skipped", "stop was omitted: the Responses API has no stop sequences."});
}

// Keeps the configured list and adds the encrypted content of reasoning items.
void include_encrypted_reasoning(json::object& out) {
  auto* list = out.if_contains("include");
  if (list == nullptr || !list->is_array()) out["include"] = json::array();
  auto& include = out["include"].get_array();
  const json::value requested(encrypted_content);
  if (std::find(include.begin(), include.end(), requested) == include.end()) include.push_back(requested);
}

}  // namespace

responses_options responses_options_of(dialect d) {
  const request_options chat = options_of(d);
  responses_options o;
  o.history = chat.history;
  o.tools = chat.tools;
  o.alternate_roles = chat.alternate_roles;
  if (d == dialect::openai) {
    o.reasoning_text = false;
    o.images_in_results = true;
    o.min_output_tokens = 16;
    o.known_models = true;
  }
  return o;
}

built_responses_request build_responses_request(const json::object& request, const responses_options& options,
                                                const reasoning_refusals& refusals,
                                                const std::optional<llm::output_format>& format) {
  built_responses_request built;
  json::object out = options.extra_body;
  const auto model = text_at(request, "model");
  out["model"] = options.deployment.empty() ? model : std::string_view(options.deployment);
  llm::tool_set tools(request, options.tools, built.notices);
  auto rules = options.history;
  if (rules.ids == llm::id_form::compatible && is_mistral(model)) rules.ids = llm::id_form::mistral;
  const auto turns = llm::read_history(request, rules, tools, built.notices);
  if (const auto system = text_at(request, "system"); !llm::is_blank(system)) out["instructions"] = system;
  input_list input(model, options, refusals);
  out["input"] = input.of(turns);
  built.reasoning = input.marks();
  out["stream"] = true;
  if (!out.contains("store")) out["store"] = false;
  if (options.encrypted_reasoning && !is_without_reasoning(model) && !refusals.refuses_encryption(model))
    include_encrypted_reasoning(out);
  if (auto list = function_tools(tools); !list.empty()) out["tools"] = std::move(list);
  set_tool_choice(out, llm::read_tool_choice(request, tools, built.notices));
  set_parameters(out, request, options, built.notices);
  if (format) {
    auto* text = out.if_contains("text");
    if (text == nullptr || !text->is_object()) out["text"] = json::object();
    out["text"].get_object()["format"] = {
        {"type", "json_schema"}, {"name", "output"}, {"schema", format->schema}, {"strict", format->is_strict}};
  }
  built.names = tools.names();
  built.body = json::serialize(out);
  return built;
}

}  // namespace openai
