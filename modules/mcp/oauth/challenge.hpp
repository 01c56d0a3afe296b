// Parses the Bearer challenge of a WWW-Authenticate header, with which a server rejects credentials. Without I/O.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mcp::oauth {

struct challenge {
  std::string resource_metadata;  // URL of the RFC 9728 metadata; empty: not given
  std::string scope;  // space-separated; empty: not given
  std::string error;  // RFC 6750 error, e.g. "insufficient_scope"
};

// `authenticate`: one or several header values, joined by commas. nullopt if there is no Bearer challenge. Parsing
// stops at the first syntax error.
std::optional<challenge> read_challenge(std::string_view authenticate);

// Converts between a scope string and a list without duplicates.
std::vector<std::string> scopes_of(std::string_view scope);
std::string scope_text(const std::vector<std::string>& scopes);
std::string scope_union(std::string_view a, std::string_view b);
bool contains_all(std::string_view granted, std::string_view required);

}  // namespace mcp::oauth
