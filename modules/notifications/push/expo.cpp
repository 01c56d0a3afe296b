#include "expo.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

namespace notify_push {

namespace json = boost::json;
using ry::notify::result;
using ry::notify::results;

namespace {

constexpr std::size_t max_detail = 300;
constexpr std::uint32_t project_wait_s = 300;
constexpr std::size_t max_text = 1000;  // bytes of the title or the body; Expo refuses messages over 4096 bytes

const json::value* member(const json::value& v, const char* key) {
  return v.is_object() ? v.get_object().if_contains(key) : nullptr;
}
std::string text_at(const json::value& v, const char* key) {
  const auto* found = member(v, key);
  return found != nullptr && found->is_string() ? std::string(found->get_string()) : std::string();
}
json::value parsed(std::string_view body) {
  json::error_code ec;
  auto v = json::parse(body, ec);
  return ec ? json::value() : v;
}
std::string truncate(std::string_view text, std::size_t max_bytes) {
  if (text.size() <= max_bytes) return std::string(text);
  while (max_bytes > 0 && (static_cast<unsigned char>(text[max_bytes]) & 0xC0) == 0x80) max_bytes--;
  return std::string(text.substr(0, max_bytes));
}

result make_result(std::string_view token, std::int32_t outcome, std::string detail = {}) {
  result r(RY_NOTIFY_PUSH, outcome, "expo");
  r.token = token;
  r.detail = truncate(detail, max_detail);
  return r;
}

// The result for a ticket or a receipt with status "error".
result failure(const json::value& v, std::string_view token) {
  const auto* details = member(v, "details");
  const std::string kind = details != nullptr ? text_at(*details, "error") : std::string();
  const std::string text = "Expo: " + (kind.empty() ? text_at(v, "message") : kind);
  if (kind == "DeviceNotRegistered") return make_result(token, RY_NOTIFY_GONE, text);
  if (kind == "MessageRateExceeded" || kind == "ExpoError" || kind == "ProviderError") {
    return make_result(token, RY_NOTIFY_RETRY_NEW, text);
  }
  if (kind == "InvalidCredentials" || kind == "MismatchSenderId") {
    // The project's credentials at Apple or Google are wrong. The operator may correct them before the message expires.
    result r = make_result(token, RY_NOTIFY_RETRY_NEW, text);
    r.retry_after_s = project_wait_s;
    return r;
  }
  return make_result(token, RY_NOTIFY_REFUSED, text);
}

}  // namespace

bool is_expo_token(std::string_view token) {
  if (token.size() > 200) return false;
  for (const std::string_view prefix : {"ExponentPushToken[", "ExpoPushToken["}) {
    if (token.starts_with(prefix)) {
      const auto inside = token.substr(prefix.size());
      return inside.size() > 1 && inside.find_first_of("]\"\\ \t\r\n") == inside.size() - 1 && inside.back() == ']';
    }
  }
  return ry::uuid::parse(token).has_value();
}

std::string decision_url_of(const ry::notify::notification& n) {
  return text_at(parsed(n.payload_json), "decision_url");
}

std::string expo_messages(const ry::notify::notification& n, const std::vector<std::string>& tokens,
                          std::int64_t ttl_s) {
  json::object data{{"workflow", n.workflow}, {"key", n.key}};
  if (const auto url = decision_url_of(n); !url.empty()) data["decision_url"] = url;
  if (!n.texts.action_url.empty()) data["url"] = truncate(n.texts.action_url, 2 * max_text);
  json::array all;
  for (const auto& token : tokens) {
    json::object m;
    m["to"] = token;
    m["title"] = truncate(n.texts.title, max_text);
    m["body"] = truncate(n.texts.body, max_text);
    m["data"] = data;
    m["sound"] = "default";
    m["priority"] = "high";
    m["ttl"] = ttl_s;
    all.push_back(std::move(m));
  }
  return json::serialize(all);
}

results read_expo_tickets(std::uint32_t status, std::string_view body, const std::vector<std::string>& tokens,
                          std::uint32_t retry_after_s) {
  const json::value v = parsed(body);
  const auto* data = member(v, "data");
  results out;
  if (status / 100 == 2 && data != nullptr && data->is_array() && data->get_array().size() == tokens.size()) {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const json::value& ticket = data->get_array()[i];
      const std::string id = text_at(ticket, "id");
      if (text_at(ticket, "status") == "ok" && !id.empty()) {
        out.push_back(make_result(tokens[i], RY_NOTIFY_ACCEPTED));
        out.back().provider_id = id;
      } else {
        out.push_back(failure(ticket, tokens[i]));
      }
    }
    return out;
  }
  std::string text = "Expo answered " + std::to_string(status);
  const auto* errors = member(v, "errors");
  if (errors != nullptr && errors->is_array() && !errors->get_array().empty()) {
    text += ": " + text_at(errors->get_array()[0], "code") + " " + text_at(errors->get_array()[0], "message");
  }
  const bool later = status / 100 == 2 || status == 408 || status == 429 || status >= 500;
  const bool settings = status == 401 || status == 403;
  for (const auto& token : tokens) {
    out.push_back(make_result(token, later || settings ? RY_NOTIFY_RETRY_NEW : RY_NOTIFY_REFUSED, text));
    out.back().retry_after_s = settings ? project_wait_s : retry_after_s;
  }
  return out;
}

bool is_mixed_projects(std::uint32_t status, std::string_view body) {
  return status / 100 == 4 && body.find("PUSH_TOO_MANY_EXPERIENCE_IDS") != body.npos;
}

std::string expo_receipt_query(const std::vector<ry::notify::sent>& all) {
  json::array ids;
  for (const auto& s : all) ids.push_back(json::value(s.provider_id));
  json::object o;
  o["ids"] = std::move(ids);
  return json::serialize(o);
}

results read_expo_receipts(std::uint32_t status, std::string_view body, const std::vector<ry::notify::sent>& all) {
  const json::value v = parsed(body);
  const auto* data = member(v, "data");
  if (status / 100 != 2 || data == nullptr || !data->is_object()) {
    throw ry::unavailable("notify_push.expo",
                          "Expo responded with status " + std::to_string(status) + " to a request for receipts");
  }
  results out;
  for (const auto& s : all) {
    const auto* receipt = data->get_object().if_contains(s.provider_id);
    if (receipt == nullptr) {
      out.push_back(make_result(s.token, RY_NOTIFY_ACCEPTED));
    } else if (text_at(*receipt, "status") == "ok") {
      out.push_back(make_result(s.token, RY_NOTIFY_DELIVERED));
    } else {
      result r = failure(*receipt, s.token);
      // Expo already accepted the message, and polling for receipts cannot send it again.
      if (r.outcome == RY_NOTIFY_RETRY_NEW) r.outcome = RY_NOTIFY_REFUSED;
      r.retry_after_s = 0;
      out.push_back(std::move(r));
    }
    out.back().provider_id = s.provider_id;
  }
  return out;
}

}  // namespace notify_push
