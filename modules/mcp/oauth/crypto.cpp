#include "crypto.hpp"

#include <openssl/bio.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <sodium.h>

#include <memory>
#include <ry/cpp/base64.hpp>
#include <ry/cpp/types.hpp>

namespace mcp::oauth {
namespace {

template <auto Free>
struct deleter {
  template <class T>
  void operator()(T* p) const {
    Free(p);
  }
};
using bio = std::unique_ptr<BIO, deleter<BIO_free>>;
using pkey = std::unique_ptr<EVP_PKEY, deleter<EVP_PKEY_free>>;
using md_ctx = std::unique_ptr<EVP_MD_CTX, deleter<EVP_MD_CTX_free>>;
using ecdsa_sig = std::unique_ptr<ECDSA_SIG, deleter<ECDSA_SIG_free>>;

constexpr int coordinate_bytes = 32;  // for P-256
constexpr int min_rsa_bits = 2048;

const unsigned char* bytes_of(std::string_view s) {
  return reinterpret_cast<const unsigned char*>(s.data());
}

// Rejects keys that are protected by a passphrase, because the server cannot ask for one.
int no_passphrase(char*, int, int, void*) {
  return -1;
}

pkey read_key(std::string_view pem) {
  const bio in(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  return pkey(in ? PEM_read_bio_PrivateKey(in.get(), nullptr, &no_passphrase, nullptr) : nullptr);
}

std::string algorithm_of(const EVP_PKEY* key) {
  switch (key != nullptr ? EVP_PKEY_get_base_id(key) : EVP_PKEY_NONE) {
    case EVP_PKEY_RSA:
      return EVP_PKEY_get_bits(key) >= min_rsa_bits ? "RS256" : "";
    case EVP_PKEY_ED25519:
      return "EdDSA";
    case EVP_PKEY_EC: {
      char name[64];
      std::size_t n = 0;
      const bool has_name = EVP_PKEY_get_group_name(key, name, sizeof name, &n) == 1;
      return has_name && std::string_view(name, n) == "prime256v1" ? "ES256" : "";
    }
    default:
      return "";
  }
}

// JWS requires both integers of an ECDSA signature at full length; OpenSSL returns them as DER.
std::string raw_ecdsa(const std::string& der) {
  const unsigned char* p = bytes_of(der);
  const ecdsa_sig sig(d2i_ECDSA_SIG(nullptr, &p, static_cast<long>(der.size())));
  std::string out(2 * coordinate_bytes, '\0');
  auto* to = reinterpret_cast<unsigned char*>(out.data());
  const bool fits = sig && BN_bn2binpad(ECDSA_SIG_get0_r(sig.get()), to, coordinate_bytes) >= 0 &&
                    BN_bn2binpad(ECDSA_SIG_get0_s(sig.get()), to + coordinate_bytes, coordinate_bytes) >= 0;
  return fits ? out : std::string();
}

}  // namespace

std::string base64(std::string_view bytes) {
  return ry::base64_encode(bytes, ry::base64_alphabet::standard, true);
}

std::string base64url(std::string_view bytes) {
  return ry::base64_encode(bytes, ry::base64_alphabet::url, false);
}

std::string random_text() {
  char bytes[32];
  randombytes_buf(bytes, sizeof bytes);
  return base64url({bytes, sizeof bytes});
}

std::string sha256(std::string_view text) {
  std::string out(crypto_hash_sha256_BYTES, '\0');
  crypto_hash_sha256(reinterpret_cast<unsigned char*>(out.data()), bytes_of(text), text.size());
  return out;
}

std::string algorithm_of(std::string_view private_key_pem) {
  return algorithm_of(read_key(private_key_pem).get());
}

std::string signed_jwt(std::string_view header_json, std::string_view claims_json, std::string_view private_key_pem) {
  const auto key = read_key(private_key_pem);
  const auto algorithm = algorithm_of(key.get());
  auto text = base64url(header_json) + "." + base64url(claims_json);
  const auto* digest = algorithm == "EdDSA" ? nullptr : EVP_sha256();
  const md_ctx ctx(EVP_MD_CTX_new());
  std::size_t n = 0;
  std::string signature;
  bool signed_ok = !algorithm.empty() && ctx &&
                   EVP_DigestSignInit(ctx.get(), nullptr, digest, nullptr, key.get()) == 1 &&
                   EVP_DigestSign(ctx.get(), nullptr, &n, bytes_of(text), text.size()) == 1;
  if (signed_ok) {
    signature.resize(n);
    signed_ok = EVP_DigestSign(ctx.get(), reinterpret_cast<unsigned char*>(signature.data()), &n, bytes_of(text),
                               text.size()) == 1;
    signature.resize(n);
  }
  if (signed_ok && algorithm == "ES256") signature = raw_ecdsa(signature);
  if (!signed_ok || signature.empty()) {
    throw ry::bad_request("mcp.oauth", "the private key cannot sign");
  }
  return text + "." + base64url(signature);
}

}  // namespace mcp::oauth
