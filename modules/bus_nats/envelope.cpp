#include "envelope.hpp"

#include <sodium.h>

#include <cstring>

namespace bus_nats {
namespace {

constexpr std::string_view magic = "RYB1";
constexpr std::size_t seal_bytes = 16;
constexpr std::size_t node_at = 4, cursor_at = 20, seal_at = 28, bytes_at = seal_at + seal_bytes;
constexpr char digits[] = "0123456789ABCDEF";

bool is_subject_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

int hex_digit_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::array<unsigned char, 8> big_endian(std::uint64_t n) {
  std::array<unsigned char, 8> out;
  for (std::size_t i = 0; i < 8; ++i) out[i] = static_cast<unsigned char>(n >> (8 * (7 - i)));
  return out;
}

std::array<unsigned char, seal_bytes> seal_of(const seal_key& key, std::string_view topic, std::string_view node,
                                              std::uint64_t cursor, std::string_view bytes) {
  crypto_generichash_state state;
  std::array<unsigned char, seal_bytes> out;
  const auto put = [&](std::string_view part) {
    crypto_generichash_update(&state, reinterpret_cast<const unsigned char*>(part.data()), part.size());
  };
  crypto_generichash_init(&state, key.data(), key.size(), out.size());
  const auto length = big_endian(topic.size()), number = big_endian(cursor);
  crypto_generichash_update(&state, length.data(), length.size());
  put(topic);
  put(node);
  crypto_generichash_update(&state, number.data(), number.size());
  put(bytes);
  crypto_generichash_final(&state, out.data(), out.size());
  return out;
}

template <std::size_t N>
std::string_view text(const std::array<unsigned char, N>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), N};
}

}  // namespace

std::string subject_of(std::string_view prefix, std::string_view topic) {
  std::string out(prefix);
  out += '.';
  for (std::size_t i = 0; i < topic.size(); ++i) {
    const char c = topic[i];
    // A dot separates the tokens of a subject; NATS does not allow empty tokens.
    const bool separates = c == '.' && i > 0 && topic[i - 1] != '.' && i + 1 < topic.size();
    if (is_subject_character(c) || separates) {
      out += c;
    } else {
      out += '=';
      out += digits[static_cast<unsigned char>(c) >> 4];
      out += digits[static_cast<unsigned char>(c) & 15];
    }
  }
  return out;
}

std::string message_subject(std::string_view prefix, std::string_view topic, std::uint64_t number) {
  std::string out = subject_of(prefix, topic);
  out += '.';
  out += std::to_string(number);
  return out;
}

std::optional<std::string> topic_of(std::string_view prefix, std::string_view subject) {
  const std::size_t end = subject.rfind('.');
  if (end == std::string_view::npos || end + 1 == subject.size() ||
      subject.find_first_not_of("0123456789", end + 1) != std::string_view::npos)
    return std::nullopt;
  subject = subject.substr(0, end);
  if (!subject.starts_with(prefix) || subject.size() <= prefix.size() + 1 || subject[prefix.size()] != '.')
    return std::nullopt;
  std::string topic;
  for (std::size_t i = prefix.size() + 1; i < subject.size(); ++i) {
    const char c = subject[i];
    if (c != '=') {
      topic += c;
      continue;
    }
    if (i + 2 >= subject.size()) return std::nullopt;
    const int high = hex_digit_value(subject[i + 1]), low = hex_digit_value(subject[i + 2]);
    if (high < 0 || low < 0) return std::nullopt;
    topic += static_cast<char>(high * 16 + low);
    i += 2;
  }
  if (subject_of(prefix, topic) != subject) return std::nullopt;
  return topic;
}

std::string message_id(const node_id& node, std::string_view topic, std::uint64_t cursor, std::string_view bytes) {
  std::string out;
  if (bytes.empty() && cursor == 0) return out;
  for (const unsigned char c : node) {
    out += digits[c >> 4];
    out += digits[c & 15];
  }
  out += bytes.empty() ? "h" : "b";
  out += std::to_string(cursor);
  out += ':';
  out += subject_of("", topic);
  return out;
}

std::string pack(const seal_key& key, const node_id& node, std::string_view topic, std::uint64_t cursor,
                 std::string_view bytes) {
  const auto seal = seal_of(key, topic, text(node), cursor, bytes);
  const auto number = big_endian(cursor);
  std::string out;
  out.reserve(bytes_at + bytes.size());
  out += magic;
  out += text(node);
  out += text(number);
  out += text(seal);
  out += bytes;
  return out;
}

flaw unpack(const seal_key& key, std::string_view topic, std::string_view packed, message& out) {
  if (packed.size() < bytes_at || !packed.starts_with(magic)) return flaw::malformed;
  std::memcpy(out.node.data(), packed.data() + node_at, out.node.size());
  out.cursor = 0;
  for (std::size_t i = 0; i < 8; ++i) out.cursor = out.cursor << 8 | static_cast<unsigned char>(packed[cursor_at + i]);
  out.bytes = packed.substr(bytes_at);
  const auto seal = seal_of(key, topic, packed.substr(node_at, out.node.size()), out.cursor, out.bytes);
  return sodium_memcmp(seal.data(), packed.data() + seal_at, seal.size()) == 0 ? flaw::none : flaw::forged;
}

}  // namespace bus_nats
