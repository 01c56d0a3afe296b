#include "rpc.hpp"

#include <algorithm>
#include <boost/json/monotonic_resource.hpp>
#include <charconv>
#include <cmath>
#include <ry/cpp/types.hpp>

#include "json/exact.hpp"
#include "text.hpp"

namespace mcp {
namespace {

constexpr std::size_t max_batch_size = 256;
constexpr std::size_t max_depth = 128;
// An event loop parses this many values in about 0.1 s; 16 MiB of text could contain eight times as many.
constexpr std::size_t max_message_values = 1'000'000;

// Some servers return the id 7 as "7".
std::uint64_t id_of(const json::value& v) {
  if (v.is_int64()) return v.get_int64() > 0 ? static_cast<std::uint64_t>(v.get_int64()) : 0;
  if (v.is_uint64()) return v.get_uint64();
  if (const auto* d = v.if_double()) {  // 7.0 equals the number 7
    return *d >= 1 && *d < 0x1p53 && *d == std::floor(*d) ? static_cast<std::uint64_t>(*d) : 0;
  }
  if (!v.is_string()) return 0;
  const auto s = sv(v.get_string());
  std::uint64_t id = 0;
  const auto [end, ec] = std::from_chars(s.data(), s.data() + s.size(), id);
  return ec == std::errc() && end == s.data() + s.size() ? id : 0;
}

incoming read_one(json::value v) {
  incoming out;
  auto* o = v.if_object();
  if (o == nullptr) return out;
  auto* id = o->if_contains("id");
  if (auto* method = o->if_contains("method"); method != nullptr && method->is_string()) {
    out.method = std::string(sv(method->get_string()));
    if (auto* params = o->if_contains("params")) move_to(out.body, std::move(*params));
    out.kind = message_kind::notification;
    if (id != nullptr && !id->is_null()) {
      out.kind = message_kind::request;
      move_to(out.peer_id, std::move(*id));
    }
    return out;
  }
  if (id != nullptr) out.id = id_of(*id);
  if (auto* result = o->if_contains("result")) {
    out.kind = message_kind::result;
    move_to(out.body, std::move(*result));
  } else if (auto* error = o->if_contains("error"); error != nullptr && error->is_object()) {
    out.kind = message_kind::failure;
    move_to(out.body, std::move(*error));
  }
  return out;
}

std::string envelope(json::object o) {
  o["jsonrpc"] = "2.0";
  return json::serialize(o);
}

}  // namespace

namespace {

// Replaces infinity with null, as JavaScript does: 1e999 parses as infinity, which JSON cannot represent. Returns true
// if there was one.
bool make_finite(json::value& v) {
  bool found = false;
  if (const auto* d = v.if_double(); d != nullptr && !std::isfinite(*d)) {
    v = nullptr;
    found = true;
  }
  if (auto* a = v.if_array()) {
    for (auto& each : *a) found |= make_finite(each);
  }
  if (auto* o = v.if_object()) {
    for (auto& each : *o) found |= make_finite(each.value());
  }
  return found;
}

enum class out_of_range_numbers { to_null, reject };

json::value parse_within(std::string_view text, json::storage_ptr memory, std::size_t max_values,
                         out_of_range_numbers policy = out_of_range_numbers::to_null) {
  json::error_code ec;
  auto v = module_json::parse_exactly(text, max_depth, ec, std::move(memory), max_values);
  if (ec == json::error::array_too_large)
    throw ry::error(RY_DATA_LOSS, "mcp.too_many_values", "sent more than 1000000 values in one message");
  if (ec) throw ry::error(RY_DATA_LOSS, "mcp.malformed", "sent invalid JSON");
  if (make_finite(v) && policy == out_of_range_numbers::reject)
    throw ry::error(RY_DATA_LOSS, "mcp.malformed", "sent a number that is out of range");
  return v;
}

}  // namespace

json::value parse(std::string_view text) {
  return parse_within(text, {}, SIZE_MAX);
}

json::value parse_body(std::string_view text) {
  return parse_within(text, {}, SIZE_MAX, out_of_range_numbers::reject);
}

namespace {

json::value parse_message(std::string_view text) {
  const auto first_block = std::clamp<std::size_t>(2 * text.size(), 512, 1u << 20);
  return parse_within(text, json::make_shared_resource<json::monotonic_resource>(first_block), max_message_values);
}

// An invalid character in one description must not make the complete list unusable.
json::value parse_repaired(std::string_view text) {
  const auto fixed = repaired_json(text);
  if (fixed == text) throw ry::error(RY_DATA_LOSS, "mcp.malformed", "sent invalid JSON");
  return parse_message(fixed);
}

}  // namespace

std::vector<incoming> read_messages(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  json::value v;
  try {
    move_to(v, parse_message(text));
  } catch (const ry::error& e) {
    if (!e.is("mcp.malformed")) throw;
    move_to(v, parse_repaired(text));
  }
  std::vector<incoming> out;
  if (auto* batch = v.if_array()) {
    if (batch->size() > max_batch_size)
      throw ry::error(RY_DATA_LOSS, "mcp.malformed", "sent too many messages at once");
    out.reserve(batch->size());
    for (auto& each : *batch) out.push_back(read_one(std::move(each)));
  } else {
    out.push_back(read_one(std::move(v)));
  }
  return out;
}

std::string request_text(std::uint64_t id, std::string_view method, json::object params) {
  json::object o;
  o["id"] = id;
  o["method"] = jv(method);
  o["params"] = std::move(params);
  return envelope(std::move(o));
}

std::string notification_text(std::string_view method, json::object params) {
  json::object o;
  o["method"] = jv(method);
  if (!params.empty()) o["params"] = std::move(params);
  return envelope(std::move(o));
}

std::string result_text(const json::value& peer_id, json::object result) {
  json::object o;
  o["id"] = peer_id;
  o["result"] = std::move(result);
  return envelope(std::move(o));
}

std::string failure_text(const json::value& peer_id, int code, std::string_view message) {
  json::object o;
  o["id"] = peer_id;
  o["error"] = json::object{{"code", code}, {"message", jv(message)}};
  return envelope(std::move(o));
}

std::int64_t code_of(const json::value& error) {
  const auto* o = error.if_object();
  const auto* code = o != nullptr ? o->if_contains("code") : nullptr;
  return code != nullptr && code->is_int64() ? code->get_int64() : 0;
}

std::string message_of(const json::value& error) {
  const auto* o = error.if_object();
  auto text = o != nullptr ? text_of(*o, "message") : std::string();
  return text.empty() ? "no message" : text;
}

std::string text_of_error(const json::value& error) {
  constexpr std::size_t max_message = 2000, max_data = 1000;
  auto text = std::string(truncated(message_of(error), max_message)) + " (code " + std::to_string(code_of(error)) + ")";
  const auto* o = error.if_object();
  if (const auto* data = o != nullptr ? o->if_contains("data") : nullptr; data != nullptr && !data->is_null()) {
    text += "; data: " + std::string(truncated(json::serialize(*data), max_data));
  }
  return text;
}

}  // namespace mcp
