#include "chat_id.hpp"

#include <sodium.h>

namespace aisdk {
namespace {

ry::uuid hashed_id(const ry::uuid& account, std::string_view kind, std::string_view chat) {
  crypto_generichash_state state;
  ry::uuid out;
  crypto_generichash_init(&state, nullptr, 0, sizeof out.bytes);
  const auto add = [&state](std::string_view s) {
    crypto_generichash_update(&state, reinterpret_cast<const unsigned char*>(s.data()), s.size());
  };
  // All parts before the chat id have a fixed length, so different inputs never have the same concatenation.
  add("aisdk");
  add(kind);
  crypto_generichash_update(&state, account.bytes, sizeof account.bytes);
  add(chat);
  crypto_generichash_final(&state, out.bytes, sizeof out.bytes);
  // UUID version 8 (RFC 9562): the application defines the bits.
  out.bytes[6] = static_cast<std::uint8_t>((out.bytes[6] & 0x0f) | 0x80);
  out.bytes[8] = static_cast<std::uint8_t>((out.bytes[8] & 0x3f) | 0x80);
  return out;
}

}  // namespace

chat_ids ids_of_chat(const ry::uuid& account, std::string_view chat) {
  return {hashed_id(account, "thrd", chat), hashed_id(account, "proj", chat)};
}

}  // namespace aisdk
