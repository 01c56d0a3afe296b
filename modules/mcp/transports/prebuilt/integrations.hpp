// Integrations that the operator offers, and how credentials fill in their headers. Without I/O.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client.hpp"

namespace mcp_prebuilt {

struct integration {
  std::string url;
  std::string type = "http";  // the transport: http or sse
  // Values may hold {field}: what a profile gives under that name.
  std::vector<std::pair<std::string, std::string>> headers;
  std::optional<mcp::oauth::settings> oauth;  // the server wants OAuth

  // Named in the headers, each once, and the user's identity where an identity provider vouches for it.
  std::vector<std::string> fields() const;
};
inline constexpr std::string_view subject_field = "subject_token";
using integrations = std::map<std::string, integration, std::less<>>;

// Throws std::invalid_argument with a sentence.
integrations read_integrations(std::string_view settings_json);

// The credentials of a profile: exactly the integration's fields, as texts that may stand in a header.
// Throws ry::error RY_INVALID_ARGUMENT naming the field.
boost::json::object read_credentials(const integration& of, const boost::json::value* given);

// The headers with the credentials filled in.
boost::json::object filled_headers(const integration& of, const boost::json::object& credentials);

}  // namespace mcp_prebuilt
