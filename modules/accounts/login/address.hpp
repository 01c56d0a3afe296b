// E-mail addresses as people type them, in the one form by which accounts are told apart.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace accounts {

struct address {
  std::string text;  // to send to: ASCII, an international domain as A-labels; case as typed before the '@'
  std::string key;  // equal for all forms of one mailbox: `text` in lower case
};

// Blanks around it are ignored. nullopt: no address that mail can be sent to. Before the '@': a
// dot-atom of ASCII, at most 64 bytes (quoted names and other letters are refused, so that no two
// accounts look alike); after it a host name, by IDNA 2008 with the mappings of UTS 46; 254 bytes
// in all.
std::optional<address> parse_address(std::string_view typed);

// Normalises an unverified address for accounts.mailbox() in SQL: lower case, with the domain in ASCII (Punycode) if it can
// be converted.
std::string mailbox_text(std::string_view email);

}  // namespace accounts
