// Binds a consent to the browser that confirmed it: the cookie and the pages. No I/O.
//
// An attacker can send a consent link to another person. The user therefore confirms on a page of this server which
// account gets access, and only the browser that confirmed can complete the consent: its row stores the hash of the
// cookie.
#pragma once

#include <ry/ry.hpp>

#include <string>
#include <string_view>

namespace mcp_prebuilt {

struct consent_summary {
  std::string display_name;  // of the profile, chosen by its account
  std::string server;  // address of the MCP server
  std::string authorization;  // issuer
  std::string account;  // e-mail address, or the id of an account without one
};

// The cookie of one consent (`state_hash`), so that several consents can be open concurrently. `secure`: the server is
// reached over https; the prefix __Host- then prevents other hosts of the same domain from setting the cookie.
std::string cookie_name(std::string_view state_hash, bool secure);
std::string cookie_header(const std::string& name, const std::string& value, bool secure);
std::string expired_cookie_header(const std::string& name, bool secure);
// Empty if the request has no such cookie, or its value does not have the expected format.
std::string cookie_value(std::string_view header, std::string_view name);

// Anti-forgery token in the form of the confirmation page: only a page that this server sent to the browser contains
// it.
std::string form_token(std::string_view cookie, std::string_view ticket);

ry::response message_page(std::uint32_t status, const std::string& title, const std::string& text);
ry::response confirmation_page(const consent_summary& s, const std::string& ticket, const std::string& token);

}  // namespace mcp_prebuilt
