// The stored form of device names and tokens: sealed with the deployment's key, and identified by fingerprints (keyed
// BLAKE2b), whose key is sealed as well.
//
// Thread: any, after load(). Lifetime: as long as the module. Errors: throws ry::error; open() returns it (RY_DATA_LOSS: sealed
// with another key, or damaged).
#pragma once

#include <ry/ry.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace notifications {

// name: the identity of the device if its token can be written in several ways; otherwise the token.
struct device_secret {
  std::string name, token;
};

class device_vault {
 public:
  explicit device_vault(const ry::context& ctx) : ctx_(ctx) {}
  ~device_vault();
  device_vault(const device_vault&) = delete;
  device_vault& operator=(const device_vault&) = delete;

  // Reads the key of the fingerprints; creates one if there is none that the deployment's key decrypts. Call it once,
  // before the other functions.
  ry::task<void> load();

  std::int64_t fingerprint_key() const noexcept { return key_id_; }
  // Returns "fp:" and 64 hexadecimal digits; an empty text for an empty text.
  std::string fingerprint(std::string_view text) const;
  // The token of the link of an approval: always the same for one approval and key, so that a repeated request to a driver
  // has the same content. It cannot be computed from fingerprints.
  std::string approval_token(const ry::uuid& approval) const;
  // name_fingerprint: the stored one, which may have been computed with another key.
  std::string seal(std::string_view provider, std::string_view name_fingerprint, const device_secret& device) const;
  ry::result<device_secret> open(std::string_view provider, std::string_view name_fingerprint,
                                 std::string_view sealed) const;

 private:
  ry::task<bool> load_newest();

  const ry::context& ctx_;
  std::int64_t key_id_ = 0;
  std::array<unsigned char, 32> key_{};
};

}  // namespace notifications
