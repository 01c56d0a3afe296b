#include "challenge.hpp"

#include <algorithm>
#include <ry/cpp/types.hpp>

namespace mcp::oauth {
namespace {

constexpr std::size_t max_value = 4096;
constexpr std::size_t max_scopes = 200;

bool is_token_char(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
         std::string_view("!#$%&'*+-.^_`|~/").find(c) != std::string_view::npos;
}

class header_parser {
 public:
  explicit header_parser(std::string_view s) : rest_(s) {}

  void skip(std::string_view chars) { rest_.remove_prefix(std::min(rest_.find_first_not_of(chars), rest_.size())); }
  std::string_view token() {
    std::size_t n = 0;
    while (n < rest_.size() && is_token_char(rest_[n])) ++n;
    const auto out = rest_.substr(0, n);
    rest_.remove_prefix(n);
    return out;
  }
  bool take(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  // A token or a quoted string.
  std::optional<std::string> value() {
    if (!take('"')) return std::string(token());
    std::string out;
    while (!rest_.empty()) {
      const char c = rest_.front();
      rest_.remove_prefix(1);
      if (c == '"') return out;
      if (c == '\\' && !rest_.empty()) {
        out += rest_.front();
        rest_.remove_prefix(1);
      } else {
        out += c;
      }
      if (out.size() > max_value) return std::nullopt;
    }
    return std::nullopt;
  }
  bool empty() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

}  // namespace

std::optional<challenge> read_challenge(std::string_view authenticate) {
  std::optional<challenge> out;
  bool bearer = false;
  header_parser p(authenticate);
  for (;;) {
    p.skip(" \t,");
    const auto name = p.token();
    if (name.empty()) return out;
    p.skip(" \t");
    if (!p.take('=')) {
      // An authentication scheme. Only the first of several Bearer challenges is read.
      bearer = !out && ry::iequals(name, "bearer");
      if (bearer) out.emplace();
      continue;
    }
    while (p.take('=')) {
    }  // the padding of a token68
    p.skip(" \t");
    auto value = p.value();
    if (!value) return out;
    if (!bearer) continue;
    if (ry::iequals(name, "resource_metadata")) out->resource_metadata = std::move(*value);
    if (ry::iequals(name, "scope")) out->scope = scope_text(scopes_of(*value));
    if (ry::iequals(name, "error")) out->error = std::move(*value);
  }
}

std::vector<std::string> scopes_of(std::string_view scope) {
  std::vector<std::string> out;
  while (!scope.empty() && out.size() < max_scopes) {
    const auto end = std::min(scope.find(' '), scope.size());
    const auto scope_token = scope.substr(0, end);
    scope.remove_prefix(std::min(end + 1, scope.size()));
    // RFC 6749: printable characters except quotes and backslashes.
    const bool valid = !scope_token.empty() && std::all_of(scope_token.begin(), scope_token.end(), [](char c) {
      return c > 0x20 && c < 0x7f && c != '"' && c != '\\';
    });
    if (valid && std::find(out.begin(), out.end(), scope_token) == out.end()) out.emplace_back(scope_token);
  }
  return out;
}

std::string scope_text(const std::vector<std::string>& scopes) {
  std::string out;
  for (const auto& s : scopes) out += (out.empty() ? "" : " ") + s;
  return out;
}

std::string scope_union(std::string_view a, std::string_view b) {
  return scope_text(scopes_of(std::string(a) + " " + std::string(b)));
}

bool contains_all(std::string_view granted, std::string_view required) {
  const auto present = scopes_of(granted);
  const auto needed = scopes_of(required);
  return std::all_of(needed.begin(), needed.end(),
                     [&](const auto& s) { return std::find(present.begin(), present.end(), s) != present.end(); });
}

}  // namespace mcp::oauth
