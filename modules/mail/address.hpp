// What may stand on the wire as an address or in a header. libcurl sends both as they are: a line break
// in one of them would be a command of its own.
#pragma once

#include <ry/cpp/types.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace mail {

// One bare address of at most 254 bytes, without quoted local parts or address literals: ASCII or UTF-8 before the @ (RFC 6531),
// a domain in any form behind it. mail.address_ok() takes at least these.
bool is_address(std::string_view text);

// The address with its domain in ASCII (IDNA 2008); nullopt: it is not valid.
std::optional<std::string> on_the_wire(std::string_view address);

// Whether the domain of a valid address can receive mail from the internet: not a single label, and not below a top-level domain that is
// reserved for other purposes (RFC 2606, RFC 6761, RFC 6762).
bool is_on_the_internet(std::string_view address);

// Whether it has UTF-8 before the @: only for relays that offer SMTPUTF8.
bool needs_smtputf8(std::string_view address) noexcept;

// A header's value of one line: control characters become blanks, text that is not ASCII encoded words
// (RFC 2047) of at most 75 characters, folded. Bytes that are no UTF-8 become question marks.
std::string header_text(std::string_view text);

// `Name <address>` for From; the address alone without a name.
std::string mailbox(std::string_view name, std::string_view address);

// As in "Sat, 21 Nov 2026 08:17:00 +0000".
std::string header_date(std::int64_t unix_s);

}  // namespace mail
