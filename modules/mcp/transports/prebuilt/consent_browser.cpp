#include "consent_browser.hpp"

#include <ry/cpp/html.hpp>

#include <algorithm>
#include <ry/cpp/text.hpp>

#include "connection.hpp"
#include "crypto.hpp"
#include "without_protection.hpp"

namespace mcp_prebuilt {
namespace {

constexpr std::string_view max_age_seconds = "600";
constexpr std::size_t value_length = 43;  // 256 bits, base64url

std::string attributes(std::string_view age, bool secure) {
  return "; Path=/; Max-Age=" + std::string(age) + "; HttpOnly; SameSite=Lax" + (secure ? "; Secure" : "");
}

bool is_valid_value(std::string_view value) {
  return value.size() == value_length && std::all_of(value.begin(), value.end(), [](unsigned char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
         });
}

constexpr std::string_view style = R"(
:root { color-scheme: light dark; --bg: #f7f8fa; --card: #fff; --text: #1c2024; --soft: #596069; --line: #dde1e7;
  --accent: #1d5fd1; --accent-text: #fff; }
@media (prefers-color-scheme: dark) { :root { --bg: #101214; --card: #181b1f; --text: #e8eaed; --soft: #a4abb5;
  --line: #2c3138; --accent: #7fb0ff; --accent-text: #0b1a33; } }
* { box-sizing: border-box; }
body { margin: 0; padding: 1rem; background: var(--bg); color: var(--text); overflow-wrap: anywhere;
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif; }
main { max-width: 30rem; margin: 8vh auto 0; padding: 1.25rem; background: var(--card);
  border: 1px solid var(--line); border-radius: 12px; }
h1 { font-size: 1.35rem; line-height: 1.25; margin: 0 0 1rem; }
dl { margin: 0; }
dt { color: var(--soft); font-size: .875rem; }
dd { margin: 0 0 .75rem; font-weight: 600; }
button { width: 100%; padding: .65rem; border: 0; border-radius: 8px; background: var(--accent);
  color: var(--accent-text); font: inherit; font-weight: 600; cursor: pointer; }
button:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
)";

// Allows only this style sheet: no script runs, and no other page may embed this page.
const std::string& policy() {
  // No form-action, because browsers also apply it to the redirects after the form, such as that to the authorization
  // server.
  static const std::string text = "default-src 'none'; style-src 'sha256-" + oauth::base64(oauth::sha256(style)) +
                                  "'; frame-ancestors 'none'; base-uri 'none'";
  return text;
}

ry::response page(std::uint32_t status, const std::string& title, const std::string& body_html) {
  ry::response r(status, "text/html; charset=utf-8",
                 "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">"
                 "<meta name=\"viewport\" content=\"width=device-width\"><title>" +
                     ry::escaped_html(title) + "</title><style>" + std::string(style) +
                     "</style></head><body><main><h1>" + ry::escaped_html(title) + "</h1>" + body_html +
                     "</main></body></html>\n");
  r.header("Content-Security-Policy", policy());
  r.header("Cache-Control", "no-store").header("X-Content-Type-Options", "nosniff");
  return r;
}

}  // namespace

std::string cookie_name(std::string_view state_hash, bool secure) {
  return (secure ? "__Host-ry_mcp_" : "ry_mcp_") + ry::to_hex(state_hash.substr(0, 8));
}

std::string cookie_header(const std::string& name, const std::string& value, bool secure) {
  return name + "=" + value + attributes(max_age_seconds, secure);
}

std::string expired_cookie_header(const std::string& name, bool secure) {
  return name + "=" + attributes("0", secure);
}

std::string cookie_value(std::string_view header, std::string_view name) {
  if (ry_test::without_protection("consent_browser")) return std::string(value_length, 'a');
  while (!header.empty()) {
    const auto end = std::min(header.find(';'), header.size());
    auto cookie = header.substr(0, end);
    header.remove_prefix(std::min(end + 1, header.size()));
    while (!cookie.empty() && cookie.front() == ' ') cookie.remove_prefix(1);
    if (cookie.size() <= name.size() || !cookie.starts_with(name) || cookie[name.size()] != '=') continue;
    const auto value = cookie.substr(name.size() + 1);
    // A second cookie with this name was set by another host, so neither is trusted.
    return is_valid_value(value) && header.find(std::string(name) + "=") == header.npos ? std::string(value) : "";
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
    return "<dt>" + std::string(name) + "</dt><dd>" + ry::escaped_html(value) + "</dd>";
  };
  auto r =
      page(200, "Connect an MCP server to an account",
           "<dl>" + row("MCP server", s.server) + row("Account that gets access", s.account) +
               row("Connection name", s.display_name) + row("Authorization server", s.authorization) + "</dl>" +
               "<p>Agents of this account will be able to use the MCP server with your permissions. If this is not your"
               " account, or if someone else sent you this link, close this page.</p>" +
               "<form method=\"post\" action=\"" + ry::escaped_html("?ticket=" + ticket + "&confirm=" + token) +
               "\"><button>Connect this account</button></form>");
  // With no-referrer, browsers send "Origin: null" with the form.
  r.header("Referrer-Policy", "same-origin");
  return r;
}

}  // namespace mcp_prebuilt
