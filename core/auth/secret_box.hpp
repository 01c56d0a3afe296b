// Encryption at rest with the deployment's key: XChaCha20-Poly1305 of libsodium.
//
// A sealed text is: "RYS" 0x01 | key id (8 bytes) | nonce (24 bytes) | ciphertext and tag. The
// header and the context are authenticated with it. The key id identifies the key that sealed
// it, for rotation.
#pragma once

#include <ry/if/secrets.h>

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ry::auth {

class secret_box {
 public:
  // `keys`: the current one and older ones, each 32 bytes as 64 hex digits or base64 (either alphabet); the first one
  // seals, all of them open. Empty: the keys in data_dir/secrets.key, one per line in the same order; a missing file is
  // created. Throws std::runtime_error with a message that contains no key.
  secret_box(const std::vector<std::string>& keys, const std::filesystem::path& data_dir);
  secret_box(const secret_box&) = delete;
  secret_box& operator=(const secret_box&) = delete;
  ~secret_box();
  static bool usable_key(std::string_view text) noexcept;

  // [any]
  std::string seal(std::string_view context, std::string_view plain) const;
  // nullopt: damaged, sealed for another context, or with an unknown key. [any]
  std::optional<std::string> open(std::string_view context, std::string_view sealed) const;
  // True if a key other than the first one sealed it: seal it again to retire the old key. [any]
  bool is_stale(std::string_view sealed) const;

 private:
  struct key {
    std::array<unsigned char, 32> bytes;
    std::array<char, 8> id;
  };
  void add(std::string_view text, std::string_view where);

  std::vector<key> keys_;
};

// The ABI table of ry.secrets/1. Its functions find the box through host->rt. [any]
const ry_secrets_v1& secrets_v1() noexcept;

}  // namespace ry::auth
