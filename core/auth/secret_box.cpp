#include "core/auth/secret_box.hpp"

#include <sodium.h>

#include <cstring>
#include <ry/cpp/base64.hpp>
#include <stdexcept>

#include "core/auth/key_file.hpp"
#include "core/auth/octets.hpp"

namespace ry::auth {
namespace {

constexpr std::string_view magic("RYS\x01", 4);
constexpr std::size_t id_bytes = 8;
constexpr std::size_t header_bytes = 4 + id_bytes;
constexpr std::size_t nonce_bytes = crypto_aead_xchacha20poly1305_ietf_NPUBBYTES;
constexpr std::size_t tag_bytes = crypto_aead_xchacha20poly1305_ietf_ABYTES;

bool read_key(std::string_view text, std::array<unsigned char, 32>& out) {
  std::size_t n = 0;
  const char* end = nullptr;
  if (text.size() == 64 && sodium_hex2bin(out.data(), out.size(), text.data(), text.size(), nullptr, &n, &end) == 0) {
    return n == out.size() && end == text.data() + text.size();
  }
  bool usable = false;
  for (const auto alphabet : {base64_alphabet::standard, base64_alphabet::url}) {
    auto bytes = base64_decode(text, alphabet, base64_padding::optional);
    if (!bytes) continue;
    if (bytes->size() == out.size()) {
      std::memcpy(out.data(), bytes->data(), out.size());
      usable = true;
    }
    sodium_memzero(bytes->data(), bytes->size());
  }
  return usable;
}

std::string aad(std::string_view header, std::string_view context) {
  std::string out;  // the header has a fixed length: no two pairs give the same text
  out.reserve(header.size() + context.size());
  return out.append(header).append(context);
}

std::string new_key_line() {
  std::array<unsigned char, 32> key;
  randombytes_buf(key.data(), key.size());
  const std::string_view bytes(reinterpret_cast<const char*>(key.data()), key.size());
  std::string text = base64_encode(bytes, base64_alphabet::standard, true);
  sodium_memzero(key.data(), key.size());
  text += '\n';
  return text;
}

}  // namespace

secret_box::secret_box(const std::vector<std::string>& keys, const std::filesystem::path& data_dir) {
  if (sodium_init() < 0) throw std::runtime_error("libsodium cannot be initialised");
  if (!keys.empty()) {
    for (std::size_t i = 0; i < keys.size(); ++i) {
      add(keys[i], "key " + std::to_string(i + 1) + " of the configuration");
    }
    return;
  }
  const auto path = data_dir / "secrets.key";
  std::string text = load_or_make_key_file(path, new_key_line);
  std::string_view rest = text;
  for (int line = 1; !rest.empty(); ++line) {
    const auto end = rest.find('\n');
    auto one = rest.substr(0, end);
    rest = end == rest.npos ? std::string_view() : rest.substr(end + 1);
    if (const auto from = one.find_first_not_of(" \t\r"); from == one.npos || one[from] == '#') {
      continue;
    } else {
      one = one.substr(from, one.find_last_not_of(" \t\r") - from + 1);
    }
    add(one, "key file " + path.string() + " line " + std::to_string(line));
  }
  sodium_memzero(text.data(), text.size());
  if (keys_.empty()) throw std::runtime_error("key file " + path.string() + ": contains no key");
}

bool secret_box::usable_key(std::string_view text) noexcept {
  std::array<unsigned char, 32> bytes;
  const bool usable = sodium_init() >= 0 && read_key(text, bytes);
  sodium_memzero(bytes.data(), bytes.size());
  return usable;
}

secret_box::~secret_box() {
  for (auto& k : keys_) sodium_memzero(k.bytes.data(), k.bytes.size());
}

void secret_box::add(std::string_view text, std::string_view where) {
  key k;
  if (!read_key(text, k.bytes)) {
    throw std::runtime_error(std::string(where) + ": a key is 32 bytes, as 64 hex digits or as base64");
  }
  std::array<unsigned char, crypto_generichash_BYTES_MIN> hash;
  crypto_generichash(hash.data(), hash.size(), k.bytes.data(), k.bytes.size(), nullptr, 0);
  std::memcpy(k.id.data(), hash.data(), k.id.size());
  keys_.push_back(k);
}

std::string secret_box::seal(std::string_view context, std::string_view plain) const {
  const auto& k = keys_.front();
  std::string out(header_bytes + nonce_bytes + plain.size() + tag_bytes, '\0');
  std::memcpy(out.data(), magic.data(), magic.size());
  std::memcpy(out.data() + magic.size(), k.id.data(), id_bytes);
  unsigned char* nonce = octets(out) + header_bytes;
  randombytes_buf(nonce, nonce_bytes);
  const auto bound = aad(std::string_view(out).substr(0, header_bytes), context);
  crypto_aead_xchacha20poly1305_ietf_encrypt(nonce + nonce_bytes, nullptr, octets(plain), plain.size(),
                                             octets(std::string_view(bound)), bound.size(), nullptr, nonce,
                                             k.bytes.data());
  return out;
}

std::optional<std::string> secret_box::open(std::string_view context, std::string_view sealed) const {
  if (sealed.size() < header_bytes + nonce_bytes + tag_bytes || sealed.substr(0, magic.size()) != magic) {
    return std::nullopt;
  }
  const auto id = sealed.substr(magic.size(), id_bytes);
  const auto bound = aad(sealed.substr(0, header_bytes), context);
  const auto nonce = sealed.substr(header_bytes, nonce_bytes);
  const auto cipher = sealed.substr(header_bytes + nonce_bytes);
  for (const auto& k : keys_) {
    if (std::string_view(k.id.data(), k.id.size()) != id) continue;
    std::string plain(cipher.size() - tag_bytes, '\0');
    if (crypto_aead_xchacha20poly1305_ietf_decrypt(octets(plain), nullptr, nullptr, octets(cipher), cipher.size(),
                                                   octets(std::string_view(bound)), bound.size(), octets(nonce),
                                                   k.bytes.data()) == 0) {
      return plain;
    }
  }
  return std::nullopt;
}

bool secret_box::is_stale(std::string_view sealed) const {
  const auto& id = keys_.front().id;
  return sealed.size() < header_bytes ||
         sealed.substr(magic.size(), id_bytes) != std::string_view(id.data(), id.size());
}

}  // namespace ry::auth
