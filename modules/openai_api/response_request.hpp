// The body of POST /v1/responses. Pure.
#pragma once
#include <boost/json/object.hpp>
#include <map>
#include <optional>
#include <ry/cpp/types.hpp>
#include <set>
#include <string>
#include <vector>

#include "conversation.hpp"
#include "errors.hpp"
#include "options.hpp"

namespace openai_api {

// An item mcp_approval_response.
struct approval_answer {
  std::string path;  // of the item, in messages
  std::string request;  // id of the mcp_approval_request
  ry::uuid run, approval;
  bool approve = false;
  std::string reason;
};

struct response_request {
  run_options options;
  conversation input;
  std::string instructions;
  bool stream = false, background = false, store = true;
  std::optional<ry::uuid> previous;  // the UUID in previous_response_id
  std::optional<ry::uuid> thread;  // of conversation
  // Not empty: the response continues the run that waits for these answers, and the other input has no effect.
  std::vector<approval_answer> answers{};
  json::object base;  // the members of the response that repeat the request
};

// The ids of items of type item_reference, in the order of the input.
std::vector<std::string> referenced_items(const json::object& body);

// Items by id, for references.
using item_map = std::map<std::string, json::object>;
// 404 for an answer whose approval request does not exist, or belongs to another account or response.
api_error unknown_approval(const approval_answer& a);
// Throws a 400 that names the member that is invalid or not supported, and a 404 for an unknown item.
response_request read_response_request(const json::object& body, const item_map& items);

// Those members for a run that was started through another API.
boost::json::object base_of_run(std::string_view model);

// The items mcp_approval_response with which a response began. `approvals`: as in GET /approvals.
json::array answer_items(const std::vector<json::object>& approvals, const ry::uuid& run,
                         const std::set<std::string>& answered);

// The items of GET /v1/responses/{id}/input_items: the input among the messages of a run's thread, oldest first.
// `first`: the run is the first of its thread, so messages without a run belong to its input.
json::array input_items(const std::vector<json::object>& messages, const ry::uuid& run, bool first);

}  // namespace openai_api
