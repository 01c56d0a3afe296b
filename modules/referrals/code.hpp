// Referral codes: eight characters that are hard to confuse, from the system's random generator.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace referrals {

inline constexpr std::string_view code_alphabet = "ABCDEFGHJKMNPQRSTUVWXYZ23456789";
inline constexpr std::size_t code_length = 8;

std::string make_code();
// Enough candidates that one is free.
std::vector<std::string> make_candidates();

// Converts typed text to the stored form of a code; empty: it cannot be a code. Only ASCII letters have case here,
// whatever the locale.
std::string read_code(std::string_view typed);

}  // namespace referrals
