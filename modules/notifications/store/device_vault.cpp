#include "store/device_vault.hpp"

#include <sodium.h>

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <cstring>
#include <optional>
#include <ry/cpp/base64.hpp>

#include "json/members.hpp"

namespace notifications {
namespace {

namespace json = boost::json;

constexpr std::string_view key_context = "notifications.fingerprint";
// Other nodes may add a key at the same time.
constexpr int max_attempts = 5;

std::string device_context(std::string_view provider, std::string_view name_fingerprint) {
  std::string out = "notifications.device:";
  return out.append(provider).append(":").append(name_fingerprint);
}

json::string_view jv(std::string_view s) {
  return {s.data(), s.size()};
}

}  // namespace

device_vault::~device_vault() {
  sodium_memzero(key_.data(), key_.size());
}

ry::task<bool> device_vault::load_newest() {
  const auto rows = (co_await ctx_.db().query("select id, sealed from notifications.fingerprint_key"
                                              " order by id desc limit 100"))
                        .value();
  for (const auto r : rows) {
    const auto opened = ctx_.secrets().open(key_context, r.text("sealed"));
    if (!opened && opened.status() != RY_DATA_LOSS) throw opened.error();
    if (!opened || opened->size() != key_.size()) continue;
    std::memcpy(key_.data(), opened->data(), key_.size());
    key_id_ = r.int64("id");
    co_return true;
  }
  std::optional<std::int64_t> newest;
  if (!rows.empty()) {
    newest = rows.front().int64("id");
    ctx_.log_error("registered devices cannot be decrypted and must register again",
                   ry::error(RY_DATA_LOSS, "notifications.fingerprint",
                             "the key that encrypted them is neither secrets.key nor in secrets.old_keys"));
  }
  std::string new_key(key_.size(), '\0');
  randombytes_buf(new_key.data(), new_key.size());
  const auto sealed = ctx_.secrets().seal(key_context, new_key).value();
  sodium_memzero(new_key.data(), new_key.size());
  (co_await ctx_.db().query("select notifications.add_fingerprint_key($1, $2::bigint)", ry::bytes_view(sealed), newest))
      .value();
  co_return false;
}

ry::task<void> device_vault::load() {
  if (sodium_init() < 0) throw ry::internal("notifications.sodium", "libsodium cannot be initialised");
  for (int i = 0; i < max_attempts; ++i) {
    const bool loaded = co_await load_newest();
    if (loaded) co_return;
  }
  throw ry::error(RY_ABORTED, "notifications.fingerprint", "other nodes added keys of fingerprints at the same time");
}

std::string device_vault::fingerprint(std::string_view text) const {
  if (text.empty()) return {};
  unsigned char hash[32];
  crypto_generichash(hash, sizeof hash, reinterpret_cast<const unsigned char*>(text.data()), text.size(), key_.data(),
                     key_.size());
  char hex[2 * sizeof hash + 1];
  sodium_bin2hex(hex, sizeof hex, hash, sizeof hash);
  return std::string("fp:") + hex;
}

std::string device_vault::approval_token(const ry::uuid& approval) const {
  static_assert(crypto_kdf_KEYBYTES == std::tuple_size_v<decltype(key_)>);
  unsigned char key[32], hash[32];
  crypto_kdf_derive_from_key(key, sizeof key, 1, "approval", key_.data());
  const std::string id = approval.to_string();
  crypto_generichash(hash, sizeof hash, reinterpret_cast<const unsigned char*>(id.data()), id.size(), key, sizeof key);
  sodium_memzero(key, sizeof key);
  return ry::base64_encode({reinterpret_cast<const char*>(hash), sizeof hash}, ry::base64_alphabet::url, false);
}

std::string device_vault::seal(std::string_view provider, std::string_view name_fingerprint,
                               const device_secret& device) const {
  const json::object plain{{"name", jv(device.name)}, {"token", jv(device.token)}};
  return ctx_.secrets().seal(device_context(provider, name_fingerprint), json::serialize(plain)).value();
}

ry::result<device_secret> device_vault::open(std::string_view provider, std::string_view name_fingerprint,
                                             std::string_view sealed) const {
  const auto plain = ctx_.secrets().open(device_context(provider, name_fingerprint), sealed);
  if (!plain) return plain.error();
  json::error_code bad;
  const auto doc = json::parse(jv(*plain), bad);
  if (bad || !doc.is_object()) return ry::error(RY_DATA_LOSS, "notifications.device", "a sealed device is damaged");
  return device_secret{module_json::text_of(doc.get_object(), "name"), module_json::text_of(doc.get_object(), "token")};
}

}  // namespace notifications
