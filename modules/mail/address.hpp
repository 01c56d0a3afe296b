// Addresses and header values that are safe to send. libcurl sends both unchanged, so a line break in one of them would
// start a new command.
#pragma once

#include <ry/cpp/types.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace mail {

// One bare address of at most 254 bytes, without quoted local parts or address literals: ASCII or UTF-8 before the @
// (RFC 6531), a domain in any form after it. mail.address_ok() accepts at least these.
bool is_address(std::string_view text);

// The address with its domain in ASCII (IDNA 2008); nullopt: invalid.
std::optional<std::string> on_the_wire(std::string_view address);

// Whether the domain of a valid address can receive mail from the internet: not a single label, and not below a top-level domain that is
// reserved for other purposes (RFC 2606, RFC 6761, RFC 6762).
bool is_on_the_internet(std::string_view address);

// Whether it has UTF-8 before the @, which requires a relay with SMTPUTF8.
bool needs_smtputf8(std::string_view address) noexcept;

// The value of a header on one line: control characters become spaces, non-ASCII text becomes encoded words (RFC 2047)
// of at most 75 characters, folded. Bytes that are not UTF-8 become question marks.
std::string header_text(std::string_view text);

// `Name <address>` for From, or the address alone if there is no name.
std::string mailbox(std::string_view name, std::string_view address);

// As in "Sat, 21 Nov 2026 08:17:00 +0000".
std::string header_date(std::int64_t unix_s);

}  // namespace mail
