#include "message_input.hpp"

#include <boost/json/serialize.hpp>
#include <charconv>
#include <cmath>
#include <ry/cpp/base64.hpp>
#include <utility>

#include "errors.hpp"
#include "json/members.hpp"

namespace a2a {
namespace {

namespace json = boost::json;

constexpr std::size_t max_file_name = 255;
constexpr std::size_t max_metadata = 16, max_metadata_key = 64, max_metadata_value = 512;  // of a start
constexpr std::int64_t max_history_length = 1'000'000;

// A member; nullptr if it is missing or null, which ProtoJSON treats alike.
const json::value* given(const json::object& o, std::string_view name) {
  const json::value* v = module_json::member_at(o, name);
  return v == nullptr || v->is_null() ? nullptr : v;
}

std::string joined(std::string_view path, std::string_view name) {
  return path.empty() ? std::string(name) : std::string(path) + "." + std::string(name);
}

const json::object* read_object(const json::object& o, std::string_view name, std::string_view path) {
  const json::value* v = given(o, name);
  if (v != nullptr && !v->is_object()) throw invalid_params(joined(path, name), "must be an object");
  return v != nullptr ? &v->get_object() : nullptr;
}

bool read_flag(const json::object& o, std::string_view name, std::string_view path) {
  const json::value* v = given(o, name);
  if (v == nullptr) return false;
  if (v->is_bool()) return v->get_bool();
  throw invalid_params(joined(path, name), "must be true or false");
}

std::optional<std::int64_t> whole_number(const json::value& v) {
  if (v.is_int64()) return v.get_int64();
  if (v.is_double() && std::abs(v.get_double()) < 1e15 && std::floor(v.get_double()) == v.get_double())
    return static_cast<std::int64_t>(v.get_double());
  if (!v.is_string()) return std::nullopt;
  const std::string_view text(v.get_string());
  std::int64_t out = 0;
  const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), out);
  return ec == std::errc() && end == text.data() + text.size() ? std::optional(out) : std::nullopt;
}

std::optional<std::int64_t> read_number_at(const json::object& o, std::string_view name, std::string_view path,
                                           std::int64_t min, std::int64_t max) {
  const json::value* v = given(o, name);
  if (v == nullptr) return std::nullopt;
  const std::optional<std::int64_t> number = whole_number(*v);
  if (!number || *number < min || *number > max)
    throw invalid_params(joined(path, name),
                         "must be a whole number from " + std::to_string(min) + " to " + std::to_string(max));
  return number;
}

std::string decode_raw(std::string_view text, const std::string& at) {
  // ProtoJSON accepts both alphabets, with and without padding.
  const auto alphabet =
      text.find_first_of("-_") == text.npos ? ry::base64_alphabet::standard : ry::base64_alphabet::url;
  std::optional<std::string> out = ry::base64_decode(text, alphabet, ry::base64_padding::optional);
  if (!out) throw invalid_params(at, "must be Base64");
  return *std::move(out);
}

void append_block(std::string& prompt, std::string_view text) {
  if (!prompt.empty() && !text.empty()) prompt += "\n\n";
  prompt += text;
}

attached_file read_file(const json::object& part, const std::string& at, std::size_t number) {
  attached_file out;
  const json::value& raw = *given(part, "raw");
  if (!raw.is_string()) throw invalid_params(at + ".raw", "must be Base64");
  out.name = read_text(part, "filename", at, max_file_name);
  if (out.name.empty()) out.name = "file-" + std::to_string(number);
  out.media_type = read_text(part, "mediaType", at, max_file_name);
  out.content = decode_raw(raw.get_string(), at + ".raw");
  return out;
}

void read_part(const json::value& v, const std::string& at, send_params& out) {
  if (!v.is_object()) throw invalid_params(at, "must be an object");
  const json::object& part = v.get_object();
  std::string_view kind;
  for (const char* name : {"text", "raw", "url", "data"}) {
    if (given(part, name) == nullptr) continue;
    if (!kind.empty()) throw invalid_params(at, "must have only one of text, raw, url and data");
    kind = name;
  }
  if (kind.empty()) throw invalid_params(at, "must have one of text, raw and data");
  if (kind == "text") {
    if (!given(part, "text")->is_string()) throw invalid_params(at + ".text", "must be a string");
    append_block(out.prompt, given(part, "text")->get_string());
  } else if (kind == "raw") {
    out.files.push_back(read_file(part, at, out.files.size() + 1));
  } else if (kind == "data") {
    append_block(out.prompt, json::serialize(*given(part, "data")));
    out.data.emplace_back(at + ".data", *given(part, "data"));
  } else {
    throw content_type_not_supported(at + ".url", "is not supported: send the content of the file as raw");
  }
}

void read_message(const json::object& message, send_params& out) {
  out.message_id = read_text(message, "messageId", "message", max_message_id);
  if (out.message_id.empty()) throw invalid_params("message.messageId", "is required");
  out.context_id = read_text(message, "contextId", "message", max_context_id);
  out.task_id = read_text(message, "taskId", "message", max_context_id);
  const json::value* role = given(message, "role");
  const bool user = role != nullptr && (*role == "ROLE_USER" || *role == 1);
  if (!user) throw invalid_params("message.role", "must be ROLE_USER");
  const json::value* parts = given(message, "parts");
  if (parts == nullptr || !parts->is_array()) throw invalid_params("message.parts", "must be an array of parts");
  const json::array& list = parts->get_array();
  if (list.empty()) throw invalid_params("message.parts", "must have at least one part");
  if (list.size() > max_parts)
    throw invalid_params("message.parts", "must have at most " + std::to_string(max_parts) + " parts");
  for (std::size_t i = 0; i < list.size(); ++i) read_part(list[i], "message.parts[" + std::to_string(i) + "]", out);
  if (out.prompt.find_first_not_of(" \t\r\n") != std::string::npos) return;
  if (out.files.empty()) throw invalid_params("message.parts", "must have text, data or a file");
  out.prompt = out.files.size() == 1 ? "See the attached file." : "See the attached files.";
}

// What a run can store of the metadata. The values of a run are strings, so other values become their JSON text. Members
// beyond the limits of a start are ignored, because the metadata of A2A have no limits.
json::object read_metadata(const json::object& params) {
  json::object out;
  const json::object* metadata = read_object(params, "metadata", {});
  if (metadata == nullptr) return out;
  for (const auto& m : *metadata) {
    json::string text;
    if (const double* number = m.value().if_double()) {
      char digits[32];
      text.assign(digits,
                  static_cast<std::size_t>(std::to_chars(digits, digits + sizeof digits, *number).ptr - digits));
    } else if (m.value().is_string()) {
      text = m.value().get_string();
    } else {
      text = json::serialize(m.value());
    }
    if (out.size() < max_metadata && !m.key().empty() && m.key().size() <= max_metadata_key &&
        text.size() <= max_metadata_value)
      out[m.key()] = std::move(text);
  }
  return out;
}

void read_configuration(const json::object& configuration, send_params& out) {
  constexpr std::string_view path = "configuration";
  if (read_object(configuration, "taskPushNotificationConfig", path) != nullptr)
    throw push_notifications_not_supported();
  out.history_length = read_history_length(configuration, path);
  out.return_immediately = read_flag(configuration, "returnImmediately", path);
}

}  // namespace

std::string read_text(const json::object& o, std::string_view name, std::string_view path, std::size_t max) {
  const json::value* v = given(o, name);
  if (v == nullptr) return {};
  if (!v->is_string()) throw invalid_params(joined(path, name), "must be a string");
  const std::string_view text(v->get_string());
  if (text.size() > max || text.find('\0') != text.npos)
    throw invalid_params(joined(path, name),
                         "must have at most " + std::to_string(max) + " bytes and no NUL characters");
  return std::string(text);
}

std::optional<std::int64_t> read_number(const json::object& params, std::string_view name, std::int64_t min,
                                        std::int64_t max) {
  return read_number_at(params, name, {}, min, max);
}

std::optional<std::int64_t> read_history_length(const json::object& params, std::string_view path) {
  return read_number_at(params, "historyLength", path, 0, max_history_length);
}

std::string read_task_id(const json::object& params, std::string_view name) {
  std::string id = read_text(params, name, {}, max_context_id);
  if (id.empty()) throw invalid_params(name, "is required");
  if (!ry::uuid::parse(id)) throw task_not_found(id);
  return id;
}

void reject_tenant(const json::object& params) {
  if (!read_text(params, "tenant", {}, max_context_id).empty())
    throw invalid_params("tenant", "must be absent: the interfaces of this agent have no tenant");
}

send_params read_send_params(const json::object& params) {
  send_params out;
  const json::object* message = read_object(params, "message", {});
  if (message == nullptr) throw invalid_params("message", "is required");
  read_message(*message, out);
  out.metadata = read_metadata(params);
  if (const json::object* configuration = read_object(params, "configuration", {}))
    read_configuration(*configuration, out);
  return out;
}

}  // namespace a2a
