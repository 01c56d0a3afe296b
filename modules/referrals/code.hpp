// Referral codes: eight characters that nobody confuses, from the system's random generator.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace referrals {

inline constexpr std::string_view code_alphabet = "ABCDEFGHJKMNPQRSTUVWXYZ23456789";
inline constexpr std::size_t code_length = 8;

std::string make_code();
// Enough of them that one is free.
std::vector<std::string> make_candidates();

// A code as it is stored, from what somebody typed; empty: it cannot be one. Only ASCII letters have
// case here, whatever the locale.
std::string read_code(std::string_view typed);

}  // namespace referrals
