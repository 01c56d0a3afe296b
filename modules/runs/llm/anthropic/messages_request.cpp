#include "messages_request.hpp"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <cstddef>
#include <set>
#include <utility>

namespace anthropic {

namespace json = boost::json;

namespace {

enum class thinking_mode { on, off };

constexpr std::int64_t min_budget = 1024;

bool thinking_enabled(const json::object& body) {
  const auto* t = llm::object_at(body, "thinking");
  return t && llm::text_at(*t, "type") != "disabled";
}

void add_content(json::array& blocks, std::string_view text, const std::vector<llm::shown_image>& images) {
  if (!text.empty()) blocks.push_back({{"type", "text"}, {"text", text}});
  for (const auto& image : images)
    blocks.push_back(
        {{"type", "image"}, {"source", {{"type", "base64"}, {"media_type", image.media_type}, {"data", image.data}}}});
}

json::array assistant_blocks(const llm::turn& t, std::string_view model, thinking_mode mode) {
  json::array blocks;
  if (mode == thinking_mode::on)
    for (const auto* stored : t.reasoning) {  // blocks of this model, unchanged
      if (llm::text_at(*stored, "driver") != "anthropic" || llm::text_at(*stored, "model") != model) continue;
      json::object block = *stored;
      block.erase("driver");
      block.erase("model");
      blocks.push_back(std::move(block));
    }
  add_content(blocks, t.text, {});
  for (const auto& c : t.calls)
    blocks.push_back({{"type", "tool_use"}, {"id", c.id}, {"name", c.name}, {"input", c.arguments}});
  return blocks;
}

json::object result_block(const llm::past_call& c) {
  json::object out{{"type", "tool_result"}, {"tool_use_id", c.id}};
  if (c.result.images.empty()) {
    out["content"] = c.result.text;
    if (c.result.failed) out["is_error"] = true;
    return out;
  }
  // A result with is_error may contain only text.
  json::array content;
  std::string text = c.result.text;
  if (c.result.failed && !text.starts_with("Error")) text.insert(0, text.empty() ? "Error" : "Error: ");
  add_content(content, text, c.result.images);
  out["content"] = std::move(content);
  return out;
}

// Roles must alternate: a message is merged into the previous one if it has the same role. Tool results are blocks of
// user messages.
json::array messages_of(const std::vector<llm::turn>& turns, std::string_view model, thinking_mode mode) {
  json::array out;
  const auto add = [&out](std::string_view role, json::array blocks) {
    if (blocks.empty()) return;
    if (!out.empty() && llm::text_at(out.back().get_object(), "role") == role) {
      auto& content = out.back().get_object()["content"].get_array();
      for (auto& b : blocks) content.push_back(std::move(b));
      return;
    }
    out.push_back({{"role", role}, {"content", std::move(blocks)}});
  };
  for (const auto& t : turns) {
    if (t.role == llm::turn::speaker::assistant) {
      add("assistant", assistant_blocks(t, model, mode));
      json::array results;
      for (const auto& c : t.calls) results.push_back(result_block(c));
      add("user", std::move(results));
    } else {
      json::array blocks;
      add_content(blocks, t.text, t.images);
      add("user", std::move(blocks));
    }
  }
  return out;
}

// Whether the assistant's last message calls tools and does not begin with a thinking block.
bool continues_without_thinking(const json::array& messages) {
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

// The API requires definitions of the tools of earlier calls, even if no tool may be called any more.
json::array tools_of(const llm::tool_set& tools, const std::vector<llm::turn>& turns) {
  json::array list;
  for (const auto& t : tools.offered()) {
    json::object o{{"name", t.name}};
    if (!t.description.empty()) o["description"] = t.description;
    o["input_schema"] = t.parameters;
    list.push_back(std::move(o));
  }
  if (!list.empty()) return list;
  std::set<std::string_view> names;
  for (const auto& t : turns)
    for (const auto& c : t.calls)
      if (names.insert(c.name).second)
        list.push_back({{"name", c.name}, {"input_schema", {{"type", "object"}, {"properties", json::object()}}}});
  return list;
}

std::int64_t budget_of(std::string_view effort) {
  if (effort == "low") return 4096;
  if (effort == "medium") return 8192;
  return effort == "high" ? 16384 : min_budget;
}

json::object& output_config_of(json::object& out) {
  auto* config = out.if_contains("output_config");
  if (config == nullptr || !config->is_object()) out["output_config"] = json::object();
  return out["output_config"].get_object();
}

void set_effort(json::object& out, const json::object& request, const request_options& options,
                std::vector<llm::notice>& notices) {
  const auto effort = llm::text_at(request, "reasoning_effort");
  if (effort.empty()) return;
  out.erase("thinking");
  if (effort == "none") return;
  switch (control_of(llm::text_at(request, "model"), options.sampling)) {
    case thinking_control::none:
      notices.push_back({"parameter_skipped", "reasoning_effort was omitted: the model does not think."});
      return;
    case thinking_control::adaptive: {
      out["thinking"] = {{"type", "adaptive"}};
      output_config_of(out)["effort"] = effort == "minimal" ? std::string_view("low") : effort;
      return;
    }
    case thinking_control::budget: {
      // The answer's limit includes the thinking tokens.
      std::int64_t budget = budget_of(effort);
      const std::int64_t limit = out["max_tokens"].is_number() ? out["max_tokens"].to_number<std::int64_t>() : 0;
      if (!request.contains("max_output_tokens"))
        out["max_tokens"] = limit + budget;
      else
        budget = std::min(budget, limit / 2);
      if (budget < min_budget) {
        notices.push_back(
            {"parameter_skipped", "reasoning_effort was omitted: max_output_tokens leaves no room to think."});
        return;
      }
      out["thinking"] = {{"type", "enabled"}, {"budget_tokens", budget}};
      return;
    }
  }
}

void set_sampling(json::object& out, const json::object& request, const request_options& options,
                  std::vector<llm::notice>& notices) {
  const auto number = [&request](std::string_view key) {
    const auto* v = request.if_contains(key);
    return v && v->is_number() ? v : nullptr;
  };
  const auto skip = [&notices](std::string_view name, std::string_view reason) {
    notices.push_back({"parameter_skipped", std::string(name) + " was omitted: " + std::string(reason)});
  };
  const auto* temperature = number("temperature");
  const auto* top_p = number("top_p");
  for (const auto& [name, value] : {std::pair("temperature", temperature), std::pair("top_p", top_p)}) {
    if (value == nullptr) continue;
    const double n = value->to_number<double>();
    if (options.sampling == sampling_parameters::omit) {
      skip(name, "this version of the API does not support it.");
    } else if (name == std::string_view("top_p") && temperature != nullptr) {
      skip(name, "models accept either temperature or top_p, not both.");
    } else if (thinking_enabled(out) && (name == std::string_view("top_p") ? n < 0.95 : n != 1)) {
      skip(name, "thinking models do not support it.");
    } else if (n > 1) {
      out[name] = 1;
    } else {
      out[name] = *value;
    }
  }
}

void set_tool_choice(json::object& out, const llm::tool_choice& choice, std::vector<llm::notice>& notices) {
  const bool forced = choice.mode == "required" || choice.mode == "tool";
  if (choice.mode == "auto" || choice.mode == "none") out["tool_choice"] = {{"type", choice.mode}};
  if (choice.mode == "required") out["tool_choice"] = {{"type", "any"}};
  if (choice.mode == "tool") out["tool_choice"] = {{"type", "tool"}, {"name", choice.name}};
  if (!forced || !thinking_enabled(out)) return;
  out.erase("thinking");
  notices.push_back(
      {"parameter_skipped", "Thinking was switched off: the API does not combine it with this tool_choice."});
}

// At most four cache breakpoints: the tools, the system prompt, the end of the messages, and the end of the previous
// request.
void set_cache_breakpoints(json::object& out) {
  const json::object mark{{"type", "ephemeral"}};
  if (auto* tools = out.if_contains("tools"); tools && tools->is_array() && !tools->get_array().empty())
    tools->get_array().back().get_object()["cache_control"] = mark;
  if (auto* system = out.if_contains("system"))
    *system = json::array{json::object{{"type", "text"}, {"text", *system}, {"cache_control", mark}}};
  auto& messages = out["messages"].get_array();
  std::size_t marks = 0;
  for (std::size_t i = messages.size(); i-- > 0 && marks < 2;) {
    auto& message = messages[i].get_object();
    if (llm::text_at(message, "role") != "user") continue;
    message["content"].get_array().back().get_object()["cache_control"] = mark;
    ++marks;
  }
}

}  // namespace

llm::history_rules history_rules() {
  llm::history_rules r;
  r.ids = llm::id_form::anthropic;
  r.images.side = 8000;
  r.images.many = 20;
  r.images.side_of_many = 2000;
  r.images.encoded_bytes = 5u << 20;
  r.images.count = 100;
  r.images.total_encoded_bytes = 28u << 20;  // the API's limit for a request is 32 MB
  return r;
}

namespace {

struct model_version {
  int major = -1, minor = 0;  // major -1: unknown
};
// "claude-opus-4-6-20260101", "claude-3-7-sonnet-latest", "anthropic/claude-sonnet-4.5"
model_version version_of(std::string_view model) {
  const auto at = model.find("claude-");
  if (at == std::string_view::npos) return {};
  int numbers[2] = {-1, -1};
  std::size_t found = 0;
  for (std::size_t i = at; i < model.size() && found < 2;) {
    if (model[i] < '0' || model[i] > '9') {
      ++i;
      continue;
    }
    std::size_t end = i;
    while (end < model.size() && model[end] >= '0' && model[end] <= '9') ++end;
    if (end - i > 2) break;  // a date
    numbers[found++] = std::stoi(std::string(model.substr(i, end - i)));
    i = end;
  }
  return {numbers[0], std::max(numbers[1], 0)};
}

}  // namespace

thinking_control control_of(std::string_view model, sampling_parameters sampling) {
  const auto [major, minor] = version_of(model);
  if (major < 0) return sampling == sampling_parameters::send ? thinking_control::budget : thinking_control::adaptive;
  if (major > 4 || (major == 4 && minor >= 6)) return thinking_control::adaptive;
  if (major == 4 || (major == 3 && minor >= 7)) return thinking_control::budget;
  return thinking_control::none;
}

std::optional<llm::output_format> take_output_schema(json::object& request, llm::schema_passing passing) {
  const auto [major, minor] = version_of(llm::text_at(request, "model"));
  const bool is_known = major > 4 || (major == 4 && minor >= 5);
  std::optional<llm::schema_limits> limits;
  if (passing == llm::schema_passing::native || (passing == llm::schema_passing::automatic && is_known))
    limits.emplace();
  return llm::take_output_schema(request, limits, false);
}

built_request build_request(const json::object& request, const request_options& options,
                            const std::optional<llm::output_format>& format) {
  built_request built;
  json::object out = options.extra_body;
  const auto model = llm::text_at(request, "model");
  out["model"] = model;
  out["stream"] = true;
  out["max_tokens"] = options.max_tokens;
  if (const auto* n = request.if_contains("max_output_tokens"); n && n->is_number()) out["max_tokens"] = *n;
  if (const auto system = llm::text_at(request, "system"); !llm::is_blank(system)) out["system"] = system;
  llm::tool_set tools(request, {}, built.notices);
  const auto turns = llm::read_history(request, history_rules(), tools, built.notices);
  set_effort(out, request, options, built.notices);
  if (format) output_config_of(out)["format"] = {{"type", "json_schema"}, {"schema", format->schema}};
  set_tool_choice(out, llm::read_tool_choice(request, tools, built.notices), built.notices);
  out["messages"] = messages_of(turns, model, thinking_enabled(out) ? thinking_mode::on : thinking_mode::off);
  if (thinking_enabled(out) && continues_without_thinking(out["messages"].get_array())) out.erase("thinking");
  set_sampling(out, request, options, built.notices);
  if (auto list = tools_of(tools, turns); !list.empty()) {
    if (tools.offered().empty()) out["tool_choice"] = {{"type", "none"}};
    out["tools"] = std::move(list);
  }
  json::array stops;  // the API rejects blank ones
  if (const auto* stop = llm::array_at(request, "stop"))
    for (const auto& s : *stop)
      if (s.is_string() && !llm::is_blank(s.get_string())) stops.push_back(s);
  if (!stops.empty()) out["stop_sequences"] = std::move(stops);
  if (options.prompt_cache && !out.contains("cache_control")) set_cache_breakpoints(out);
  built.names = tools.names();
  built.body = json::serialize(out);
  return built;
}

}  // namespace anthropic
