// The two protocol bindings: JSON-RPC and HTTP+JSON. Reads requests and frames results and errors. Pure.
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <ry/cpp/http.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "errors.hpp"

namespace a2a {

enum class operation {
  send_message,
  send_streaming_message,
  get_task,
  list_tasks,
  cancel_task,
  subscribe_to_task,
  get_extended_agent_card,
  push_notification_config,  // all four
};

// Frames the results and errors of one request.
class binding {
 public:
  static binding json_rpc(boost::json::value id) { return binding(true, std::move(id)); }
  static binding http_json() { return binding(false, nullptr); }

  std::string_view content_type() const { return rpc_ ? "application/json" : "application/a2a+json"; }
  std::string body(boost::json::object result) const;
  ry::response response(boost::json::object result) const;
  ry::response response(const protocol_error& e) const;
  // One event of a stream.
  std::string event(boost::json::object result) const;
  std::string event(const protocol_error& e) const;

 private:
  binding(bool rpc, boost::json::value id) : rpc_(rpc), id_(std::move(id)) {}
  std::string body(const protocol_error& e) const;

  bool rpc_;
  boost::json::value id_;
};

// A request of either binding.
struct call {
  operation what = operation::send_message;
  boost::json::object params;
};

// The version that a request names, in the header or the query parameter A2A-Version.
struct protocol_version {
  std::string header, query;
};
// Throws VersionNotSupportedError unless the version is 1.0. A request without a version comes from a client of version
// 0.3.
void require_version(const protocol_version& version);

// Parses a JSON-RPC request. Sets `id` to the id of the request, also before an error if it is known. Requires the
// version before the method, because the methods of version 0.3 have other names.
call read_rpc_request(std::string_view body, const protocol_version& version, boost::json::value& id);

// The body of an HTTP+JSON request: an object, or nothing.
boost::json::object read_rest_body(std::string_view body);
// The task id and the operation in the last segment of a path such as /tasks/{id}:cancel. `verb` is empty without one.
std::pair<std::string, std::string> read_task_segment(std::string_view segment);
// The query parameters as the members of a request.
boost::json::object query_params(const std::vector<std::pair<std::string, std::string>>& query);

}  // namespace a2a
