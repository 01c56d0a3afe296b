#include "curve.hpp"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/hmac.h>
#include <openssl/param_build.h>
#include <openssl/rand.h>

#include <ry/cpp/base64.hpp>
#include <ry/cpp/types.hpp>

namespace notify_push {
namespace {

constexpr std::size_t scalar_bytes = 32, point_bytes = 65, tag_bytes = 16;
constexpr const char* curve = "prime256v1";

template <auto F>
struct deleter {
  template <class T>
  void operator()(T* p) const noexcept {
    F(p);
  }
};
using ctx_ptr = std::unique_ptr<EVP_PKEY_CTX, deleter<EVP_PKEY_CTX_free>>;
using bn_ptr = std::unique_ptr<BIGNUM, deleter<BN_clear_free>>;
using group_ptr = std::unique_ptr<EC_GROUP, deleter<EC_GROUP_free>>;
using ec_point_ptr = std::unique_ptr<EC_POINT, deleter<EC_POINT_free>>;
using builder_ptr = std::unique_ptr<OSSL_PARAM_BLD, deleter<OSSL_PARAM_BLD_free>>;
using params_ptr = std::unique_ptr<OSSL_PARAM, deleter<OSSL_PARAM_free>>;

void check_openssl(bool ok, const char* what) {
  if (!ok) throw ry::internal("notify_push.openssl", std::string("OpenSSL failed: ") + what);
}
const unsigned char* in(std::string_view s) {
  return reinterpret_cast<const unsigned char*>(s.data());
}
unsigned char* out(std::string& s) {
  return reinterpret_cast<unsigned char*>(s.data());
}

key_ptr from_data(OSSL_PARAM* params, int selection) {
  const ctx_ptr ctx(EVP_PKEY_CTX_new_from_name(nullptr, "EC", nullptr));
  EVP_PKEY* raw = nullptr;
  check_openssl(ctx && EVP_PKEY_fromdata_init(ctx.get()) == 1, "fromdata_init");
  if (EVP_PKEY_fromdata(ctx.get(), &raw, selection, params) != 1) {
    throw ry::bad_request("notify_push.key", "the key is not a point on the curve P-256");
  }
  return key_ptr(raw);
}

}  // namespace

key_ptr make_key() {
  key_ptr key(EVP_EC_gen(curve));
  check_openssl(key != nullptr, "EC_gen");
  return key;
}

key_ptr private_key_of(std::string_view scalar) {
  if (scalar.size() != scalar_bytes) {
    throw ry::bad_request("notify_push.key", "the private key must have 32 bytes");
  }
  const group_ptr group(EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1));
  const bn_ptr d(BN_bin2bn(in(scalar), static_cast<int>(scalar.size()), nullptr));
  check_openssl(group && d, "EC_GROUP");
  if (BN_is_zero(d.get()) || BN_cmp(d.get(), EC_GROUP_get0_order(group.get())) >= 0) {
    throw ry::bad_request("notify_push.key", "the private key is out of range");
  }
  const ec_point_ptr p(EC_POINT_new(group.get()));
  check_openssl(p && EC_POINT_mul(group.get(), p.get(), d.get(), nullptr, nullptr, nullptr) == 1, "EC_POINT_mul");
  std::string point(point_bytes, '\0');
  check_openssl(EC_POINT_point2oct(group.get(), p.get(), POINT_CONVERSION_UNCOMPRESSED, out(point), point.size(),
                                   nullptr) == point_bytes,
                "point2oct");
  const builder_ptr build(OSSL_PARAM_BLD_new());
  check_openssl(
      build && OSSL_PARAM_BLD_push_utf8_string(build.get(), OSSL_PKEY_PARAM_GROUP_NAME, curve, 0) == 1 &&
          OSSL_PARAM_BLD_push_BN(build.get(), OSSL_PKEY_PARAM_PRIV_KEY, d.get()) == 1 &&
          OSSL_PARAM_BLD_push_octet_string(build.get(), OSSL_PKEY_PARAM_PUB_KEY, point.data(), point.size()) == 1,
      "params");
  const params_ptr params(OSSL_PARAM_BLD_to_param(build.get()));
  return from_data(params.get(), EVP_PKEY_KEYPAIR);
}

key_ptr public_key_of(std::string_view point) {
  if (point.size() != point_bytes || point.front() != '\x04') {
    throw ry::bad_request("notify_push.key", "the key is not an uncompressed point on the curve P-256");
  }
  const builder_ptr build(OSSL_PARAM_BLD_new());
  check_openssl(
      build && OSSL_PARAM_BLD_push_utf8_string(build.get(), OSSL_PKEY_PARAM_GROUP_NAME, curve, 0) == 1 &&
          OSSL_PARAM_BLD_push_octet_string(build.get(), OSSL_PKEY_PARAM_PUB_KEY, point.data(), point.size()) == 1,
      "params");
  const params_ptr params(OSSL_PARAM_BLD_to_param(build.get()));
  return from_data(params.get(), EVP_PKEY_PUBLIC_KEY);
}

std::string scalar_of(EVP_PKEY* key) {
  BIGNUM* raw = nullptr;
  check_openssl(EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_PRIV_KEY, &raw) == 1, "private key");
  const bn_ptr d(raw);
  std::string bytes(scalar_bytes, '\0');
  check_openssl(BN_bn2binpad(d.get(), out(bytes), static_cast<int>(bytes.size())) == static_cast<int>(scalar_bytes),
                "bn2bin");
  return bytes;
}

std::string point_of(EVP_PKEY* key) {
  std::string bytes(point_bytes, '\0');
  std::size_t len = 0;
  check_openssl(EVP_PKEY_get_octet_string_param(key, OSSL_PKEY_PARAM_PUB_KEY, out(bytes), bytes.size(), &len) == 1 &&
                    len == point_bytes,
                "public key");
  return bytes;
}

std::string derive_secret(EVP_PKEY* own, EVP_PKEY* peer) {
  const ctx_ptr ctx(EVP_PKEY_CTX_new(own, nullptr));
  std::string secret(scalar_bytes, '\0');
  std::size_t len = secret.size();
  check_openssl(ctx && EVP_PKEY_derive_init(ctx.get()) == 1 && EVP_PKEY_derive_set_peer(ctx.get(), peer) == 1 &&
                    EVP_PKEY_derive(ctx.get(), out(secret), &len) == 1 && len == scalar_bytes,
                "derive");
  return secret;
}

std::string sign_es256(EVP_PKEY* key, std::string_view s) {
  const std::unique_ptr<EVP_MD_CTX, deleter<EVP_MD_CTX_free>> ctx(EVP_MD_CTX_new());
  std::string der(128, '\0');
  std::size_t len = der.size();
  check_openssl(ctx && EVP_DigestSignInit(ctx.get(), nullptr, EVP_sha256(), nullptr, key) == 1 &&
                    EVP_DigestSign(ctx.get(), out(der), &len, in(s), s.size()) == 1,
                "sign");
  const unsigned char* at = in(der);
  const std::unique_ptr<ECDSA_SIG, deleter<ECDSA_SIG_free>> sig(d2i_ECDSA_SIG(nullptr, &at, static_cast<long>(len)));
  std::string raw(2 * scalar_bytes, '\0');
  check_openssl(sig && BN_bn2binpad(ECDSA_SIG_get0_r(sig.get()), out(raw), scalar_bytes) > 0 &&
                    BN_bn2binpad(ECDSA_SIG_get0_s(sig.get()), out(raw) + scalar_bytes, scalar_bytes) > 0,
                "signature");
  return raw;
}

std::string hmac_sha256(std::string_view key, std::string_view s) {
  std::string mac(32, '\0');
  check_openssl(
      HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), in(s), s.size(), out(mac), nullptr) != nullptr,
      "HMAC");
  return mac;
}

std::string encrypt_aes128gcm(std::string_view key, std::string_view nonce, std::string_view plain) {
  const std::unique_ptr<EVP_CIPHER_CTX, deleter<EVP_CIPHER_CTX_free>> ctx(EVP_CIPHER_CTX_new());
  std::string text(plain.size() + tag_bytes, '\0');
  int len = 0, rest = 0;
  check_openssl(ctx && EVP_EncryptInit_ex(ctx.get(), EVP_aes_128_gcm(), nullptr, in(key), in(nonce)) == 1 &&
                    EVP_EncryptUpdate(ctx.get(), out(text), &len, in(plain), static_cast<int>(plain.size())) == 1 &&
                    EVP_EncryptFinal_ex(ctx.get(), out(text) + len, &rest) == 1 &&
                    EVP_CIPHER_CTX_ctrl(ctx.get(), EVP_CTRL_GCM_GET_TAG, tag_bytes, text.data() + plain.size()) == 1,
                "AES-128-GCM");
  return text;
}

std::string random_bytes(std::size_t n) {
  std::string bytes(n, '\0');
  check_openssl(RAND_bytes(out(bytes), static_cast<int>(n)) == 1, "RAND_bytes");
  return bytes;
}

std::string to_base64url(std::string_view bytes) {
  return ry::base64_encode(bytes, ry::base64_alphabet::url, false);
}

std::string from_base64url(std::string_view text) {
  while (text.ends_with('=')) text.remove_suffix(1);
  const bool standard = text.find_first_of("+/") != text.npos;
  return ry::base64_decode(text, standard ? ry::base64_alphabet::standard : ry::base64_alphabet::url,
                           ry::base64_padding::none)
      .value_or("");
}

}  // namespace notify_push
