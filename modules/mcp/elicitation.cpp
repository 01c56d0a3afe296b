#include "elicitation.hpp"

namespace mcp {
namespace {

constexpr std::size_t max_input_requests = 32;

}  // namespace

std::optional<json::object> response_to(const json::value& request) {
  const auto* o = request.if_object();
  const auto method = o != nullptr ? text_of(*o, "method") : std::string();
  if (method == "elicitation/create") return json::object{{"action", "cancel"}};
  if (method == "roots/list") return json::object{{"roots", json::array()}};
  return std::nullopt;
}

std::optional<json::object> responses_to(const json::value& result) {
  const auto* o = result.if_object();
  if (o == nullptr || text_of(*o, "resultType") != "input_required") return std::nullopt;
  const auto* requests = object_at(*o, "inputRequests");
  const auto* state = o->if_contains("requestState");
  if (requests == nullptr && state == nullptr) return std::nullopt;
  json::object out;
  if (requests != nullptr) {
    if (requests->size() > max_input_requests) return std::nullopt;
    json::object responses;
    for (const auto& member : *requests) {
      auto response = response_to(member.value());
      if (!response) return std::nullopt;
      responses[member.key()] = std::move(*response);
    }
    out["inputResponses"] = std::move(responses);
  }
  // requestState is opaque and must be returned unchanged.
  if (state != nullptr) out["requestState"] = *state;
  return out;
}

}  // namespace mcp
