// Detects which protocol revisions a server supports: "legacy" revisions with `initialize`, or the "modern" revision
// 2026-07-28 with stateless requests. Without I/O.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rpc.hpp"

namespace mcp {

inline constexpr std::string_view modern_revision = "2026-07-28";
inline constexpr std::string_view newest_legacy = "2025-11-25";

bool is_legacy_revision(std::string_view revision) noexcept;
// Values of the member `revision` in a server's configuration.
inline constexpr std::string_view automatic_revision = "auto";
bool is_revision_setting(std::string_view text) noexcept;
std::string revision_settings();  // all of them, for an error message

enum class protocol_revision { unknown, legacy, modern };

// Error codes of the modern revision.
inline constexpr std::int64_t header_mismatch = -32020;
inline constexpr std::int64_t missing_capability = -32021;
inline constexpr std::int64_t unsupported_revision = -32022;
constexpr bool is_modern_error(std::int64_t code) noexcept {
  return code == header_mismatch || code == missing_capability || code == unsupported_revision;
}
inline constexpr std::int64_t method_not_found = -32601;
inline constexpr std::int64_t invalid_params = -32602;
inline constexpr std::int64_t internal_error = -32603;

// The outcome of the first modern request to a server of unknown revision.
struct probe_result {
  bool answered = false;  // with a JSON-RPC result or error
  bool failed = false;  // the response is an error
  json::value body;  // result or error object
  std::uint32_t http_status = 0;
};

struct revision_verdict {
  enum class kind { modern, legacy, no_evidence, incompatible };
  kind outcome = kind::no_evidence;
  std::vector<std::string> offered;  // revisions that the server named
};

// Follows the compatibility matrix of revision 2026-07-28: a DiscoverResult or a modern error identifies a modern
// server, any other response a legacy server. no_evidence: there is no response, or it comes from a gateway or from
// access control (401, 403, 408, 429, 502 and above).
revision_verdict detect_revision(const probe_result& p);

// The revisions in "supportedVersions" (server/discover) or in data.supported (error -32022).
std::vector<std::string> offered_revisions(const json::value& body);

// The params._meta of every request and notification of the modern revision. version: of this server. tasks: whether
// the server may turn a call into a task. elicitation: whether it may request input from the person.
json::object modern_meta(std::string_view version, bool tasks, bool elicitation = false);
// The params of `initialize`, which offers `revision`.
json::object initialize_params(std::string_view version, std::string_view revision = newest_legacy,
                               bool elicitation = false);

}  // namespace mcp
