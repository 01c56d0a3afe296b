#include "webhook_signature.hpp"

#include <sodium.h>

#include <algorithm>
#include <charconv>
#include <ry/cpp/base64.hpp>

namespace standard_webhooks {
namespace {

constexpr std::size_t max_id = 256;
constexpr std::size_t max_signatures = 4096;  // size limit of the header in bytes

std::optional<std::string> from_base64(std::string_view text, std::size_t max_bytes) {
  if (text.size() > (max_bytes + 2) / 3 * 4) return std::nullopt;
  auto out = ry::base64_decode(text, ry::base64_alphabet::standard, ry::base64_padding::required);
  if (out && out->size() > max_bytes) return std::nullopt;
  return out;
}

// Accepts digits only: no sign, spaces or trailing characters.
std::optional<std::int64_t> seconds(std::string_view text) {
  std::int64_t out = 0;
  if (text.empty() || text.size() > 12 || text.front() < '0' || text.front() > '9') return std::nullopt;
  const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (ec != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return out;
}

std::string to_base64(std::string_view bytes) {
  return ry::base64_encode(bytes, ry::base64_alphabet::standard, true);
}

std::string sign(std::string_view key, std::string_view id, std::string_view at, std::string_view body) {
  crypto_auth_hmacsha256_state st;
  crypto_auth_hmacsha256_init(&st, reinterpret_cast<const unsigned char*>(key.data()), key.size());
  for (const std::string_view part : {id, std::string_view("."), at, std::string_view("."), body}) {
    crypto_auth_hmacsha256_update(&st, reinterpret_cast<const unsigned char*>(part.data()), part.size());
  }
  std::string mac(crypto_auth_hmacsha256_BYTES, '\0');
  crypto_auth_hmacsha256_final(&st, reinterpret_cast<unsigned char*>(mac.data()));
  return mac;
}

}  // namespace

std::optional<std::string> read_secret(std::string_view text) {
  constexpr std::string_view version = "v1,", prefix = "whsec_";
  if (text.substr(0, version.size()) == version) text.remove_prefix(version.size());
  if (text.substr(0, prefix.size()) != prefix) return std::nullopt;
  auto key = from_base64(text.substr(prefix.size()), 64);
  if (!key || key->size() < 24) return std::nullopt;
  return key;
}

std::string signature(std::string_view key, std::string_view id, std::int64_t timestamp_unix_s, std::string_view body) {
  return "v1," + to_base64(sign(key, id, std::to_string(timestamp_unix_s), body));
}

std::optional<std::string> verified(const std::vector<std::string>& keys, const header_fn& header,
                                    std::string_view body, std::int64_t now_unix_s) {
  const std::string family = header("webhook-id").empty() ? "svix-" : "webhook-";
  const auto id = header(family + "id");
  const auto at = header(family + "timestamp");
  auto list = header(family + "signature");
  if (id.empty() || id.size() > max_id || id.find('.') != id.npos) return std::nullopt;
  if (list.empty() || list.size() > max_signatures) return std::nullopt;
  const auto timestamp = seconds(at);
  if (!timestamp || std::max(*timestamp, now_unix_s) - std::min(*timestamp, now_unix_s) > window_s) {
    return std::nullopt;
  }
  bool matches = false;
  while (!list.empty()) {
    const auto end = std::min(list.find(' '), list.size());
    const auto one = list.substr(0, end);
    list.remove_prefix(std::min(end + 1, list.size()));
    if (one.substr(0, 3) != "v1,") continue;
    const auto mac = from_base64(one.substr(3), crypto_auth_hmacsha256_BYTES);
    if (!mac || mac->size() != crypto_auth_hmacsha256_BYTES) continue;
    for (const auto& key : keys) {
      const auto expected = sign(key, id, at, body);
      matches |= sodium_memcmp(expected.data(), mac->data(), expected.size()) == 0;
    }
  }
  if (!matches) return std::nullopt;
  return std::string(id);
}

}  // namespace standard_webhooks
