// What a server says when it refuses credentials: the Bearer challenge of WWW-Authenticate. Without I/O.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mcp::oauth {

struct challenge {
  std::string resource_metadata;  // address of RFC 9728 metadata; empty: not said
  std::string scope;              // space-separated; empty: not said
  std::string error;              // of RFC 6750, e.g. "insufficient_scope"
};

// `authenticate`: one or several fields, joined by commas. Empty when there is no Bearer challenge; what
// is not well formed ends it.
std::optional<challenge> read_challenge(std::string_view authenticate);

// Scopes as a list without repetition, and back.
std::vector<std::string> scopes_of(std::string_view scope);
std::string scope_text(const std::vector<std::string>& scopes);
std::string united(std::string_view a, std::string_view b);
bool contains_all(std::string_view granted, std::string_view wanted);

}  // namespace mcp::oauth
