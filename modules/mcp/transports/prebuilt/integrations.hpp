// Integrations that the operator offers, and the insertion of credentials into their headers. Without I/O.
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
  // Values may contain {field}, which is replaced with the profile's credential of that name.
  std::vector<std::pair<std::string, std::string>> headers;
  std::optional<mcp::oauth::settings> oauth;  // set if the server requires OAuth

  // The fields named in the headers, without duplicates, and the user's identity if an identity provider asserts it.
  std::vector<std::string> fields() const;
};
inline constexpr std::string_view subject_field = "subject_token";
using integrations = std::map<std::string, integration, std::less<>>;

// Throws std::invalid_argument with an error message.
integrations read_integrations(std::string_view settings_json);

// The credentials of a profile: exactly the integration's fields, as strings that are valid in a header. Throws
// ry::error RY_INVALID_ARGUMENT that names the field.
boost::json::object read_credentials(const integration& i, const boost::json::value* given);

// The headers with the credentials inserted.
boost::json::object filled_headers(const integration& i, const boost::json::object& credentials);

}  // namespace mcp_prebuilt
