// Web Push without I/O: subscriptions of browsers, messages encrypted for them (RFC 8291, one record of aes128gcm), and
// the sender's authentication (VAPID, RFC 8292). Every function is [any]; some throw ry::error, as documented.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace notify_push {

// The JSON that a browser provides: {"endpoint": URL, "keys": {"p256dh", "auth"}}.
struct subscription {
  std::string endpoint;
  std::string p256dh;  // 65 bytes: an uncompressed point
  std::string auth;  // 16 bytes
};

// Throws bad_request that names the missing or invalid member. Checks that the point is on the curve.
subscription read_subscription(std::string_view json_text);

// The longest text, in bytes, that fits into one message.
inline constexpr std::size_t max_message_bytes = 3993;

// The body of the request: content coding aes128gcm. Throws RY_OUT_OF_RANGE if `text` is too long.
std::string encrypt(const subscription& to, std::string_view text);

// For tests: encrypts with the given private key and salt.
std::string encrypt(const subscription& to, std::string_view text, std::string_view private_key, std::string_view salt);

// The key pair that identifies this server to push services; immutable.
class vapid_key {
 public:
  // `text`: the private key, 32 bytes in base64url. Throws bad_request.
  static vapid_key read(std::string_view text);
  static vapid_key generate();

  const std::string& private_text() const noexcept { return private_; }  // secret
  // The applicationServerKey for pushManager.subscribe: base64url.
  const std::string& public_text() const noexcept { return public_; }
  // The value of Authorization for one endpoint. subject: mailto: or https:, the contact. expires: within 24 h.
  std::string authorization(std::string_view endpoint, std::string_view subject, std::int64_t expires_unix_s) const;

 private:
  vapid_key(std::string scalar, std::string point);
  std::string private_, public_;
  std::shared_ptr<void> key_;
};

// Whether a push service refused the message because the subscription belongs to another VAPID key, as after the key
// was replaced. Such a subscription never works again. Only the known texts of FCM, Mozilla, Apple and WNS count
// (wns_error: the header X-WNS-Error-Description), because any other 403 may come from a proxy and be temporary.
bool is_vapid_key_mismatch(std::uint32_t status, std::string_view body, std::string_view wns_error = {});

// Scheme, host and port of a URL, as in the token's aud; empty if it is not a URL.
std::string origin_of(std::string_view url);

}  // namespace notify_push
