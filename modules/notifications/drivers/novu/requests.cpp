#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <ry/cpp/text.hpp>

#include "wire.hpp"

namespace notify_novu {

namespace json = boost::json;
using ry::notify::notification;

namespace {

constexpr std::uint32_t all_channels = RY_NOTIFY_EMAIL | RY_NOTIFY_PUSH | RY_NOTIFY_IN_APP;
constexpr std::size_t max_token_bytes = 4096;
constexpr std::int64_t bulk_cost = 100;  // of every bulk request, regardless of its size
constexpr std::array<std::string_view, 8> push_providers = {"expo",    "fcm",          "apns",         "one-signal",
                                                            "pushpad", "push-webhook", "pusher-beams", "appio"};

void set_if_not_empty(json::object& o, const char* key, std::string_view value) {
  if (!value.empty()) o[key] = value;
}

json::object subscriber_json(const ry::notify::subscriber& who) {
  json::object o;
  o["subscriberId"] = who.account_id;
  set_if_not_empty(o, "email", who.email);
  set_if_not_empty(o, "firstName", who.first_name);
  const std::string first_prefix = who.first_name + " ";
  if (!who.first_name.empty() && who.name.starts_with(first_prefix)) {
    const auto last_name_at = who.name.find_first_not_of(' ', first_prefix.size());
    if (last_name_at != who.name.npos) set_if_not_empty(o, "lastName", std::string_view(who.name).substr(last_name_at));
  }
  set_if_not_empty(o, "phone", who.phone);
  set_if_not_empty(o, "avatar", who.avatar);
  return o;
}

// The channels of a workflow if none is turned off.
std::uint32_t channels_of(std::string_view workflow) {
  return workflow == "welcome-email" ? RY_NOTIFY_EMAIL : all_channels;
}

}  // namespace

bool has_disabled_channel(const notification& n) {
  return (channels_of(n.workflow) & ~n.channels) != 0;
}

namespace {

json::object event_json(const notification& n) {
  json::error_code ec;
  auto payload = json::parse(n.payload_json.empty() ? std::string_view("{}") : n.payload_json, ec);
  if (ec || !payload.is_object()) {
    throw ry::bad_request("notify_novu.payload", "the payload is not a JSON object");
  }
  if (has_disabled_channel(n)) {
    payload.get_object()["channels"] = {
        {"email", n.wants(RY_NOTIFY_EMAIL)}, {"push", n.wants(RY_NOTIFY_PUSH)}, {"in_app", n.wants(RY_NOTIFY_IN_APP)}};
  }
  json::object o;
  o["name"] = n.workflow;
  o["to"] = subscriber_json(n.to);
  o["payload"] = std::move(payload);
  o["transactionId"] = n.key;
  return o;
}

}  // namespace

std::uint32_t deliverable_channels(const notification& n) {
  std::uint32_t out = n.channels & all_channels;
  if (n.to.email.empty()) out &= ~RY_NOTIFY_EMAIL;
  if (n.tokens.empty()) out &= ~RY_NOTIFY_PUSH;
  return out;
}

call trigger_call(const notification& n) {
  return {"POST",
          "/v1/events/trigger",
          json::serialize(event_json(n)),
          n.key + "." + std::to_string(n.epoch),
          category::trigger,
          1};
}

call bulk_call(const std::vector<const notification*>& all) {
  json::array events;
  for (const auto* n : all) events.push_back(event_json(*n));
  const std::string key = all.front()->key + "." + std::to_string(all.front()->epoch) + ".bulk";
  json::object body;
  body["events"] = std::move(events);
  return {"POST", "/v1/events/trigger/bulk", json::serialize(body), key, category::trigger, bulk_cost};
}

call withdraw_call(std::string_view key) {
  return {"DELETE", "/v1/events/trigger/" + ry::percent_encoded(key), {}, {}, category::trigger, 1};
}

call subscriber_call(const ry::notify::subscriber& who, subscribers_api api) {
  return {"POST",
          api == subscribers_api::v2 ? "/v2/subscribers" : "/v1/subscribers",
          json::serialize(subscriber_json(who)),
          {},
          category::other,
          1};
}

call forget_call(std::string_view account_id, subscribers_api api) {
  const char* base = api == subscribers_api::v2 ? "/v2/subscribers/" : "/v1/subscribers/";
  return {"DELETE", base + ry::percent_encoded(account_id), {}, {}, category::other, 1};
}

call tokens_call(std::string_view account_id, std::string_view provider, const std::vector<ry::notify::token>& all,
                 std::string_view integration) {
  const std::string path = "/v1/subscribers/" + ry::percent_encoded(account_id) + "/credentials";
  if (all.empty()) return {"DELETE", path + "/" + ry::percent_encoded(provider), {}, {}, category::other, 1};
  json::array tokens;
  for (const auto& t : all) tokens.push_back(json::value(t.value));
  json::object credentials, body;
  credentials["deviceTokens"] = std::move(tokens);
  body["providerId"] = provider;
  body["credentials"] = std::move(credentials);
  set_if_not_empty(body, "integrationIdentifier", integration);
  return {"PUT", path, json::serialize(body), {}, category::other, 1};
}

call messages_call(std::string_view key) {
  return {"GET", "/v1/messages?limit=100&page=0&transactionId=" + ry::percent_encoded(key), {}, {}, category::other, 1};
}

call activity_call(std::string_view key) {
  return {"GET", "/v1/notifications?transactionId=" + ry::percent_encoded(key), {}, {}, category::other, 1};
}

void check_token(const ry::notify::token& t) {
  if (std::find(push_providers.begin(), push_providers.end(), t.provider) == push_providers.end()) {
    std::string known;
    for (const auto p : push_providers) known += (known.empty() ? "" : ", ") + std::string(p);
    throw ry::bad_request("notify_novu.provider", "provider must be one of " + known);
  }
  if (t.value.empty() || t.value.size() > max_token_bytes) {
    throw ry::bad_request("notify_novu.token",
                          "device_token must have 1 to " + std::to_string(max_token_bytes) + " bytes");
  }
  for (const char c : t.value) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      throw ry::bad_request("notify_novu.token", "device_token must not contain control characters");
    }
  }
}

}  // namespace notify_novu
