#include "code.hpp"

#include <sodium.h>

#include <cstdint>

namespace referrals {

std::string make_code() {
  std::string out(code_length, ' ');
  for (char& c : out) {
    c = code_alphabet[randombytes_uniform(static_cast<std::uint32_t>(code_alphabet.size()))];
  }
  return out;
}

std::vector<std::string> make_candidates() {
  std::vector<std::string> out(4);
  for (auto& c : out) c = make_code();
  return out;
}

std::string normalize_code(std::string_view typed) {
  while (!typed.empty() && typed.front() == ' ') typed.remove_prefix(1);
  while (!typed.empty() && typed.back() == ' ') typed.remove_suffix(1);
  if (typed.size() != code_length) return {};
  std::string out;
  for (char c : typed) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 32);
    if (code_alphabet.find(c) == code_alphabet.npos) return {};
    out += c;
  }
  return out;
}

}  // namespace referrals
