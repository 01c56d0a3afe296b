// Sends push messages without an orchestrator: to phones through Expo, to browsers by Web Push. Used by drivers of
// notify.orchestrator/1; lives as long as its driver; every function is [any].
#pragma once

#include <ry/cpp/notify.hpp>

#include <optional>
#include <ry/ry.hpp>
#include <string>
#include <vector>

#include "web_push.hpp"

namespace notify_push {

inline constexpr std::string_view expo_provider = "expo";
inline constexpr std::string_view web_provider = "web-push";

enum class endpoints { https_only, http_too };  // http_too in deployment.mode = local

struct options {
  std::string expo_url = "https://exp.host";  // without a slash at the end
  std::string expo_access_token;  // or empty
  std::optional<vapid_key> vapid;  // nullopt: no Web Push until use() sets a key
  std::string vapid_subject;  // mailto: or https:
  std::vector<std::string> web_push_hosts;  // the permitted push services; empty: every public host
  endpoints allowed = endpoints::https_only;
  std::uint64_t timeout_ms = 15'000;  // for one request
};

class sender {
 public:
  sender(const ry::context& ctx, options o) : ctx_(ctx), options_(std::move(o)) {}

  const std::optional<vapid_key>& vapid() const noexcept { return options_.vapid; }
  // Must be called before any other function.
  void use(vapid_key key) { options_.vapid = std::move(key); }

  // Checks a token and returns the identity of its device: a browser's endpoint, or empty for a phone, because the
  // token itself identifies it. Throws bad_request that names the known providers or the error in the token.
  std::string accepts(const ry::notify::token& t) const;
  // Sends to all devices of the notification at the same time and returns one result per device. Results of Expo have
  // an id for follow(). A repeated Web Push message replaces the first one if that was not shown yet.
  ry::task<ry::notify::results> send(ry::notify::notification n) const;
  // The final results of messages that Expo accepted (provider "expo"), about 15 minutes later. Returns one result per
  // message; throws if Expo does not respond.
  ry::task<ry::notify::results> follow(std::vector<ry::notify::sent> all) const;

 private:
  ry::task<ry::notify::results> to_expo(const ry::notify::notification& n, std::vector<std::string> tokens) const;
  ry::task<ry::notify::results> to_browser(const ry::notify::notification& n, std::string token) const;
  ry::task<ry::result<ry::client_response>> post_to_expo(const char* path, std::string body,
                                                         std::uint64_t timeout_ms) const;
  void check_endpoint(std::string_view url) const;
  std::int64_t ttl_s(const ry::notify::notification& n) const;
  std::uint64_t timeout_ms_of(const ry::notify::notification& n) const;

  const ry::context& ctx_;
  options options_;  // constant except for use()
};

}  // namespace notify_push
