// What may stand on the wire as an address or in a header. libcurl sends both as they are: a line break
// in one of them would be a command of its own.
#pragma once

#include <ry/cpp/types.hpp>

#include <string>
#include <string_view>

namespace mail {

// One bare address of ASCII characters, at most 254 bytes, without quoted local parts or address
// literals. The same rule as mail.address_ok().
bool is_address(std::string_view text) noexcept;

// A header's value of one line: control characters become blanks, text that is not ASCII encoded words
// (RFC 2047) of at most 75 characters, folded. Bytes that are no UTF-8 become question marks.
std::string header_text(std::string_view text);

// `Name <address>` for From; the address alone without a name.
std::string mailbox(std::string_view name, std::string_view address);

// As in "Sat, 21 Nov 2026 08:17:00 +0000".
std::string header_date(std::int64_t unix_s);

}  // namespace mail
