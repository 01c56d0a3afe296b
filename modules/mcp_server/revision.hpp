// Protocol revisions, and the data about the client in a request. Pure.
//
// Up to 2025-11-25 a client negotiates the revision with `initialize` and then sends it in a header. From 2026-07-28 on
// every request contains the revision and the client's capabilities in `_meta`, and headers that repeat parts of the
// body.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "json_rpc.hpp"

namespace mcp_server {

enum class revision { v2025_03_26, v2025_06_18, v2025_11_25, v2026_07_28 };

// Newest first.
inline constexpr std::array<std::string_view, 4> revision_names{"2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26"};
std::optional<revision> parse_revision(std::string_view name) noexcept;
std::string_view name_of(revision r) noexcept;
// The revision of the response to `initialize`: the requested one, or the newest that has sessions.
revision negotiated(std::string_view requested) noexcept;

// Headers of a request; empty: absent.
struct request_headers {
  std::string_view protocol_version, method, name;
};

struct client {
  revision rev = revision::v2025_03_26;
  bool tasks = false;  // it declared the extension io.modelcontextprotocol/tasks
  bool elicitation = false;  // its user can be asked with a form
  json::value progress_token{};  // a string or an integer; null: no progress notifications
  bool stateless() const noexcept { return rev >= revision::v2026_07_28; }
};

// Whether the capabilities of a client contain elicitation with forms.
bool supports_forms(const json::object& capabilities);

// Throws rpc_error if the revision is unknown, or if `_meta` or headers are missing or contradictory.
client read_client(const message& m, const request_headers& h);
// The same for notifications, whose headers and `_meta` no revision defines.
revision revision_of_notification(const request_headers& h);

// -32601. The method that the client requested does not exist in its revision or here.
rpc_error unknown_method(const message& m, const client& c);
rpc_error unsupported_version(std::string_view requested);
// -32021 for methods of the tasks extension.
rpc_error tasks_not_declared();

}  // namespace mcp_server
