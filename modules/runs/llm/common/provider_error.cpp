#include "provider_error.hpp"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <cctype>
#include <ry/cpp/text.hpp>
#include <string>
#include <utility>

#include "context_length.hpp"
#include "request.hpp"
#include "retry_hint.hpp"

namespace llm {

namespace json = boost::json;

namespace {

constexpr int max_nesting = 3;  // gateways wrap another provider's error as text

// Pseudo statuses for conditions without an HTTP status of their own.
constexpr unsigned quota = 402, filtered = 451;

struct kind {
  std::string_view name;  // of a code, a type or a status, in lower case
  unsigned status;
  bool overrides_status = false;  // overrides the HTTP status of the response
};

constexpr kind kinds[] = {
    {"insufficient_quota", quota, true},
    {"insufficient_balance", quota, true},
    {"insufficient_credits", quota, true},
    {"billing_error", quota, true},
    {"billing_hard_limit_reached", quota, true},
    {"billing_not_active", quota, true},
    {"usage_limit_reached", quota, true},
    {"exceeded_current_quota_error", quota, true},
    {"payment_required", quota, true},
    {"model_not_found", 404, true},
    {"invalid_model", 404, true},
    {"deploymentnotfound", 404, true},
    {"not_found_error", 404},
    {"not_found", 404},
    {"notfounderror", 404},
    {"content_filter", filtered, true},
    {"content_policy_violation", filtered, true},
    {"responsibleaipolicyviolation", filtered, true},
    {"data_inspection_failed", filtered, true},
    {"invalid_api_key", 401, true},
    {"authentication_error", 401},
    {"authenticationerror", 401},
    {"unauthenticated", 401},
    {"unauthorized", 401},
    {"permission_error", 403},
    {"permission_denied", 403},
    {"permissiondeniederror", 403},
    {"rate_limit_exceeded", 429, true},
    {"rate_limit_error", 429, true},
    {"rate_limit_reached_error", 429, true},
    {"ratelimiterror", 429},
    {"rate_limited", 429},
    {"resource_exhausted", 429},
    {"throttlingexception", 429, true},
    {"too_many_requests", 429},
    {"engine_overloaded_error", 429},
    {"tokens", 429},
    {"requests", 429},
    {"tool_use_failed", 500, true},  // Groq: the model wrote an invalid call
    {"overloaded_error", 529, true},
    {"server_overloaded", 503, true},
    {"server_is_overloaded", 503, true},
    {"slow_down", 503, true},
    {"engine_overloaded", 503},
    {"overloaded", 503},
    {"capacity_exceeded", 503},
    {"service_unavailable", 503},
    {"unavailable_error", 503},
    {"unavailable", 503},
    {"timeout_error", 504},
    {"upstream_timeout", 504},
    {"vector_store_timeout", 504},
    {"gateway_timeout", 504},
    {"request_timeout", 504},
    {"timeout", 504},
    {"deadline_exceeded", 504},
    {"api_error", 500},
    {"server_error", 500},
    {"internal_server_error", 500},
    {"internalservererror", 500},
    {"internal_error", 500},
    {"internal", 500},
    {"upstream_error", 502},
    {"invalid_request_error", 400},
    {"invalid_argument", 400},
    {"failed_precondition", 400},
    {"badrequesterror", 400},
    {"bad_request", 400},
    {"validationexception", 400},
    {"validation", 400},
    {"not_supported_error", 400},
    {"bio_policy", 400},
    {"misalignment_policy_violation", 400},
    {"data_residency_mismatch", 400},
    {"unsupported_image_media_type", 400},
    {"empty_image_file", 400},
    {"failed_to_download_image", 400},
};

const kind* kind_of(std::string_view name) {
  const auto* k = std::find_if(std::begin(kinds), std::end(kinds), [&](const kind& x) { return x.name == name; });
  if (k != std::end(kinds)) return k;
  // Invalid requests and images: invalid_prompt, invalid_encrypted_content, image_too_large, ...
  static constexpr kind bad_request{"", 400};
  return name.starts_with("invalid_") || name.starts_with("image_") ? &bad_request : nullptr;
}

// The members of an error object, under any provider's names.
struct error_details {
  std::string message;
  std::string names[4];  // code, type, status, a gateway's error_type
  unsigned status = 0;  // a number that is an HTTP status
  std::uint64_t retry_ms = 0;
};

unsigned status_in(const json::object& o, std::string_view key) {
  const auto* v = o.if_contains(key);
  if (!v) return 0;
  std::int64_t n = 0;
  if (v->is_int64()) {
    n = v->get_int64();
  } else if (v->is_uint64()) {
    n = v->get_uint64() < 1000 ? static_cast<std::int64_t>(v->get_uint64()) : 0;
  } else if (v->is_string() && v->get_string().size() == 3) {
    for (const char c : v->get_string()) n = c >= '0' && c <= '9' ? n * 10 + (c - '0') : -10'000;
  }
  return n >= 400 && n < 600 ? static_cast<unsigned>(n) : 0;
}

std::string lower_text(const json::object& o, std::string_view key) {
  std::string out = ry::lower_ascii(text_at(o, key).substr(0, 100));
  return out;
}

std::string first_text(const json::object& o, std::initializer_list<std::string_view> keys) {
  for (std::string_view key : keys)
    if (const auto s = text_at(o, key); !s.empty()) return std::string(s);
  return {};
}

// FastAPI: a message, or a list of validation errors.
std::string detail_of(const json::object& o) {
  if (const auto* d = object_at(o, "detail")) return first_text(*d, {"message", "error", "msg"});
  if (const auto* list = array_at(o, "detail"); list && !list->empty())
    if (const auto* first = list->front().if_object()) return first_text(*first, {"msg", "message"});
  return std::string(text_at(o, "detail"));
}

const json::object* first_object(const json::object& o, std::string_view key) {
  const auto* list = array_at(o, key);
  return list && !list->empty() ? list->front().if_object() : nullptr;
}

void read_details(const json::object& e, error_details& out, int depth);

// The text of a message may be the error of the provider behind a gateway.
void read_nested(std::string_view text, error_details& out, int depth) {
  const auto begin = text.find_first_not_of(" \n\t");
  if (begin == std::string_view::npos || text[begin] != '{' || depth >= max_nesting) return;
  boost::system::error_code ec;
  const auto v = json::parse(text, ec);
  if (ec || !v.is_object()) return;
  const auto& o = v.get_object();
  const auto* inner = object_at(o, "error");
  error_details nested;
  read_details(inner ? *inner : o, nested, depth + 1);
  if (!nested.message.empty()) out.message = std::move(nested.message);
  for (std::size_t i = 0; i < std::size(out.names); ++i)
    if (!nested.names[i].empty()) out.names[i] = std::move(nested.names[i]);
  if (nested.status != 0) out.status = nested.status;
  if (nested.retry_ms != 0) out.retry_ms = nested.retry_ms;
}

void read_details(const json::object& e, error_details& out, int depth) {
  out.message = first_text(e, {"message", "error_message", "msg", "status_msg"});
  if (out.message.empty()) out.message = detail_of(e);
  if (out.message.empty()) out.message = first_text(e, {"error", "title", "reason"});
  out.names[0] = lower_text(e, "code");
  out.names[1] = lower_text(e, e.contains("error_type") ? "error_type" : "type");
  out.names[2] = lower_text(e, "status");
  for (std::string_view key : {"code", "status_code", "status", "http_status", "error_code"})
    if (out.status == 0) out.status = status_in(e, key);
  out.retry_ms = retry_ms_of_error(e, 0);
  if (const auto* inner = object_at(e, "innererror")) out.names[3] = lower_text(*inner, "code");
  read_nested(std::string(out.message), out, depth);
  if (const auto* metadata = object_at(e, "metadata")) {
    if (out.names[3].empty()) out.names[3] = lower_text(*metadata, "error_type");
    error_details raw;
    read_nested(text_at(*metadata, "raw"), raw, depth);
    if (raw.message.empty()) raw.message = text_at(*metadata, "raw");
    if (!raw.message.empty() && raw.message != out.message) out.message += ": " + raw.message;
    for (std::size_t i = 0; i < std::size(out.names); ++i)
      if (out.names[i].empty()) out.names[i] = std::move(raw.names[i]);
    if (out.retry_ms == 0) out.retry_ms = raw.retry_ms;
  }
}

error_details details_of(const json::object& body) {
  error_details out;
  const json::object* e = object_at(body, "error");
  if (!e) e = first_object(body, "errors");
  if (!e) e = object_at(body, "base_resp");
  if (!e)
    if (const auto* x = object_at(body, "x_groq"); x && x->contains("error")) e = x;
  if (!e)
    if (const auto* r = object_at(body, "response")) e = object_at(*r, "error");
  read_details(e ? *e : body, out, 0);
  if (e && out.message.empty()) out.message = first_text(body, {"message", "detail"});
  if (e && out.status == 0) out.status = status_in(body, "code");
  if (out.retry_ms == 0 && e) out.retry_ms = retry_ms_of_error(body, 0);
  if (out.retry_ms == 0) out.retry_ms = retry_ms_of_message(out.message);
  return out;
}

failure classify(error_details a, unsigned http_status) {
  const bool quoted = !a.message.empty();
  const auto failed = [&](ry_status st, std::string_view reason) {
    return failure{st, std::string(reason), std::move(a.message), 0, quoted};
  };
  if (!quoted && http_status == 0) a.message = "the model provider reported an error without a message";
  const bool no_request = http_status >= 401 && http_status <= 404;
  if (std::any_of(std::begin(a.names), std::end(a.names), [](const auto& n) { return names_context_too_long(n); }) ||
      (!no_request && says_context_too_long(a.message)))
    return failed(RY_OUT_OF_RANGE, "llm.context_too_long");
  unsigned status = http_status != 0 ? http_status : a.status;
  for (const std::string& name : a.names) {
    const auto* k = kind_of(name);
    if (k == nullptr || (status != 0 && !k->overrides_status)) continue;
    status = k->status;
    break;
  }
  if (status == quota) return failed(RY_UNAUTHENTICATED, "llm.quota");
  if (status == filtered) return failed(RY_INVALID_ARGUMENT, content_filtered);
  failure f = failure_of_status(status == 0 ? 500 : status, std::move(a.message));
  f.quoted = quoted;
  f.retry_after_s = seconds_rounded_up(a.retry_ms);
  return f;
}

bool has_value(const json::value* v) {
  if (!v || v->is_null()) return false;
  if (v->is_bool()) return v->get_bool();
  if (v->is_string()) return !v->get_string().empty();
  if (v->is_object()) return !v->get_object().empty();
  if (v->is_array()) return !v->get_array().empty();
  return v->to_number<double>() != 0;
}

// Whether the event reports an error without an `error` member.
bool is_error_without_error_member(const json::object& o) {
  const std::string type = lower_text(o, "type"), object = lower_text(o, "object");
  if (object.starts_with("chat.completion")) return false;
  if (!type.empty() && !type.ends_with("error") && !type.ends_with("exception")) return false;
  const auto* success = o.if_contains("success");
  const std::string status = lower_text(o, "status");
  if ((success && success->is_bool() && !success->get_bool()) || status == "error" || status == "failed") return true;
  return !text_at(o, "message").empty() || !text_at(o, "msg").empty() || has_value(o.if_contains("detail"));
}

bool is_part_of_answer(std::string_view key) {
  return key == "choices" || key == "delta" || key == "message" || key == "content_block" || key == "usage" ||
         key == "content";
}

bool is_error_key(std::string_view key) {
  return key == "error" || key == "error_message" || key == "error_type" || key == "errors";
}

}  // namespace

// A single pass over the members, because every chunk of a stream is checked.
std::optional<failure> error_in(const json::object& event) {
  bool reports_error = false, has_answer = false;
  for (const auto& [key, value] : event) {
    const std::string_view name = key;
    const auto* o = value.if_object();
    if (is_part_of_answer(name))
      has_answer = has_answer || o || value.is_array();
    else if (is_error_key(name))
      reports_error = reports_error || has_value(&value);
    else if (name == "object" || name == "type")
      reports_error = reports_error || (value.is_string() && value.get_string() == "error");
    else if (name == "base_resp")
      reports_error = reports_error || (o && has_value(o->if_contains("status_code")));
    else if (name == "x_groq")
      reports_error = reports_error || (o && has_value(o->if_contains("error")));
  }
  if (!reports_error && (has_answer || !is_error_without_error_member(event))) return std::nullopt;
  return failure_of(event, 0);
}

failure failure_of(const json::object& body, unsigned http_status) {
  return classify(details_of(body), http_status);
}

failure failure_of_body(std::string_view body, unsigned http_status) {
  auto v = parse_event(body);
  // Google's compatible endpoint wraps the object in an array.
  if (v && v->is_array() && !v->get_array().empty()) v = json::value(v->get_array().front());
  if (v && v->is_object()) return failure_of(v->get_object(), http_status);
  error_details a;
  if (v && v->is_string())
    a.message = v->get_string();
  else if (const auto at = body.find_first_not_of(" \r\n\t"); at != std::string_view::npos && body[at] != '<')
    a.message = body.substr(0, 1000);
  a.retry_ms = retry_ms_of_message(a.message);
  // HTML or plain text from a proxy is not a useful error message.
  if (http_status != 0 && !says_context_too_long(a.message)) a.message.clear();
  return classify(std::move(a), http_status);
}

failure failure_of_malformed_event(std::string_view data, std::string_view message) {
  if (says_context_too_long(data)) return {RY_OUT_OF_RANGE, "llm.context_too_long", std::string(message)};
  return {RY_DATA_LOSS, "llm.protocol", std::string(message)};
}

}  // namespace llm
