#include <sodium.h>

#include <algorithm>

#include "types.hpp"

namespace accounts {
namespace {

constexpr std::size_t id_digits = 16;
constexpr std::size_t secret_digits = 64;

bool is_hex(std::string_view s) {
  return std::all_of(s.begin(), s.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

std::string random_hex(std::size_t digits) {
  unsigned char raw[secret_digits / 2];
  randombytes_buf(raw, digits / 2);
  std::string out(digits + 1, '\0');
  sodium_bin2hex(out.data(), out.size(), raw, digits / 2);
  sodium_memzero(raw, sizeof raw);
  out.pop_back();
  return out;
}

}  // namespace

std::string session_of_key(std::string_view id) {
  return "api_key:" + std::string(id);
}

bool is_api_key_id(std::string_view text) {
  return text.size() == id_digits && is_hex(text);
}

std::optional<api_key> parse_api_key(std::string_view text) {
  if (text.substr(0, api_key_prefix.size()) != api_key_prefix) return std::nullopt;
  text.remove_prefix(api_key_prefix.size());
  if (text.size() != id_digits + 1 + secret_digits || text[id_digits] != '_') return std::nullopt;
  const auto id = text.substr(0, id_digits);
  const auto secret = text.substr(id_digits + 1);
  if (!is_hex(id) || !is_hex(secret)) return std::nullopt;
  return api_key{std::string(id), std::string(secret)};
}

api_key make_api_key() {
  if (sodium_init() < 0) throw ry::internal("accounts.sodium", "libsodium cannot be initialised");
  return {random_hex(id_digits), random_hex(secret_digits)};
}

std::string hash_secret(std::string_view secret) {
  std::string out(crypto_hash_sha256_BYTES, '\0');
  crypto_hash_sha256(reinterpret_cast<unsigned char*>(out.data()),
                     reinterpret_cast<const unsigned char*>(secret.data()), secret.size());
  return out;
}

bool same_hash(std::string_view a, std::string_view b) {
  return a.size() == b.size() && sodium_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace accounts
