#include "response_request.hpp"

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <utility>

#include "body.hpp"
#include "errors.hpp"
#include "ids.hpp"
#include "json/members.hpp"

namespace openai_api {

api_error unknown_approval(const approval_answer& a) {
  return api_error(404, "invalid_request_error", "", a.path + ".approval_request_id",
                   "Approval request with id '" + a.request + "' not found.");
}

namespace {

constexpr std::size_t max_items = 2000, max_reason = 2000;

struct content {
  std::string text;
  std::vector<attachment> files;
};

void append_line(std::string& to, std::string_view text) {
  if (!to.empty() && !text.empty()) to += '\n';
  to += text;
}

attachment read_image(const json::object& part, const std::string& path) {
  if (member(part, "file_id") != nullptr)
    throw invalid(path + ".file_id", path + ".file_id is not supported; send the image as a data URL in image_url",
                  "unsupported_value");
  return read_data_url(required_text(part, "image_url", path + ".image_url"), path + ".image_url");
}

attachment read_file(const json::object& part, const std::string& path) {
  for (const char* name : {"file_id", "file_url"})
    if (member(part, name) != nullptr)
      throw invalid(path + "." + name, path + "." + name + " is not supported; send the file in file_data",
                    "unsupported_value");
  const std::string name = text_member(part, "filename", path + ".filename", 1000).value_or("");
  return read_file_data(required_text(part, "file_data", path + ".file_data"), name, path + ".file_data");
}

void read_part(const json::value& v, const std::string& path, content& to) {
  if (!v.is_object()) throw invalid(path, path + " must be an object", "invalid_type");
  const json::object& part = v.get_object();
  const std::string type = required_text(part, "type", path + ".type");
  if (type == "input_text" || type == "output_text" || type == "text")
    append_line(to.text, text_member(part, "text", path + ".text").value_or(""));
  else if (type == "refusal")
    append_line(to.text, text_member(part, "refusal", path + ".refusal").value_or(""));
  else if (type == "input_image")
    to.files.push_back(read_image(part, path));
  else if (type == "input_file")
    to.files.push_back(read_file(part, path));
  else
    throw invalid(path + ".type", path + ".type must be input_text, input_image, input_file, output_text or refusal",
                  "unsupported_value");
}

// A string, or an array of parts.
content read_content(const json::object& o, std::string_view name, const std::string& path) {
  content out;
  const json::value* v = member(o, name);
  if (v == nullptr) throw invalid(path, path + " is required", "missing_required_parameter");
  if (const json::string* text = v->if_string()) {
    out.text = std::string(*text);
    return out;
  }
  const json::array* parts = v->if_array();
  if (parts == nullptr) throw invalid(path, path + " must be a string or an array", "invalid_type");
  for (std::size_t i = 0; i < parts->size(); ++i) read_part((*parts)[i], at(path, i), out);
  return out;
}

void read_message(const json::object& item, const std::string& path, conversation& to) {
  const std::string role = required_text(item, "role", path + ".role");
  content c = read_content(item, "content", path + ".content");
  if (role == "user") return to.add_user(std::move(c.text), std::move(c.files));
  if (!c.files.empty())
    throw invalid(path + ".content", path + ".content must be text, because the role is not user", "unsupported_value");
  if (role == "assistant") return to.add_assistant(c.text);
  if (role == "system" || role == "developer") return to.add_system(c.text);
  throw invalid(path + ".role", path + ".role must be user, assistant, system or developer");
}

void read_mcp_call(const json::object& item, const std::string& path, conversation& to) {
  const std::string id = required_text(item, "id", path + ".id", 256);
  to.add_call(id, required_text(item, "name", path + ".name", 256),
              text_member(item, "arguments", path + ".arguments").value_or(""), path);
  const json::value* error = member(item, "error");
  std::string output = text_member(item, "output", path + ".output").value_or("");
  if (error != nullptr) output = error->is_string() ? std::string(error->get_string()) : json::serialize(*error);
  to.add_output(id, std::move(output));
}

void read_item(const json::object& item, const std::string& path, const item_map& items, conversation& to) {
  const std::string type = text_member(item, "type", path + ".type").value_or("message");
  if (type == "message") return read_message(item, path, to);
  if (type == "function_call")
    return to.add_call(required_text(item, "call_id", path + ".call_id", 256),
                       required_text(item, "name", path + ".name", 256),
                       text_member(item, "arguments", path + ".arguments").value_or(""), path);
  if (type == "function_call_output") {
    content c = read_content(item, "output", path + ".output");
    return to.add_output(required_text(item, "call_id", path + ".call_id", 256), std::move(c.text), std::move(c.files));
  }
  if (type == "mcp_call") return read_mcp_call(item, path, to);
  // Models get no reasoning of earlier responses, lists of tools are only relevant to the server that sent them, and the
  // run knows its approvals.
  if (type == "reasoning" || type == "mcp_list_tools" || type == "mcp_approval_request") return;
  if (type != "item_reference")
    throw invalid(path + ".type", path + ".type is not supported: " + type, "unsupported_value");
  const std::string id = required_text(item, "id", path + ".id", 256);
  const auto found = items.find(id);
  if (found == items.end())
    throw api_error(404, "invalid_request_error", "", path + ".id", "Item with id '" + id + "' not found.");
  read_item(found->second, path, {}, to);
}

approval_answer read_answer(const json::object& item, const std::string& path) {
  approval_answer out;
  out.path = path;
  out.request = required_text(item, "approval_request_id", path + ".approval_request_id", 256);
  const std::optional<ry::uuid> run = run_of_item(out.request), approval = approval_of_request(out.request);
  if (!run || !approval) throw unknown_approval(out);
  out.run = *run;
  out.approval = *approval;
  const std::optional<bool> approve = flag_member(item, "approve", path + ".approve");
  if (!approve) throw invalid(path + ".approve", path + ".approve is required", "missing_required_parameter");
  out.approve = *approve;
  out.reason = text_member(item, "reason", path + ".reason", max_reason).value_or("");
  return out;
}

// Clients that keep the conversation themselves send all earlier items; answers that other input follows are history.
void sort_answers(const std::string& follows, response_request& to) {
  if (to.answers.empty()) return;
  const bool has_context = to.previous || to.thread;
  if (has_context && (!follows.empty() || !to.input.empty() || !to.input.system().empty()))
    throw invalid(follows.empty() ? "input" : follows,
                  "Answers to approval requests cannot be combined with other input", "unsupported_value");
  if (!follows.empty()) return to.answers.clear();
  if (!to.store) throw invalid("store", "store must not be false in a response that continues a run");
  for (const approval_answer& a : to.answers) {
    if (a.run != to.answers.front().run)
      throw invalid(a.path + ".approval_request_id", "All approval requests must belong to the same response");
    for (const approval_answer& other : to.answers)
      if (a.approval == other.approval && a.approve != other.approve)
        throw invalid(a.path + ".approve", "The approval request '" + a.request + "' has two different answers");
  }
}

void read_input(const json::object& body, const item_map& items, response_request& to, std::string& follows) {
  const json::value* input = member(body, "input");
  if (input == nullptr) return;
  if (const json::string* text = input->if_string()) return to.input.add_user(std::string(*text));
  const json::array* list = input->if_array();
  if (list == nullptr) throw invalid("input", "input must be a string or an array of items", "invalid_type");
  if (list->size() > max_items) throw invalid("input", "input must have at most 2000 items");
  for (std::size_t i = 0; i < list->size(); ++i) {
    const std::string path = at("input", i);
    if (!(*list)[i].is_object()) throw invalid(path, path + " must be an object", "invalid_type");
    const json::object& item = (*list)[i].get_object();
    const std::string_view type = module_json::text_at(item, "type");
    if (type == "mcp_approval_response") {
      to.answers.push_back(read_answer(item, path));
      follows.clear();
      continue;
    }
    read_item(item, path, items, to.input);
    const bool is_note = type == "reasoning" || type == "mcp_list_tools" || type == "mcp_approval_request";
    if (!to.answers.empty() && follows.empty() && !is_note) follows = path;
  }
}

void read_context(const json::object& body, response_request& to) {
  if (const auto id = text_member(body, "previous_response_id", "previous_response_id")) {
    to.previous = run_of_response(*id);
    if (!to.previous)
      throw invalid("previous_response_id", "Previous response with id '" + *id + "' not found.",
                    "previous_response_not_found");
  }
  const json::value* conversation = member(body, "conversation");
  if (conversation == nullptr) return;
  if (to.previous)
    throw invalid("previous_response_id", "previous_response_id and conversation cannot be used together");
  const std::string id = conversation->is_object() ? required_text(conversation->get_object(), "id", "conversation.id")
                                                   : text_member(body, "conversation", "conversation").value_or("");
  to.thread = thread_of_conversation(id);
  if (!to.thread)
    throw api_error(404, "invalid_request_error", "", "conversation", "Conversation with id '" + id + "' not found.");
  if (!to.store) throw invalid("store", "store must not be false with conversation");
  if (to.input.has_answers())
    throw invalid("input", "input must not contain items of the assistant with conversation", "unsupported_value");
}

void refuse_unsupported(const json::object& body) {
  if (member(body, "prompt") != nullptr)
    throw invalid("prompt", "Prompt templates are not supported", "unsupported_parameter");
  if (const auto n = integer_member(body, "top_logprobs", "top_logprobs", 0, 20); n && *n > 0)
    throw invalid("top_logprobs", "Log probabilities are not supported", "unsupported_parameter");
}

// Models have no tools of the server, so every limit is kept. Runs of agents cannot be limited.
void check_tool_limit(const json::object& body, const model_reference& model) {
  const bool given = integer_member(body, "max_tool_calls", "max_tool_calls", 1, INT32_MAX).has_value();
  if (given && model.is_agent)
    throw invalid("max_tool_calls", "max_tool_calls is not supported with agents", "unsupported_parameter");
}

void check_truncation(const json::object& body) {
  const std::string given = text_member(body, "truncation", "truncation").value_or("auto");
  if (given != "auto" && given != "disabled") throw invalid("truncation", "truncation must be auto or disabled");
}

// The tools of the request as the response repeats them.
json::array tools_of(const json::object& body) {
  json::array out;
  const json::array* tools = module_json::array_at(body, "tools");
  if (tools == nullptr) return out;
  for (const json::value& v : *tools) {
    const json::object& tool = v.get_object();
    const auto copy = [&tool](std::string_view name) {
      const json::value* given = member(tool, name);
      return given != nullptr ? *given : json::value(nullptr);
    };
    json::object o;
    o["type"] = "function";
    o["name"] = copy("name");
    o["description"] = copy("description");
    o["parameters"] = copy("parameters");
    o["strict"] = module_json::flag_at(tool, "strict");
    out.push_back(std::move(o));
  }
  return out;
}

json::object text_of(const json::object& body) {
  const json::object* text = module_json::object_at(body, "text");
  json::object out = text != nullptr ? *text : json::object();
  if (member(out, "format") == nullptr) out["format"] = json::object{{"type", "text"}};
  return out;
}

json::object reasoning_of(const json::object& body) {
  const json::object* given = module_json::object_at(body, "reasoning");
  json::object out;
  for (const char* name : {"effort", "summary"}) {
    const json::value* v = given != nullptr ? member(*given, name) : nullptr;
    out[name] = v != nullptr && v->is_string() ? *v : json::value(nullptr);
  }
  return out;
}

json::object base_of(const json::object& body, const response_request& r) {
  const auto given_or = [&body](std::string_view name, json::value otherwise) {
    const json::value* v = member(body, name);
    return v != nullptr ? *v : otherwise;
  };
  json::object o;
  o["model"] = r.options.model.name;
  o["background"] = r.background;
  o["instructions"] = given_or("instructions", nullptr);
  o["max_output_tokens"] = given_or("max_output_tokens", nullptr);
  o["max_tool_calls"] = given_or("max_tool_calls", nullptr);
  o["parallel_tool_calls"] = given_or("parallel_tool_calls", true);
  o["previous_response_id"] = given_or("previous_response_id", nullptr);
  o["prompt_cache_key"] = given_or("prompt_cache_key", nullptr);
  o["reasoning"] = reasoning_of(body);
  o["safety_identifier"] = given_or("safety_identifier", nullptr);
  o["service_tier"] = "default";
  o["store"] = r.store;
  o["temperature"] = given_or("temperature", 1.0);
  o["top_p"] = given_or("top_p", 1.0);
  o["presence_penalty"] = 0;
  o["frequency_penalty"] = 0;
  o["top_logprobs"] = 0;
  // The server shortens every conversation that exceeds the context window.
  o["truncation"] = "auto";
  o["text"] = text_of(body);
  o["tool_choice"] = given_or("tool_choice", "auto");
  o["tools"] = tools_of(body);
  o["user"] = given_or("user", nullptr);
  o["metadata"] = read_metadata(body);
  return o;
}

// Members that the response repeats, but that have no effect on the run.
void check_repeated(const json::object& body) {
  for (const char* name : {"prompt_cache_key", "safety_identifier", "user"}) (void)text_member(body, name, name, 1024);
  (void)flag_member(body, "parallel_tool_calls", "parallel_tool_calls");
}

json::array parts_of(const json::object& message) {
  json::array out;
  const auto add_text = [&out](std::string_view text) { out.push_back({{"type", "input_text"}, {"text", text}}); };
  const json::array* parts = module_json::array_at(message, "content");
  if (parts == nullptr) {
    add_text(module_json::text_at(message, "content"));
    return out;
  }
  for (const json::value& v : *parts) {
    if (!v.is_object()) continue;
    if (module_json::text_at(v.get_object(), "type") == "text")
      add_text(module_json::text_at(v.get_object(), "text"));
    else
      out.push_back({{"type", "input_image"}, {"image_url", nullptr}, {"file_id", nullptr}, {"detail", "auto"}});
  }
  return out;
}

std::string text_of_parts(const json::object& message) {
  std::string out;
  for (const json::value& part : parts_of(message)) append_line(out, module_json::text_at(part.get_object(), "text"));
  return out;
}

void add_assistant_items(const json::object& message, const std::string& id, json::array& to) {
  const std::string text = text_of_parts(message);
  if (!text.empty()) {
    json::array parts;
    parts.push_back({{"type", "output_text"}, {"text", text}, {"annotations", json::array()}});
    to.push_back({{"type", "message"},
                  {"id", "msg_" + id},
                  {"status", "completed"},
                  {"role", "assistant"},
                  {"content", std::move(parts)}});
  }
  const json::array* calls = module_json::array_at(message, "tool_calls");
  if (calls == nullptr) return;
  for (std::size_t i = 0; i < calls->size(); ++i) {
    if (!(*calls)[i].is_object()) continue;
    const json::object& call = (*calls)[i].get_object();
    const json::value* arguments = member(call, "arguments");
    to.push_back({{"type", "function_call"},
                  {"id", "fc_" + id + "_" + std::to_string(i)},
                  {"status", "completed"},
                  {"call_id", module_json::text_at(call, "id")},
                  {"name", module_json::text_at(call, "name")},
                  {"arguments", arguments != nullptr ? json::serialize(*arguments) : std::string("{}")}});
  }
}

}  // namespace

std::vector<std::string> referenced_items(const json::object& body) {
  std::vector<std::string> out;
  const json::array* input = module_json::array_at(body, "input");
  if (input == nullptr) return out;
  for (const json::value& v : *input)
    if (v.is_object() && module_json::text_at(v.get_object(), "type") == "item_reference")
      out.push_back(module_json::text_of(v.get_object(), "id"));
  return out;
}

response_request read_response_request(const json::object& body, const item_map& items) {
  response_request out;
  refuse_unsupported(body);
  check_repeated(body);
  out.options.model = read_model(body);
  check_tool_limit(body, out.options.model);
  check_truncation(body);
  set_metadata(read_metadata(body), out.options);
  out.stream = flag_member(body, "stream", "stream").value_or(false);
  out.background = flag_member(body, "background", "background").value_or(false);
  out.store = flag_member(body, "store", "store").value_or(true);
  if (out.background && !out.store) throw invalid("background", "background requires that store is not false");
  out.instructions = text_member(body, "instructions", "instructions").value_or("");
  read_tools(body, tool_style::responses, out.options);
  read_tool_choice(body, out.options);
  read_temperature(body, out.options);
  read_output_limit(body, {"max_output_tokens"}, out.options);
  if (const json::object* reasoning = object_member(body, "reasoning", "reasoning"))
    read_effort(*reasoning, "effort", "reasoning.effort", out.options);
  if (const json::object* text = object_member(body, "text", "text"))
    if (const json::object* format = object_member(*text, "format", "text.format"))
      read_format(*format, "text.format", out.options);
  std::string follows;  // the first item after the answers to approval requests
  read_input(body, items, out, follows);
  read_context(body, out);
  sort_answers(follows, out);
  out.base = base_of(body, out);
  return out;
}

json::object base_of_run(std::string_view model) {
  response_request none;
  none.options.model.name = std::string(model);
  none.background = true;
  return base_of({}, none);
}

json::array answer_items(const std::vector<json::object>& approvals, const ry::uuid& run,
                         const std::set<std::string>& answered) {
  json::array out;
  for (const json::object& a : approvals) {
    const std::optional<ry::uuid> id = ry::uuid::parse(module_json::text_at(a, "approval_id"));
    if (!id) continue;
    const std::string request = approval_request_id(run, *id);
    if (answered.count(request) == 0) continue;
    json::object item;
    item["type"] = "mcp_approval_response";
    item["id"] = "mcprr_" + hex_of(*id);
    item["approval_request_id"] = request;
    item["approve"] = module_json::text_at(a, "status") == "approved";
    const json::value* reason = member(a, "reason");
    item["reason"] = reason != nullptr ? *reason : json::value(nullptr);
    out.push_back(std::move(item));
  }
  return out;
}

json::array input_items(const std::vector<json::object>& messages, const ry::uuid& run, bool first) {
  constexpr std::string_view no_run = "00000000-0000-0000-0000-000000000000";
  const std::string id = run.to_string();
  json::array out;
  for (const json::object& m : messages) {
    const std::string_view owner = module_json::text_at(m, "agent_run_id");
    const bool earlier = first && (owner == no_run || owner.empty());
    if (owner != id && !earlier) continue;
    const std::string_view role = module_json::text_at(m, "role");
    if (owner == id && role == "assistant") break;
    const std::optional<ry::uuid> message = ry::uuid::parse(module_json::text_at(m, "message_id"));
    const std::string key = message ? hex_of(*message) : std::string();
    if (role == "assistant") add_assistant_items(m, key, out);
    if (role == "user")
      out.push_back({{"type", "message"},
                     {"id", "msg_" + key},
                     {"status", "completed"},
                     {"role", "user"},
                     {"content", parts_of(m)}});
    if (role == "tool")
      out.push_back({{"type", "function_call_output"},
                     {"id", "fco_" + key},
                     {"status", "completed"},
                     {"call_id", module_json::text_at(m, "tool_call_id")},
                     {"output", text_of_parts(m)}});
  }
  return out;
}

}  // namespace openai_api
