// Referral codes: eight random characters of an alphabet without similar characters.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace referrals {

inline constexpr std::string_view code_alphabet = "ABCDEFGHJKMNPQRSTUVWXYZ23456789";
inline constexpr std::size_t code_length = 8;

std::string make_code();
// Returns several codes, because one of them may already exist.
std::vector<std::string> make_candidates();

// Converts typed text to the stored form of a code; empty if it cannot be a code. Converts only ASCII letters to upper
// case, independently of the locale.
std::string normalize_code(std::string_view typed);

}  // namespace referrals
