#include "json_rpc.hpp"

#include <json/exact.hpp>
#include <json/members.hpp>

#include <ry/cpp/utf8.hpp>

namespace mcp_server {
namespace {

constexpr std::size_t max_depth = 64;
constexpr std::size_t max_values = 200'000;
constexpr std::size_t max_method_bytes = 128;

rpc_error invalid(std::string text) {
  return rpc_error(rpc_code::invalid_request, std::move(text), 400);
}

json::value read_id(const json::value& v) {
  if (v.is_int64() || v.is_uint64()) return v;
  if (!v.is_string()) throw invalid("id must be a string or an integer");
  if (v.get_string().size() > max_id_bytes) throw invalid("id must have at most 256 bytes");
  return v;
}

}  // namespace

rpc_error too_many_calls() {
  return rpc_error(rpc_code::too_many_calls, "Too many calls of this account are in progress", 429).with_retry_after(5);
}

json::string_view jv(std::string_view s) noexcept {
  return {s.data(), s.size()};
}

std::string clipped(std::string_view text, std::size_t max) {
  if (text.size() <= max) return std::string(text);
  std::string_view head = text.substr(0, max);
  return std::string(head.substr(0, ry::whole_characters(head))) + "...";
}

message read_message(std::string_view text, json::value& id) {
  boost::system::error_code failed;
  json::value v = module_json::parse_exactly(text, max_depth, failed, {}, max_values);
  if (failed) throw rpc_error(rpc_code::parse_error, "The body is not valid JSON, or it is nested too deeply", 400);
  if (v.is_array()) throw invalid("JSON-RPC batches are not supported; send one message per request");
  if (!v.is_object()) throw invalid("The body must be a JSON object");
  json::object& o = v.get_object();
  if (const json::value* given = o.if_contains("id")) id = read_id(*given);
  if (module_json::text_at(o, "jsonrpc") != "2.0") throw invalid("jsonrpc must be \"2.0\"");
  message out;
  const json::value* method = o.if_contains("method");
  if (method == nullptr) {
    if (!o.contains("result") && !o.contains("error")) throw invalid("method is required");
    out.kind = message_kind::response;
    out.id = id;
    out.failed = o.contains("error");
    json::value* result = o.if_contains("result");
    if (result != nullptr && result->is_object()) out.params = std::move(result->get_object());
    return out;
  }
  if (!method->is_string()) throw invalid("method must be a string");
  out.method = module_json::text_of(o, "method");
  if (out.method.size() > max_method_bytes) throw invalid("method must have at most 128 bytes");
  out.kind = id.is_null() ? message_kind::notification : message_kind::request;
  out.id = id;
  if (json::value* params = o.if_contains("params")) {
    if (!params->is_object()) throw invalid("params must be an object");
    out.params = std::move(params->get_object());
  }
  return out;
}

json::object result_message(json::value id, json::object result) {
  json::object o;
  o["jsonrpc"] = "2.0";
  o["id"] = std::move(id);
  o["result"] = std::move(result);
  return o;
}

json::object error_message(json::value id, const rpc_error& e) {
  json::object error;
  error["code"] = e.code();
  error["message"] = jv(e.message());
  if (!e.data().is_null()) error["data"] = e.data();
  json::object o;
  o["jsonrpc"] = "2.0";
  if (!id.is_null()) o["id"] = std::move(id);
  o["error"] = std::move(error);
  return o;
}

json::object notification_message(std::string_view method, json::object params) {
  json::object o;
  o["jsonrpc"] = "2.0";
  o["method"] = jv(method);
  o["params"] = std::move(params);
  return o;
}

}  // namespace mcp_server
