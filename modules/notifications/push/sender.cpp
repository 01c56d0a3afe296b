#include "sender.hpp"

#include <algorithm>
#include <boost/algorithm/string/case_conv.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <charconv>
#include <locale>

#include "expo.hpp"

namespace notify_push {

namespace json = boost::json;
using ry::notify::notification;
using ry::notify::result;
using ry::notify::results;

namespace {

constexpr std::size_t messages_per_request = 100;  // limit of Expo
constexpr std::int64_t max_ttl_s = 28 * 24 * 3600;
constexpr std::int64_t vapid_token_lifetime_s = 12 * 3600;  // at most 24 h (RFC 8292)
constexpr std::uint64_t max_response_bytes = 1024 * 1024;

// The host of a URL, in lower case and without the port.
std::string host_of(std::string_view url) {
  std::string host = origin_of(url);
  host.erase(0, host.find("://") + 3);
  if (!host.starts_with('[')) host.erase(std::min(host.find(':'), host.size()));
  boost::algorithm::to_lower(host, std::locale::classic());
  return host;
}

// When the user withdraws the permission, browsers replace the endpoint with a host below .invalid, as Chromium with
// permanently-removed.invalid.
bool is_withdrawn(std::string_view endpoint) {
  return host_of(endpoint).ends_with(".invalid");
}

std::uint32_t retry_after_of(const ry::client_response& r) {
  const std::string_view text = r.header("Retry-After");
  std::uint32_t out = 0;
  const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (ec != std::errc() || end != text.data() + text.size()) return 0;
  return std::min(out, 86'400u);
}

result web_result(std::string_view token, std::int32_t outcome, std::string detail = {}) {
  result r(RY_NOTIFY_PUSH, outcome, std::string(web_provider));
  r.token = token;
  r.detail = std::move(detail);
  return r;
}

// The data for the browser's service worker; texts are shortened until it fits.
std::string web_message(const notification& n) {
  const std::string decision_url = decision_url_of(n);
  std::string body = n.texts.body;
  for (;;) {
    json::object o{{"title", n.texts.title}, {"body", body}, {"workflow", n.workflow}, {"tag", n.key}};
    if (!n.texts.action_url.empty()) o["url"] = n.texts.action_url;
    if (!decision_url.empty()) o["decision_url"] = decision_url;
    std::string text = json::serialize(o);
    if (text.size() <= max_message_bytes || body.empty()) return text;
    std::size_t keep = body.size() - std::min(body.size(), text.size() - max_message_bytes);
    while (keep > 0 && (static_cast<unsigned char>(body[keep]) & 0xC0) == 0x80) keep--;
    body.resize(keep);
  }
}

}  // namespace

std::int64_t sender::ttl_s(const notification& n) const {
  return std::clamp<std::int64_t>((n.expires_unix_us - ctx_.now_unix_us()) / 1'000'000, 0, max_ttl_s);
}

std::uint64_t sender::timeout_ms_of(const notification& n) const {
  return n.timeout_ms == 0 ? options_.timeout_ms : std::min(n.timeout_ms, options_.timeout_ms);
}

void sender::check_endpoint(std::string_view url) const {
  if (options_.allowed == endpoints::https_only && !url.starts_with("https://")) {
    throw ry::bad_request("notify_push.endpoint", "device_token: endpoint must begin with https://");
  }
  if (ctx_.http_client().check_url(url) != RY_OK) {
    throw ry::bad_request("notify_push.endpoint", "device_token: endpoint is not a public address");
  }
  if (options_.web_push_hosts.empty()) return;
  const std::string host = host_of(url);
  for (const auto& allowed : options_.web_push_hosts) {
    if (host == allowed || host.ends_with("." + allowed)) return;
  }
  throw ry::bad_request("notify_push.endpoint",
                        "device_token: the push service of endpoint is not allowed on this server");
}

std::string sender::accepts(const ry::notify::token& t) const {
  if (t.provider == expo_provider) {
    if (is_expo_token(t.value)) return {};
    throw ry::bad_request("notify_push.token", "device_token is not an Expo push token");
  }
  if (t.provider == web_provider && options_.vapid) {
    subscription s = read_subscription(t.value);
    check_endpoint(s.endpoint);
    return std::move(s.endpoint);
  }
  throw ry::bad_request("notify_push.provider",
                        options_.vapid ? "provider must be one of expo, web-push" : "provider must be expo");
}

ry::task<results> sender::send(notification n) const {
  std::vector<ry::task<results>> parts;
  std::vector<std::vector<std::string>> tokens;  // the tokens of each part
  results out;
  const auto add = [&](std::vector<std::string> part_tokens, ry::task<results> t) {
    tokens.push_back(std::move(part_tokens));
    parts.push_back(std::move(t));
  };
  std::vector<std::string> expo;
  for (const auto& t : n.tokens) {
    if (t.provider == expo_provider && is_expo_token(t.value)) {
      expo.push_back(t.value);
    } else if (t.provider == expo_provider) {
      // One invalid token would make Expo refuse the whole request.
      result r(RY_NOTIFY_PUSH, RY_NOTIFY_GONE, t.provider);
      r.token = t.value;
      r.detail = "it is not an Expo push token";
      out.push_back(std::move(r));
    } else if (t.provider == web_provider && options_.vapid) {
      add({t.value}, to_browser(n, t.value));
    } else {
      result r(RY_NOTIFY_PUSH, RY_NOTIFY_SKIPPED, t.provider);
      r.token = t.value;
      r.detail = "this provider is not supported";
      out.push_back(std::move(r));
    }
  }
  for (std::size_t i = 0; i < expo.size(); i += messages_per_request) {
    const auto end = expo.begin() + static_cast<std::ptrdiff_t>(std::min(expo.size(), i + messages_per_request));
    std::vector<std::string> batch(expo.begin() + static_cast<std::ptrdiff_t>(i), end);
    add(batch, to_expo(n, batch));
  }
  std::vector<ry::result<results>> outcomes = co_await ry::when_all(std::move(parts));
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    if (outcomes[i]) {
      for (auto& r : *outcomes[i]) out.push_back(std::move(r));
      continue;
    }
    if (outcomes[i].status() == RY_CANCELLED) throw outcomes[i].error();
    for (const auto& token : tokens[i]) {
      result r(RY_NOTIFY_PUSH, RY_NOTIFY_RETRY);
      r.token = token;
      r.detail = std::string(outcomes[i].error().message());
      out.push_back(std::move(r));
    }
  }
  co_return std::move(out);
}

// ---- Expo -------------------------------------------------------------------------------------

ry::task<ry::result<ry::client_response>> sender::post_to_expo(const char* path, std::string body,
                                                               std::uint64_t timeout_ms) const {
  ry::client_request request("POST", options_.expo_url + path);
  request.header("Accept", "application/json")
      .body(std::move(body), "application/json")
      .total_timeout(timeout_ms)
      .max_response(max_response_bytes)
      .pool_key("notify_push.expo")
      .flags(RY_CLIENT_OPERATOR_URL);
  if (!options_.expo_access_token.empty()) {
    request.header("Authorization", "Bearer " + options_.expo_access_token);
  }
  co_return co_await ctx_.http_client().fetch(std::move(request));
}

ry::task<results> sender::to_expo(const notification& n, std::vector<std::string> tokens) const {
  const std::int64_t ttl = ttl_s(n);
  std::string body = expo_messages(n, tokens, ttl);
  ry::result<ry::client_response> response =
      co_await post_to_expo("/--/api/v2/push/send", std::move(body), timeout_ms_of(n));
  if (!response) throw response.error();
  if (tokens.size() == 1 || !is_mixed_projects(response->status, response->body)) {
    co_return read_expo_tickets(response->status, response->body, tokens, retry_after_of(*response));
  }
  results out;
  for (const auto& token : tokens) {
    std::vector<std::string> single_token{token};
    results r;
    try {
      r = co_await to_expo(n, single_token);
    } catch (const ry::error& e) {
      if (e.status() == RY_CANCELLED) throw;
      result failed(RY_NOTIFY_PUSH, RY_NOTIFY_RETRY, std::string(expo_provider));
      failed.token = token;
      failed.detail = std::string(e.message());
      r.push_back(std::move(failed));
    }
    out.push_back(std::move(r.front()));
  }
  co_return std::move(out);
}

ry::task<results> sender::follow(std::vector<ry::notify::sent> all) const {
  std::string body = expo_receipt_query(all);
  ry::result<ry::client_response> response =
      co_await post_to_expo("/--/api/v2/push/getReceipts", std::move(body), options_.timeout_ms);
  if (!response) throw response.error();
  co_return read_expo_receipts(response->status, response->body, all);
}

// ---- Web Push ---------------------------------------------------------------------------------

ry::task<results> sender::to_browser(const notification& n, std::string token) const {
  const subscription to = read_subscription(token);
  if (is_withdrawn(to.endpoint)) {
    results gone;
    gone.push_back(web_result(token, RY_NOTIFY_GONE, "the browser withdrew the permission"));
    co_return std::move(gone);
  }
  try {
    check_endpoint(to.endpoint);
  } catch (const ry::error& e) {
    results refused;
    refused.push_back(web_result(token, RY_NOTIFY_REFUSED, std::string(e.message())));
    co_return std::move(refused);
  }
  std::string body = encrypt(to, web_message(n));
  const std::int64_t now = ctx_.now_unix_us() / 1'000'000;
  ry::client_request request("POST", to.endpoint);
  request.header("TTL", std::to_string(ttl_s(n)))
      .header("Urgency", "normal")
      .header("Topic", n.key)
      .header("Content-Encoding", "aes128gcm")
      .header("Authorization",
              options_.vapid->authorization(to.endpoint, options_.vapid_subject, now + vapid_token_lifetime_s))
      .body(std::move(body), "application/octet-stream")
      .total_timeout(timeout_ms_of(n))
      .max_response(64 * 1024)
      .pool_key("notify_push.web")
      .account(n.to.account_id)
      .flags(RY_CLIENT_REPEATABLE);  // a repeated message has the same topic and replaces the first
  ry::result<ry::client_response> response = co_await ctx_.http_client().fetch(std::move(request));
  results out;
  if (!response) {
    if (response.status() == RY_CANCELLED) throw response.error();
    const bool is_permanent = response.status() == RY_PERMISSION_DENIED;
    out.push_back(
        web_result(token, is_permanent ? RY_NOTIFY_REFUSED : RY_NOTIFY_RETRY, std::string(response.error().message())));
    co_return std::move(out);
  }
  const std::uint32_t status = response->status;
  const std::string text = "the push service answered " + std::to_string(status);
  if (status / 100 == 2) {
    out.push_back(web_result(token, RY_NOTIFY_ACCEPTED));
  } else if (status == 404 || status == 410) {
    out.push_back(web_result(token, RY_NOTIFY_GONE, text));
  } else if (is_vapid_key_mismatch(status, response->body, response->header("X-WNS-Error-Description"))) {
    out.push_back(web_result(token, RY_NOTIFY_GONE, text + ": the subscription belongs to another VAPID key"));
  } else if (status == 408 || status == 429 || status >= 500) {
    out.push_back(web_result(token, RY_NOTIFY_RETRY, text));
    out.back().retry_after_s = retry_after_of(*response);
  } else {
    out.push_back(web_result(token, RY_NOTIFY_REFUSED, text));
  }
  co_return std::move(out);
}

}  // namespace notify_push
