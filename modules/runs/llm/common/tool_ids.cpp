#include "tool_ids.hpp"

#include <algorithm>

namespace llm {

namespace {

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// An id such as "call_1", which this server assigned because the provider sent none.
bool is_placeholder_id(std::string_view id) {
  constexpr std::string_view prefix = "call_";
  if (!id.starts_with(prefix) || id.size() > prefix.size() + 3) return false;
  id.remove_prefix(prefix.size());
  return !id.empty() && std::all_of(id.begin(), id.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

std::string short_hash(std::string_view text, std::uint64_t salt, std::size_t digits) {
  constexpr std::string_view alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  std::uint64_t h = 14695981039346656037ull ^ (salt * 0x9e3779b97f4a7c15ull);
  for (const char c : text) h = (h ^ static_cast<std::uint8_t>(c)) * 1099511628211ull;
  h = (h ^ h >> 32) * 0xd6e8feb86659fd93ull;
  h ^= h >> 32;
  std::string out;
  for (std::size_t i = 0; i < digits; ++i, h /= alphabet.size()) out += alphabet[h % alphabet.size()];
  return out;
}

bool is_valid_id(std::string_view id, id_form form) {
  switch (form) {
    case id_form::anthropic:
      return !id.empty() && id.size() <= 64 &&
             std::all_of(id.begin(), id.end(), [](char c) { return is_letter_or_digit(c) || c == '_' || c == '-'; });
    case id_form::compatible:
      if (is_placeholder_id(id)) return false;
      [[fallthrough]];
    case id_form::openai:
      return !id.empty() && id.size() <= 40 &&
             std::all_of(id.begin(), id.end(), [](char c) { return c > 0x20 && c < 0x7f; });
    case id_form::mistral:
      return id.size() == 9 && std::all_of(id.begin(), id.end(), is_letter_or_digit);
  }
  return false;
}

std::string id_allocator::next(std::string_view stored) {
  constexpr std::size_t digits = 9;
  std::string id(stored);
  for (std::uint64_t salt = 0; !is_valid_id(id, form_) || used_.contains(id); ++salt)
    id = short_hash(stored, salt, digits);
  used_.insert(id);
  return id;
}

}  // namespace llm
