#include "consent_browser.hpp"

#include <ry/cpp/html.hpp>

#include <algorithm>

#include "connection.hpp"
#include "crypto.hpp"

namespace mcp_prebuilt {
namespace {

constexpr std::string_view seconds = "600";
constexpr std::size_t value_length = 43;  // 256 bits, base64url

std::string hex(std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out;
  for (const unsigned char c : bytes) {
    out += digits[c >> 4];
    out += digits[c & 15];
  }
  return out;
}

std::string attributes(std::string_view age, bool secure) {
  return "; Path=/; Max-Age=" + std::string(age) + "; HttpOnly; SameSite=Lax" + (secure ? "; Secure" : "");
}

bool of_our_form(std::string_view value) {
  return value.size() == value_length && std::all_of(value.begin(), value.end(), [](unsigned char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
         });
}

// It neither runs anything nor is shown in a frame.
ry::response page(std::uint32_t status, const std::string& title, const std::string& body_html) {
  ry::response r(status, "text/html; charset=utf-8",
                 "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">"
                 "<meta name=\"viewport\" content=\"width=device-width\"><title>" +
                     ry::escaped_html(title) + "</title><h1>" + ry::escaped_html(title) + "</h1>" + body_html +
                     "</html>\n");
  // No form-action: browsers apply it to the redirects that follow the form, to the authorization server and on.
  r.header("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; base-uri 'none'");
  r.header("Cache-Control", "no-store").header("X-Content-Type-Options", "nosniff");
  return r;
}

}  // namespace

std::string cookie_name(std::string_view state_hash, bool secure) {
  return (secure ? "__Host-ry_mcp_" : "ry_mcp_") + hex(state_hash.substr(0, 8));
}

std::string cookie_header(const std::string& name, const std::string& value, bool secure) {
  return name + "=" + value + attributes(seconds, secure);
}

std::string expired_cookie_header(const std::string& name, bool secure) {
  return name + "=" + attributes("0", secure);
}

std::string cookie_value(std::string_view header, std::string_view name) {
  while (!header.empty()) {
    const auto end = std::min(header.find(';'), header.size());
    auto one = header.substr(0, end);
    header.remove_prefix(std::min(end + 1, header.size()));
    while (!one.empty() && one.front() == ' ') one.remove_prefix(1);
    if (one.size() <= name.size() || !one.starts_with(name) || one[name.size()] != '=') continue;
    const auto value = one.substr(name.size() + 1);
    // A second cookie of this name was set by another host: neither is believed.
    return of_our_form(value) && header.find(std::string(name) + "=") == header.npos ? std::string(value) : "";
  }
  return {};
}

std::string form_token(std::string_view cookie, std::string_view ticket) {
  return oauth::base64url(oauth::sha256("runyard mcp consent\n" + std::string(cookie) + "\n" + std::string(ticket)));
}

ry::response message_page(std::uint32_t status, const std::string& title, const std::string& text) {
  auto r = page(status, title, "<p>" + ry::escaped_html(text) + "</p>");
  r.header("Referrer-Policy", "no-referrer");
  return r;
}

ry::response confirmation_page(const consent_summary& s, const std::string& ticket, const std::string& token) {
  const auto row = [](const char* name, const std::string& value) {
    return "<dt>" + std::string(name) + "</dt><dd><b>" + ry::escaped_html(value) + "</b></dd>";
  };
  auto r = page(200, "Connect a server to an account",
                "<dl>" + row("Server", s.server) + row("Account that gets access", s.account) +
                    row("Name of the connection", s.display_name) + row("You log in at", s.authorization) + "</dl>" +
                    "<p>Agents of this account will use the server with your permissions there. If this is not your"
                    " account, or if another person sent you this link, close this page.</p>" +
                    "<form method=\"post\" action=\"" +
                    ry::escaped_html("?ticket=" + ticket + "&confirm=" + token) +
                    "\"><button>Connect this account</button></form>");
  // With no-referrer browsers send "Origin: null" with the form.
  r.header("Referrer-Policy", "same-origin");
  return r;
}

}  // namespace mcp_prebuilt
