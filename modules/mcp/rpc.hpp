// JSON-RPC 2.0 for MCP: serialises outgoing messages and parses incoming ones. Without I/O.
#pragma once

#include <boost/json.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "json/members.hpp"

namespace mcp {

namespace json = boost::json;

inline std::string_view sv(const json::string& s) noexcept {
  return {s.data(), s.size()};
}
inline std::string_view sv(json::string_view s) noexcept {
  return {s.data(), s.size()};
}
inline json::string_view jv(std::string_view s) noexcept {
  return {s.data(), s.size()};
}
using module_json::array_at;
using module_json::flag_at;
using module_json::object_at;
using module_json::text_of;

// Parses untrusted text: bounded depth, exact numbers, null for numbers outside the range of a double. Throws ry::error
// "mcp.malformed".
json::value parse(std::string_view text);
// The body of a client's request: as parse(), but rejects numbers outside the range of a double. If they became null,
// they would count as omitted members.
json::value parse_body(std::string_view text);

// Moves a value even between different memory resources, where an assignment would copy.
inline void move_to(json::value& to, json::value&& from) noexcept {
  std::destroy_at(&to);
  std::construct_at(&to, std::move(from));
}

enum class message_kind { result, failure, request, notification, invalid };
struct incoming {
  message_kind kind = message_kind::invalid;
  std::uint64_t id = 0;  // of the request that it responds to; 0: unknown, or null
  json::value peer_id;  // of a request from the server
  std::string method;
  json::value body;  // result, error object, or params
};

// Reads one message or a batch. The values share one memory resource, which is freed with the last of them. Invalid
// characters become U+FFFD. Throws ry::error "mcp.malformed" or "mcp.too_many_values".
std::vector<incoming> read_messages(std::string_view text);

std::string request_text(std::uint64_t id, std::string_view method, json::object params);
std::string notification_text(std::string_view method, json::object params);
std::string result_text(const json::value& peer_id, json::object result);
std::string failure_text(const json::value& peer_id, int code, std::string_view message);

// The members "code" and "message" of an error object; code is 0 if missing.
std::int64_t code_of(const json::value& error);
std::string message_of(const json::value& error);
// Code, message and data of an error as one text of bounded size.
std::string text_of_error(const json::value& error);

}  // namespace mcp
