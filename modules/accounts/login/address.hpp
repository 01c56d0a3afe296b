// Parses e-mail addresses as users type them, and converts them to the form that identifies an account.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace accounts {

struct address {
  // The address to send to: ASCII, an international domain as A-labels, the part before the '@' in the given case.
  std::string text;
  std::string key;  // identifies the mailbox: `text` in lower case
};

// Ignores surrounding white space. nullopt: mail cannot be sent to this address. Before the '@': a dot-atom of ASCII,
// at most 64 bytes (quoted names and other characters are rejected, so that no two accounts look alike). After it: a
// host name by IDNA 2008 with the mappings of UTS 46. At most 254 bytes in total.
std::optional<address> parse_address(std::string_view typed);

// Normalizes an unverified address for accounts.mailbox() in SQL: lower case, with the domain in ASCII (Punycode) if it
// can be converted.
std::string mailbox_text(std::string_view email);

}  // namespace accounts
