#include "chat_request.hpp"

#include "body.hpp"
#include "errors.hpp"
#include "json/members.hpp"

namespace openai_api {
namespace {

constexpr std::size_t max_messages = 1001;

struct chat_content {
  std::string text;
  std::vector<attachment> files;
};

attachment read_chat_file(const json::object& part, const std::string& path) {
  const json::object* file = object_member(part, "file", path + ".file");
  if (file == nullptr) throw invalid(path + ".file", path + ".file is required", "missing_required_parameter");
  if (member(*file, "file_id") != nullptr)
    throw invalid(path + ".file.file_id", path + ".file.file_id is not supported; send the file in file_data",
                  "unsupported_value");
  const std::string name = text_member(*file, "filename", path + ".file.filename", 1000).value_or("");
  return read_file_data(required_text(*file, "file_data", path + ".file.file_data"), name, path + ".file.file_data");
}

attachment read_chat_image(const json::object& part, const std::string& path) {
  const json::object* image = object_member(part, "image_url", path + ".image_url");
  if (image == nullptr)
    throw invalid(path + ".image_url", path + ".image_url is required", "missing_required_parameter");
  return read_data_url(required_text(*image, "url", path + ".image_url.url"), path + ".image_url.url");
}

void read_chat_part(const json::value& v, const std::string& path, chat_content& to) {
  if (!v.is_object()) throw invalid(path, path + " must be an object", "invalid_type");
  const json::object& part = v.get_object();
  const std::string type = required_text(part, "type", path + ".type");
  std::string text;
  if (type == "text")
    text = text_member(part, "text", path + ".text").value_or("");
  else if (type == "refusal")
    text = text_member(part, "refusal", path + ".refusal").value_or("");
  else if (type == "image_url")
    to.files.push_back(read_chat_image(part, path));
  else if (type == "file")
    to.files.push_back(read_chat_file(part, path));
  else
    throw invalid(path + ".type", path + ".type must be text, image_url, file or refusal", "unsupported_value");
  if (!to.text.empty() && !text.empty()) to.text += '\n';
  to.text += text;
}

// A string, an array of parts, or null.
chat_content read_chat_content(const json::object& m, const std::string& path) {
  chat_content out;
  const json::value* v = member(m, "content");
  if (v == nullptr) return out;
  if (const json::string* text = v->if_string()) {
    out.text = std::string(*text);
    return out;
  }
  const json::array* parts = v->if_array();
  if (parts == nullptr) throw invalid(path, path + " must be a string or an array", "invalid_type");
  for (std::size_t i = 0; i < parts->size(); ++i) read_chat_part((*parts)[i], at(path, i), out);
  return out;
}

void read_calls(const json::object& m, const std::string& path, conversation& to) {
  const json::array* calls = array_member(m, "tool_calls", path + ".tool_calls");
  if (calls == nullptr) return;
  for (std::size_t i = 0; i < calls->size(); ++i) {
    const std::string at_call = at(path + ".tool_calls", i);
    if (!(*calls)[i].is_object()) throw invalid(at_call, at_call + " must be an object", "invalid_type");
    const json::object& call = (*calls)[i].get_object();
    const json::object* f = object_member(call, "function", at_call + ".function");
    if (f == nullptr)
      throw invalid(at_call + ".function", at_call + ".function is required", "missing_required_parameter");
    to.add_call(required_text(call, "id", at_call + ".id", 256),
                required_text(*f, "name", at_call + ".function.name", 256),
                text_member(*f, "arguments", at_call + ".function.arguments").value_or(""), at_call + ".function");
  }
}

void read_chat_message(const json::object& m, const std::string& path, conversation& to) {
  const std::string role = required_text(m, "role", path + ".role");
  chat_content c = read_chat_content(m, path + ".content");
  if (role == "user") return to.add_user(std::move(c.text), std::move(c.files));
  if (role == "tool")
    return to.add_output(required_text(m, "tool_call_id", path + ".tool_call_id", 256), std::move(c.text),
                         std::move(c.files));
  if (!c.files.empty())
    throw invalid(path + ".content", path + ".content must be text, because the role is not user", "unsupported_value");
  if (role == "system" || role == "developer") return to.add_system(c.text);
  if (role != "assistant")
    throw invalid(path + ".role", path + ".role must be user, assistant, tool, system or developer");
  to.add_assistant(c.text);
  read_calls(m, path, to);
}

// Members that would change the form of the response.
void refuse_unsupported_chat(const json::object& body) {
  const auto refuse = [](const char* name) {
    throw invalid(name, std::string(name) + " is not supported", "unsupported_parameter");
  };
  if (const auto n = integer_member(body, "n", "n", 1, 128); n && *n > 1)
    throw invalid("n", "n must be 1", "unsupported_value");
  if (flag_member(body, "logprobs", "logprobs").value_or(false)) refuse("logprobs");
  for (const char* name : {"functions", "function_call", "audio", "web_search_options"})
    if (member(body, name) != nullptr) refuse(name);
  const json::value* stop = member(body, "stop");
  if (stop != nullptr && !(stop->is_array() && stop->get_array().empty())) refuse("stop");
  if (const json::array* modalities = array_member(body, "modalities", "modalities"))
    for (const json::value& v : *modalities)
      if (!v.is_string() || v.get_string() != "text")
        throw invalid("modalities", "modalities must be text", "unsupported_value");
}

// {"type": "json_schema", "json_schema": {"name", "schema", ...}} and the other formats.
void read_response_format(const json::object& body, run_options& to) {
  const json::object* format = object_member(body, "response_format", "response_format");
  if (format == nullptr) return;
  const json::object* nested = object_member(*format, "json_schema", "response_format.json_schema");
  if (nested == nullptr) return read_format(*format, "response_format", to);
  json::object flat = *nested;
  flat["type"] = required_text(*format, "type", "response_format.type");
  read_format(flat, "response_format.json_schema", to);
}

void read_messages(const json::object& body, conversation& to) {
  const json::array* messages = array_member(body, "messages", "messages");
  if (messages == nullptr || messages->empty())
    throw invalid("messages", "messages is required", "missing_required_parameter");
  if (messages->size() > max_messages) throw invalid("messages", "messages must have at most 1001 elements");
  for (std::size_t i = 0; i < messages->size(); ++i) {
    const std::string path = at("messages", i);
    if (!(*messages)[i].is_object()) throw invalid(path, path + " must be an object", "invalid_type");
    read_chat_message((*messages)[i].get_object(), path, to);
  }
}

}  // namespace

chat_request read_chat_request(const json::object& body) {
  chat_request out;
  refuse_unsupported_chat(body);
  out.options.model = read_model(body);
  set_metadata(read_metadata(body), out.options);
  out.stream = flag_member(body, "stream", "stream").value_or(false);
  if (const json::object* options = object_member(body, "stream_options", "stream_options"))
    out.include_usage = flag_member(*options, "include_usage", "stream_options.include_usage").value_or(false);
  read_tools(body, tool_style::chat, out.options);
  read_tool_choice(body, out.options);
  read_temperature(body, out.options);
  read_output_limit(body, {"max_completion_tokens", "max_tokens"}, out.options);
  read_effort(body, "reasoning_effort", "reasoning_effort", out.options);
  read_response_format(body, out.options);
  read_messages(body, out.messages);
  return out;
}

}  // namespace openai_api
