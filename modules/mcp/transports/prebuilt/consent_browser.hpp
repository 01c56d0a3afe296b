// The browser in which a user confirms a consent: its cookie, and the pages that it is shown. Without I/O.
//
// A link can be sent to another person. The user therefore confirms on a page of this server which account gets
// the access, and only the browser that confirmed can conclude: the cookie's hash stands in the consent's row.
#pragma once

#include <ry/ry.hpp>

#include <string>
#include <string_view>

namespace mcp_prebuilt {

struct consent_summary {
  std::string display_name;   // of the profile, chosen by its account
  std::string server;         // address of the MCP server
  std::string authorization;  // issuer
  std::string account;        // e-mail address, or the id of an account without one
};

// Of one consent (`state_hash`), so that several can be open at once. `secure`: the server is reached by https;
// the prefix __Host- then keeps other hosts of the same domain from setting the cookie.
std::string cookie_name(std::string_view state_hash, bool secure);
std::string cookie_header(const std::string& name, const std::string& value, bool secure);
std::string expired_cookie_header(const std::string& name, bool secure);
// Empty: the request has no such cookie, or it does not have the form of ours.
std::string cookie_value(std::string_view header, std::string_view name);

// What the form of the confirmation page carries: only a page that this server gave to the browser knows it.
std::string form_token(std::string_view cookie, std::string_view ticket);

ry::response message_page(std::uint32_t status, const std::string& title, const std::string& text);
ry::response confirmation_page(const consent_summary& s, const std::string& ticket, const std::string& token);

}  // namespace mcp_prebuilt
