#include "elicitation.hpp"

namespace mcp {
namespace {

const json::object* answer_to(const json::array& answers, std::string_view key) {
  for (const auto& each : answers) {
    const auto* answer = each.if_object();
    if (answer != nullptr && text_of(*answer, "key") == key) return answer;
  }
  return nullptr;
}

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

json::object elicitation_capability() {
  return {{"form", json::object()}, {"url", json::object()}};
}

std::optional<json::object> question_of(std::string_view method, const json::value& params) {
  const auto* o = params.if_object();
  if (method != "elicitation/create" || o == nullptr) return std::nullopt;
  const auto mode = text_of(*o, "mode", "form");
  if (mode != "form" && mode != "url") return std::nullopt;
  json::object out{{"kind", jv(mode)}, {"message", jv(text_of(*o, "message"))}};
  if (mode == "url") {
    out["url"] = jv(text_of(*o, "url"));
  } else if (const auto* schema = object_at(*o, "requestedSchema")) {
    out["schema"] = *schema;
  }
  return out;
}

json::object elicit_result(const json::object& answer) {
  json::object out{{"action", jv(text_of(answer, "action", "cancel"))}};
  if (const auto* content = object_at(answer, "content")) out["content"] = *content;
  return out;
}

std::optional<suspended_call> questions_in(const json::value& result) {
  const auto* o = result.if_object();
  if (o == nullptr || text_of(*o, "resultType") != "input_required") return std::nullopt;
  const auto* requests = object_at(*o, "inputRequests");
  if (requests == nullptr || requests->size() > max_input_requests) return std::nullopt;
  suspended_call out;
  json::object names, responses;  // the server's names of the questions; responses to all other requests
  for (const auto& member : *requests) {
    const auto* request = member.value().if_object();
    const auto* params = request != nullptr ? request->if_contains("params") : nullptr;
    auto question = params != nullptr ? question_of(text_of(*request, "method"), *params) : std::nullopt;
    if (question) {
      const auto key = std::to_string(names.size() + 1);
      (*question)["key"] = jv(key);
      names[key] = member.key();
      out.questions.push_back(std::move(*question));
      continue;
    }
    auto response = response_to(member.value());
    if (!response) return std::nullopt;
    responses[member.key()] = std::move(*response);
  }
  if (out.questions.empty()) return std::nullopt;
  out.state["names"] = std::move(names);
  out.state["responses"] = std::move(responses);
  if (const auto* state = o->if_contains("requestState")) out.state["requestState"] = *state;
  return out;
}

std::optional<suspended_call> questions_in_error(const json::value& error) {
  const auto* o = error.if_object();
  if (o == nullptr || code_of(error) != url_required) return std::nullopt;
  const auto* data = object_at(*o, "data");
  const auto* elicitations = data != nullptr ? array_at(*data, "elicitations") : nullptr;
  if (elicitations == nullptr || elicitations->empty() || elicitations->size() > max_input_requests)
    return std::nullopt;
  suspended_call out;
  for (const auto& each : *elicitations) {
    auto question = question_of("elicitation/create", each);
    if (!question || text_of(*question, "kind") != "url") return std::nullopt;
    (*question)["key"] = std::to_string(out.questions.size() + 1);
    out.questions.push_back(std::move(*question));
  }
  out.state["repeat"] = true;
  return out;
}

std::optional<json::object> continuation(const json::object& state, const json::array& answers) {
  json::object out;
  if (flag_at(state, "repeat")) {
    for (const auto& each : answers) {
      const auto* answer = each.if_object();
      if (answer == nullptr || text_of(*answer, "action") != "accept") return std::nullopt;
    }
    return out;
  }
  json::object responses;
  if (const auto* given = object_at(state, "responses")) responses = *given;
  if (const auto* names = object_at(state, "names")) {
    for (const auto& name : *names) {
      if (!name.value().is_string()) continue;
      const auto* answer = answer_to(answers, sv(name.key()));
      responses[name.value().get_string()] =
          answer != nullptr ? elicit_result(*answer) : json::object{{"action", "cancel"}};
    }
  }
  out["inputResponses"] = std::move(responses);
  // requestState is opaque and must be returned unchanged.
  if (const auto* given = state.if_contains("requestState")) out["requestState"] = *given;
  return out;
}

}  // namespace mcp
