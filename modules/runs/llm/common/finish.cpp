#include "finish.hpp"

#include <ry/ext/llm_provider.h>

#include <algorithm>
#include <cctype>
#include <ry/cpp/text.hpp>
#include <string>

namespace llm {

namespace {

struct reason_finish {
  std::string_view name;  // in lower case, words joined by _
  std::int32_t finish;
};

constexpr reason_finish known[] = {
    // ended by the model
    {"stop", RY_LLM_FINISH_STOP},
    {"end_turn", RY_LLM_FINISH_STOP},
    {"stop_sequence", RY_LLM_FINISH_STOP},
    {"eos", RY_LLM_FINISH_STOP},
    {"eos_token", RY_LLM_FINISH_STOP},
    {"complete", RY_LLM_FINISH_STOP},
    {"completed", RY_LLM_FINISH_STOP},
    {"finish_reason_stop", RY_LLM_FINISH_STOP},
    // tool calls
    {"tool_calls", RY_LLM_FINISH_TOOL_CALLS},
    {"tool_call", RY_LLM_FINISH_TOOL_CALLS},
    {"tool_use", RY_LLM_FINISH_TOOL_CALLS},
    {"function_call", RY_LLM_FINISH_TOOL_CALLS},
    // token limit
    {"length", RY_LLM_FINISH_LENGTH},
    {"max_tokens", RY_LLM_FINISH_LENGTH},
    {"max_output_tokens", RY_LLM_FINISH_LENGTH},
    {"max_completion_tokens", RY_LLM_FINISH_LENGTH},
    {"max_new_tokens", RY_LLM_FINISH_LENGTH},
    {"max_length", RY_LLM_FINISH_LENGTH},
    {"model_length", RY_LLM_FINISH_LENGTH},
    {"model_context_window_exceeded", RY_LLM_FINISH_LENGTH},
    {"context_window_exceeded", RY_LLM_FINISH_LENGTH},
    {"context_length_exceeded", RY_LLM_FINISH_LENGTH},
    {"token_limit", RY_LLM_FINISH_LENGTH},
    {"error_limit", RY_LLM_FINISH_LENGTH},
    {"incomplete", RY_LLM_FINISH_LENGTH},
    {"truncated", RY_LLM_FINISH_LENGTH},
    // withheld
    {"content_filter", RY_LLM_FINISH_FILTER},
    {"content_filtered", RY_LLM_FINISH_FILTER},
    {"content_policy", RY_LLM_FINISH_FILTER},
    {"content_policy_violation", RY_LLM_FINISH_FILTER},
    {"error_toxic", RY_LLM_FINISH_FILTER},
    {"guardrail_intervened", RY_LLM_FINISH_FILTER},
    {"safety", RY_LLM_FINISH_FILTER},
    {"image_safety", RY_LLM_FINISH_FILTER},
    {"image_prohibited_content", RY_LLM_FINISH_FILTER},
    {"image_recitation", RY_LLM_FINISH_FILTER},
    {"recitation", RY_LLM_FINISH_FILTER},
    {"language", RY_LLM_FINISH_FILTER},
    {"blocklist", RY_LLM_FINISH_FILTER},
    {"blocked", RY_LLM_FINISH_FILTER},
    {"prohibited_content", RY_LLM_FINISH_FILTER},
    {"spii", RY_LLM_FINISH_FILTER},
    {"model_armor", RY_LLM_FINISH_FILTER},
    {"sensitive", RY_LLM_FINISH_FILTER},
    // declined, paused
    {"refusal", RY_LLM_FINISH_REFUSAL},
    {"refused", RY_LLM_FINISH_REFUSAL},
    {"pause_turn", RY_LLM_FINISH_PAUSE},
    {"pause", RY_LLM_FINISH_PAUSE},
    // failed
    {"error", RY_LLM_FINISH_ERROR},
    {"failed", RY_LLM_FINISH_ERROR},
    {"network_error", RY_LLM_FINISH_ERROR},
    {"server_error", RY_LLM_FINISH_ERROR},
    {"internal_error", RY_LLM_FINISH_ERROR},
    {"model_error", RY_LLM_FINISH_ERROR},
    {"upstream_error", RY_LLM_FINISH_ERROR},
    {"timeout", RY_LLM_FINISH_ERROR},
    {"abort", RY_LLM_FINISH_ERROR},
    {"aborted", RY_LLM_FINISH_ERROR},
    {"cancelled", RY_LLM_FINISH_ERROR},
    {"user_cancel", RY_LLM_FINISH_ERROR},
    {"overloaded", RY_LLM_FINISH_ERROR},
    {"engine_overloaded", RY_LLM_FINISH_ERROR},
    {"insufficient_system_resource", RY_LLM_FINISH_ERROR},
    {"malformed_function_call", RY_LLM_FINISH_ERROR},
    {"malformed_response", RY_LLM_FINISH_ERROR},
    {"malformed_model_output", RY_LLM_FINISH_ERROR},
    {"malformed_tool_use", RY_LLM_FINISH_ERROR},
    {"unexpected_tool_call", RY_LLM_FINISH_ERROR},
    {"too_many_tool_calls", RY_LLM_FINISH_ERROR},
    {"missing_thought_signature", RY_LLM_FINISH_ERROR},
    {"no_image", RY_LLM_FINISH_ERROR},
    {"image_other", RY_LLM_FINISH_ERROR},
    {"other", RY_LLM_FINISH_ERROR},
};

// Words that classify an unknown name, most severe first.
constexpr reason_finish word_finishes[] = {
    {"malformed", RY_LLM_FINISH_ERROR},
    {"error", RY_LLM_FINISH_ERROR},
    {"fail", RY_LLM_FINISH_ERROR},
    {"overload", RY_LLM_FINISH_ERROR},
    {"timeout", RY_LLM_FINISH_ERROR},
    {"timed_out", RY_LLM_FINISH_ERROR},
    {"abort", RY_LLM_FINISH_ERROR},
    {"cancel", RY_LLM_FINISH_ERROR},
    {"insufficient", RY_LLM_FINISH_ERROR},
    {"unavailable", RY_LLM_FINISH_ERROR},
    {"rate_limit", RY_LLM_FINISH_ERROR},
    {"quota", RY_LLM_FINISH_ERROR},
    {"exception", RY_LLM_FINISH_ERROR},
    {"disconnect", RY_LLM_FINISH_ERROR},
    {"interrupt", RY_LLM_FINISH_ERROR},
    {"filter", RY_LLM_FINISH_FILTER},
    {"safety", RY_LLM_FINISH_FILTER},
    {"prohibit", RY_LLM_FINISH_FILTER},
    {"block", RY_LLM_FINISH_FILTER},
    {"moderat", RY_LLM_FINISH_FILTER},
    {"policy", RY_LLM_FINISH_FILTER},
    {"sensitive", RY_LLM_FINISH_FILTER},
    {"guardrail", RY_LLM_FINISH_FILTER},
    {"toxic", RY_LLM_FINISH_FILTER},
    {"harm", RY_LLM_FINISH_FILTER},
    {"refus", RY_LLM_FINISH_REFUSAL},
    {"declin", RY_LLM_FINISH_REFUSAL},
    {"length", RY_LLM_FINISH_LENGTH},
    {"max_", RY_LLM_FINISH_LENGTH},
    {"truncat", RY_LLM_FINISH_LENGTH},
    {"limit", RY_LLM_FINISH_LENGTH},
    {"context_window", RY_LLM_FINISH_LENGTH},
    {"pause", RY_LLM_FINISH_PAUSE},
    {"tool", RY_LLM_FINISH_TOOL_CALLS},
    {"function_call", RY_LLM_FINISH_TOOL_CALLS},
};

// Converts camelCase and dashes to lower case with underscores.
std::string snake_case(std::string_view reason) {
  std::string out;
  char previous = 0;
  for (const char raw : reason.substr(0, 200)) {
    const auto c = static_cast<unsigned char>(raw);
    if (std::isupper(c) != 0 && std::islower(static_cast<unsigned char>(previous)) != 0) out += '_';
    out += raw == '-' ? '_' : ry::lower_ascii(raw);
    previous = raw;
  }
  return out;
}

std::int32_t exact_match(std::string_view name) {
  const auto* it =
      std::find_if(std::begin(known), std::end(known), [&](const reason_finish& n) { return n.name == name; });
  return it == std::end(known) ? 0 : it->finish;
}

int severity(std::int32_t finish) {
  switch (finish) {
    case RY_LLM_FINISH_ERROR:
      return 7;
    case RY_LLM_FINISH_FILTER:
      return 6;
    case RY_LLM_FINISH_REFUSAL:
      return 5;
    case RY_LLM_FINISH_LENGTH:
      return 4;
    case RY_LLM_FINISH_PAUSE:
      return 3;
    case RY_LLM_FINISH_TOOL_CALLS:
      return 2;
    default:
      return finish == 0 ? 0 : 1;
  }
}

// Finds a name within a longer text: "function_call_filter: MALFORMED_FUNCTION_CALL".
std::int32_t most_severe_within(std::string_view text) {
  const auto part_of_name = [](char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0; };
  std::int32_t most_severe = 0;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && part_of_name(text[end])) ++end;
    if (const auto f = exact_match(text.substr(at, end - at)); severity(f) > severity(most_severe)) most_severe = f;
    at = end + 1;
  }
  return most_severe;
}

std::int32_t classify(std::string_view reason) {
  const std::string name = snake_case(reason);
  if (const auto f = exact_match(name)) return f;
  if (const auto f = most_severe_within(name); f != 0 && f != RY_LLM_FINISH_STOP) return f;
  for (const auto& t : word_finishes)
    if (name.find(t.name) != std::string::npos) return t.finish;
  return RY_LLM_FINISH_STOP;
}

}  // namespace

std::int32_t finish_of(std::string_view reason) {
  // DashScope and some gateways send these texts while the answer continues.
  const bool none = reason.find_first_not_of(' ') == std::string_view::npos || reason == "null" || reason == "None";
  return none ? 0 : classify(reason);
}

std::int32_t more_severe(std::int32_t a, std::int32_t b) {
  return severity(b) > severity(a) ? b : a;
}

std::int32_t finish_of(std::string_view reason, std::string_view native) {
  const auto reported = finish_of(reason);
  if (native.empty()) return reported;
  const auto native_finish = exact_match(snake_case(native));
  // A native reason alone ends an answer only if something went wrong.
  return reported == 0 && severity(native_finish) <= severity(RY_LLM_FINISH_TOOL_CALLS)
             ? 0
             : more_severe(reported, native_finish);
}

}  // namespace llm
