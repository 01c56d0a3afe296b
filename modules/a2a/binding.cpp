#include "binding.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <iterator>

#include "json/exact.hpp"
#include "json/members.hpp"

namespace a2a {
namespace {

namespace json = boost::json;

constexpr std::size_t max_depth = 64;
constexpr std::size_t max_values = 100'000;
constexpr std::size_t max_id = 256;

struct method_name {
  std::string_view name;
  operation what;
};
constexpr method_name methods[] = {
    {"SendMessage", operation::send_message},
    {"SendStreamingMessage", operation::send_streaming_message},
    {"GetTask", operation::get_task},
    {"ListTasks", operation::list_tasks},
    {"CancelTask", operation::cancel_task},
    {"SubscribeToTask", operation::subscribe_to_task},
    {"GetExtendedAgentCard", operation::get_extended_agent_card},
    {"CreateTaskPushNotificationConfig", operation::push_notification_config},
    {"GetTaskPushNotificationConfig", operation::push_notification_config},
    {"ListTaskPushNotificationConfigs", operation::push_notification_config},
    {"DeleteTaskPushNotificationConfig", operation::push_notification_config},
};

bool is_valid_id(const json::value& id) {
  if (id.is_string()) return id.get_string().size() <= max_id;
  return id.is_number() || id.is_null();
}

json::value parse_body(std::string_view body) {
  boost::system::error_code bad;
  json::value out = module_json::parse_exactly(body, max_depth, bad, {}, max_values);
  if (bad) throw parse_error();
  return out;
}

operation operation_of(std::string_view method) {
  for (const method_name& m : methods)
    if (m.name == method) return m.what;
  throw method_not_found(method);
}

}  // namespace

std::string binding::body(json::object result) const {
  if (!rpc_) return json::serialize(result);
  json::object out{{"jsonrpc", "2.0"}, {"id", id_}};
  out["result"] = std::move(result);
  return json::serialize(out);
}

std::string binding::body(const protocol_error& e) const {
  if (!rpc_) return json::serialize(e.status_body());
  return json::serialize(json::object{{"jsonrpc", "2.0"}, {"id", id_}, {"error", e.rpc_error()}});
}

ry::response binding::response(json::object result) const {
  ry::response out(200, std::string(content_type()), body(std::move(result)));
  out.header("Cache-Control", "no-store");
  return out;
}

ry::response binding::response(const protocol_error& e) const {
  ry::response out(rpc_ ? e.rpc_http_status() : e.http_status(), std::string(content_type()), body(e));
  out.header("Cache-Control", "no-store");
  if (e.retry_after() != 0) out.header("Retry-After", std::to_string(e.retry_after()));
  return out;
}

std::string binding::event(json::object result) const {
  return ry::sse::format(body(std::move(result)));
}

std::string binding::event(const protocol_error& e) const {
  return ry::sse::format(body(e), {}, rpc_ ? "" : "error");
}

call read_rpc_request(std::string_view body, const protocol_version& version, json::value& id) {
  const json::value v = parse_body(body);
  if (v.is_array()) throw invalid_request("Batches are not supported: send one JSON-RPC request");
  if (!v.is_object()) throw invalid_request("The body must be a JSON-RPC request");
  const json::object& request = v.get_object();
  const json::value* given = module_json::member_at(request, "id");
  if (given == nullptr || !is_valid_id(*given))
    throw invalid_request("id must be a number or a string of at most 256 bytes");
  id = *given;
  if (module_json::text_at(request, "jsonrpc") != "2.0") throw invalid_request("jsonrpc must be \"2.0\"");
  const json::value* method = module_json::member_at(request, "method");
  if (method == nullptr || !method->is_string()) throw invalid_request("method must be a string");
  require_version(version);
  call out;
  out.what = operation_of(method->get_string());
  const json::value* params = module_json::member_at(request, "params");
  if (params == nullptr || params->is_null()) return out;
  if (!params->is_object()) throw invalid_params("params", "must be an object");
  out.params = params->get_object();
  return out;
}

json::object read_rest_body(std::string_view body) {
  if (body.empty()) return {};
  json::value v = parse_body(body);
  if (!v.is_object()) throw invalid_request("The body must be a JSON object");
  return std::move(v.get_object());
}

std::pair<std::string, std::string> read_task_segment(std::string_view segment) {
  const std::size_t mark = segment.rfind(':');
  if (mark == segment.npos) return {std::string(segment), {}};
  return {std::string(segment.substr(0, mark)), std::string(segment.substr(mark + 1))};
}

json::object query_params(const std::vector<std::pair<std::string, std::string>>& query) {
  json::object out;
  for (const auto& [name, value] : query) out[name] = value;
  return out;
}

void require_version(const protocol_version& version) {
  const std::string& given = version.header.empty() ? version.query : version.header;
  // The patch version is not significant.
  if (given == "1.0" || given.starts_with("1.0.")) return;
  throw version_not_supported(given);
}

}  // namespace a2a
