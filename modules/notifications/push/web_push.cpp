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

ry::error wrong(const std::string& what) {
  return ry::bad_request("notify_push.subscription", "device_token: " + what);
}

std::string text_member(const json::object& o, const char* key, const std::string& where) {
  const auto* v = o.if_contains(key);
  if (v == nullptr || !v->is_string()) throw wrong(where + " is missing");
  return std::string(v->get_string());
}

// HKDF (RFC 5869) of one block at most.
std::string expand(std::string_view prk, std::string_view info, std::size_t n) {
  std::string text(info);
  text += '\x01';
  std::string out = hmac_sha256(prk, text);
  out.resize(n);
  return out;
}

std::string encrypted(const subscription& to, std::string_view text, EVP_PKEY* own, std::string_view salt) {
  using namespace std::string_view_literals;
  if (text.size() > max_message_bytes) {
    throw ry::error(RY_OUT_OF_RANGE, "notify_push.too_long", "the message is too long for Web Push");
  }
  const key_ptr theirs = public_key_of(to.p256dh);
  const std::string own_point = point_of(own);
  const std::string first = hmac_sha256(to.auth, agree(own, theirs.get()));
  const std::string keying = expand(first, std::string("WebPush: info\0"sv) + to.p256dh + own_point, 32);
  const std::string prk = hmac_sha256(salt, keying);
  const std::string key = expand(prk, "Content-Encoding: aes128gcm\0"sv, 16);
  const std::string nonce = expand(prk, "Content-Encoding: nonce\0"sv, 12);
  std::string out(salt);
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>((record_bytes >> shift) & 255);
  out += static_cast<char>(own_point.size());
  out += own_point;
  std::string last(text);
  last += '\x02';  // the last record, no padding
  out += encrypt_aes128gcm(key, nonce, last);
  return out;
}

}  // namespace

subscription read_subscription(std::string_view text) {
  json::error_code ec;
  const auto v = json::parse(text, ec);
  if (ec || !v.is_object()) throw wrong("a web-push token is the subscription as JSON");
  const json::object& o = v.get_object();
  subscription s;
  s.endpoint = text_member(o, "endpoint", "endpoint");
  if (s.endpoint.size() > max_endpoint_bytes || origin_of(s.endpoint).empty()) {
    throw wrong("endpoint is not an http or https URL");
  }
  const auto* keys = o.if_contains("keys");
  if (keys == nullptr || !keys->is_object()) throw wrong("keys is missing");
  s.p256dh = from_base64url(text_member(keys->get_object(), "p256dh", "keys.p256dh"));
  s.auth = from_base64url(text_member(keys->get_object(), "auth", "keys.auth"));
  if (s.auth.size() != auth_bytes) throw wrong("keys.auth is not 16 bytes in base64url");
  try {
    (void)public_key_of(s.p256dh);
  } catch (const ry::error& e) {
    if (e.status() != RY_INVALID_ARGUMENT) throw;
    throw wrong("keys.p256dh is not a public key");
  }
  return s;
}

std::string encrypt(const subscription& to, std::string_view text) {
  const key_ptr own = make_key();
  const std::string salt = random_bytes(salt_bytes);
  return encrypted(to, text, own.get(), salt);
}

std::string encrypt(const subscription& to, std::string_view text, std::string_view private_key,
                    std::string_view salt) {
  const key_ptr own = private_key_of(private_key);
  return encrypted(to, text, own.get(), salt);
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
  const std::string mark = to_base64url(sign_es256(static_cast<EVP_PKEY*>(key_.get()), text));
  return "vapid t=" + text + "." + mark + ", k=" + public_;
}

std::string origin_of(std::string_view url) {
  const bool secure = url.starts_with("https://");
  if (!secure && !url.starts_with("http://")) return {};
  for (const char c : url) {
    if (static_cast<unsigned char>(c) <= 0x20 || static_cast<unsigned char>(c) >= 0x7f) return {};
  }
  const std::size_t begin = secure ? 8 : 7;
  std::string_view place = url.substr(begin, url.find_first_of("/?#\\", begin) - begin);
  if (place.empty() || place.front() == ':' || place.find('@') != place.npos) return {};
  const std::string_view usual = secure ? ":443" : ":80";
  if (place.ends_with(usual)) place.remove_suffix(usual.size());
  return std::string(url.substr(0, begin)) + std::string(place);
}

bool is_of_another_key(std::uint32_t status, std::string_view body, std::string_view wns_error) {
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
                  [&](std::string_view one) { return text.find(one) != text.npos; }))
    return true;
  const std::string wns = ry::lower_ascii(wns_error);
  return wns.find("public key") != wns.npos && wns.find("channel") != wns.npos;
}

}  // namespace notify_push
