#include "run_event.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "json/exact.hpp"
#include "json/members.hpp"

namespace openai_api {
namespace {

constexpr std::size_t max_event_depth = 64;

std::string api_code_of(std::string_view reason) {
  if (reason == "credits") return "insufficient_quota";
  return "server_error";
}

// The client does not know the name of the start field.
std::string message_of(const json::object& event, std::string_view reason) {
  constexpr std::string_view field = "output_schema";
  std::string out = module_json::text_of(event, "error", "The run failed");
  const std::size_t at = reason == "output_invalid" ? out.find(field) : std::string::npos;
  if (at != std::string::npos) out.replace(at, field.size(), "the requested schema");
  return out;
}

}  // namespace

void token_usage::add(const json::object& usage) {
  input += module_json::integer_at(usage, "input_tokens");
  output += module_json::integer_at(usage, "output_tokens");
  cached += module_json::integer_at(usage, "cached_tokens");
  cache_write += module_json::integer_at(usage, "cache_write_tokens");
}

bool is_terminal(const json::object& event) {
  const std::string_view status = module_json::text_at(event, "status");
  return status == "completed" || status == "failed" || status == "stopped";
}

run_result result_of(const json::object& event, bool only_output) {
  const std::string_view status = module_json::text_at(event, "status"), reason = module_json::text_at(event, "reason");
  if (status == "stopped") return {run_end::cancelled};
  if (status == "completed" && reason == "tool_calls") return {run_end::tool_calls};
  if (status == "completed") {
    run_result out;
    if (const json::value* output = module_json::member_at(event, "output")) out.output = json::serialize(*output);
    // During an update, a server of an earlier release may have completed the run without a check of its answer.
    if (only_output && out.output.empty())
      return {run_end::failed, "server_error", "The output was not validated against the requested schema"};
    return out;
  }
  if (reason == "length") return {run_end::length};
  if (reason == "content_filter" || reason == "refusal") return {run_end::content_filter};
  return {run_end::failed, api_code_of(reason), message_of(event, reason)};
}

json::object parse_object(std::string_view text) {
  boost::system::error_code bad;
  json::value v = module_json::parse_exactly(text, max_event_depth, bad);
  return bad || !v.is_object() ? json::object() : std::move(v.as_object());
}

std::string server_label(std::string_view source) {
  constexpr std::string_view prefix = "mcp:";
  if (source.substr(0, prefix.size()) == prefix) source.remove_prefix(prefix.size());
  return source.empty() ? "sandbox" : std::string(source);
}

}  // namespace openai_api
