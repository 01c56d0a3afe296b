#include "web_push.hpp"

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <ry/cpp/text.hpp>
#include <ry/cpp/types.hpp>

#include <algorithm>
#include <iterator>

#include "curve.hpp"

namespace notify_push {

namespace json = boost::json;

namespace {

constexpr std::size_t auth_bytes = 16, salt_bytes = 16;
constexpr std::size_t max_endpoint_bytes = 2048;
constexpr std::uint32_t record_bytes = 4096;

ry::error invalid_subscription(const std::string& what) {
  return ry::bad_request("notify_push.subscription", "device_token: " + what);
}

std::string text_member(const json::object& o, const char* key, const std::string& where) {
  const auto* v = o.if_contains(key);
  if (v == nullptr || !v->is_string()) throw invalid_subscription(where + " is missing");
  return std::string(v->get_string());
}

// The expand step of HKDF (RFC 5869); n must be at most 32.
std::string expand(std::string_view prk, std::string_view info, std::size_t n) {
  std::string text(info);
  text += '\x01';
  std::string out = hmac_sha256(prk, text);
  out.resize(n);
  return out;
}

std::string encrypted(const subscription& to, std::string_view text, EVP_PKEY* own_key, std::string_view salt) {
  using namespace std::string_view_literals;
  if (text.size() > max_message_bytes) {
    throw ry::error(RY_OUT_OF_RANGE, "notify_push.too_long", "the message is too long for Web Push");
  }
  const key_ptr peer_key = public_key_of(to.p256dh);
  const std::string own_point = point_of(own_key);
  const std::string auth_mac = hmac_sha256(to.auth, derive_secret(own_key, peer_key.get()));
  const std::string key_material = expand(auth_mac, std::string("WebPush: info\0"sv) + to.p256dh + own_point, 32);
  const std::string prk = hmac_sha256(salt, key_material);
  const std::string key = expand(prk, "Content-Encoding: aes128gcm\0"sv, 16);
  const std::string nonce = expand(prk, "Content-Encoding: nonce\0"sv, 12);
  std::string out(salt);
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>((record_bytes >> shift) & 255);
  out += static_cast<char>(own_point.size());
  out += own_point;
  std::string record(text);
  record += '\x02';  // the last record, no padding
  out += encrypt_aes128gcm(key, nonce, record);
  return out;
}

}  // namespace

subscription read_subscription(std::string_view text) {
  json::error_code ec;
  const auto v = json::parse(text, ec);
  if (ec || !v.is_object()) throw invalid_subscription("a web-push token is the subscription as JSON");
  const json::object& o = v.get_object();
  subscription s;
  s.endpoint = text_member(o, "endpoint", "endpoint");
  if (s.endpoint.size() > max_endpoint_bytes || origin_of(s.endpoint).empty()) {
    throw invalid_subscription("endpoint is not an http or https URL");
  }
  const auto* keys = o.if_contains("keys");
  if (keys == nullptr || !keys->is_object()) throw invalid_subscription("keys is missing");
  s.p256dh = from_base64url(text_member(keys->get_object(), "p256dh", "keys.p256dh"));
  s.auth = from_base64url(text_member(keys->get_object(), "auth", "keys.auth"));
  if (s.auth.size() != auth_bytes) throw invalid_subscription("keys.auth is not 16 bytes in base64url");
  try {
    (void)public_key_of(s.p256dh);
  } catch (const ry::error& e) {
    if (e.status() != RY_INVALID_ARGUMENT) throw;
    throw invalid_subscription("keys.p256dh is not a public key");
  }
  return s;
}

std::string encrypt(const subscription& to, std::string_view text) {
  const key_ptr own_key = make_key();
  const std::string salt = random_bytes(salt_bytes);
  return encrypted(to, text, own_key.get(), salt);
}

std::string encrypt(const subscription& to, std::string_view text, std::string_view private_key,
                    std::string_view salt) {
  const key_ptr own_key = private_key_of(private_key);
  return encrypted(to, text, own_key.get(), salt);
}

vapid_key::vapid_key(std::string scalar, std::string point)
    : private_(to_base64url(scalar)),
      public_(to_base64url(point)),
      key_(private_key_of(scalar).release(), [](void* k) { EVP_PKEY_free(static_cast<EVP_PKEY*>(k)); }) {}

vapid_key vapid_key::read(std::string_view text) {
  const key_ptr key = private_key_of(from_base64url(text));
  return vapid_key(scalar_of(key.get()), point_of(key.get()));
}

vapid_key vapid_key::generate() {
  const key_ptr key = make_key();
  return vapid_key(scalar_of(key.get()), point_of(key.get()));
}

std::string vapid_key::authorization(std::string_view endpoint, std::string_view subject,
                                     std::int64_t expires_unix_s) const {
  const json::object head{{"typ", "JWT"}, {"alg", "ES256"}};
  json::object claims{{"aud", origin_of(endpoint)}, {"exp", expires_unix_s}};
  if (!subject.empty()) claims["sub"] = subject;
  const std::string text = to_base64url(json::serialize(head)) + "." + to_base64url(json::serialize(claims));
  const std::string signature = to_base64url(sign_es256(static_cast<EVP_PKEY*>(key_.get()), text));
  return "vapid t=" + text + "." + signature + ", k=" + public_;
}

std::string origin_of(std::string_view url) {
  const bool is_https = url.starts_with("https://");
  if (!is_https && !url.starts_with("http://")) return {};
  for (const char c : url) {
    if (static_cast<unsigned char>(c) <= 0x20 || static_cast<unsigned char>(c) >= 0x7f) return {};
  }
  const std::size_t begin = is_https ? 8 : 7;
  std::string_view host_and_port = url.substr(begin, url.find_first_of("/?#\\", begin) - begin);
  if (host_and_port.empty() || host_and_port.front() == ':' || host_and_port.find('@') != host_and_port.npos) return {};
  const std::string_view default_port = is_https ? ":443" : ":80";
  if (host_and_port.ends_with(default_port)) host_and_port.remove_suffix(default_port.size());
  return std::string(url.substr(0, begin)) + std::string(host_and_port);
}

bool is_vapid_key_mismatch(std::uint32_t status, std::string_view body, std::string_view wns_error) {
  if (status != 400 && status != 401 && status != 403) return false;
  const std::string text = ry::lower_ascii(body);
  constexpr std::string_view known[] = {
      "do not correspond to the credentials used to create the subscription",  // FCM
      "does not correspond to the sender id used to subscribe",  // FCM, former texts
      "mismatchsenderid",
      "vapid public key mismatch",  // Mozilla autopush
      "vapidpkhashmismatch",  // Apple
  };
  if (std::any_of(std::begin(known), std::end(known),
                  [&](std::string_view known_text) { return text.find(known_text) != text.npos; }))
    return true;
  const std::string wns = ry::lower_ascii(wns_error);
  return wns.find("public key") != wns.npos && wns.find("channel") != wns.npos;
}

}  // namespace notify_push
