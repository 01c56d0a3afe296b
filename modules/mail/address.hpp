// Addresses and header values that are safe to send. libcurl sends both unchanged, so a line break in one of them would
// start a new command.
#pragma once

#include <ry/cpp/types.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace mail {

// Whether the text is one bare address of at most 254 bytes, without a quoted local part or address literal: ASCII or
// UTF-8 before the @ (RFC 6531), a domain in Unicode or ASCII after it. mail.address_ok() accepts at least these.
bool is_address(std::string_view text);

// The address with its domain in ASCII (IDNA 2008), as SMTP requires it; nullopt if the address is invalid.
std::optional<std::string> with_ascii_domain(std::string_view address);

// Whether the domain of a valid address can receive mail from the internet: it has more than one label, and its
// top-level domain is not reserved for other purposes (RFC 2606, RFC 6761, RFC 6762).
bool is_internet_address(std::string_view address);

// Whether the address has UTF-8 before the @, which requires a relay with SMTPUTF8.
bool needs_smtputf8(std::string_view address) noexcept;

// The value of a header on one line: control characters become spaces, non-ASCII text becomes encoded words (RFC 2047)
// of at most 75 characters, folded. Bytes that are not UTF-8 become question marks.
std::string header_text(std::string_view text);

// `Name <address>` for From, or the address alone if there is no name.
std::string mailbox(std::string_view name, std::string_view address);

// The value of a Date header, such as "Sat, 21 Nov 2026 08:17:00 +0000".
std::string header_date(std::int64_t unix_s);

}  // namespace mail
