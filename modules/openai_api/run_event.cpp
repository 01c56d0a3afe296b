#include "run_event.hpp"

#include <boost/json/parse.hpp>

#include "json/exact.hpp"
#include "json/members.hpp"

namespace openai_api {
namespace {

constexpr std::size_t max_event_depth = 64;

std::string api_code_of(std::string_view reason) {
  if (reason == "credits") return "insufficient_quota";
  return "server_error";
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

run_result result_of(const json::object& event) {
  const std::string_view status = module_json::text_at(event, "status"), reason = module_json::text_at(event, "reason");
  if (status == "stopped") return {run_end::cancelled, {}, {}};
  if (status == "completed") return {reason == "tool_calls" ? run_end::tool_calls : run_end::completed, {}, {}};
  if (reason == "length") return {run_end::length, {}, {}};
  if (reason == "content_filter" || reason == "refusal") return {run_end::content_filter, {}, {}};
  return {run_end::failed, api_code_of(reason), module_json::text_of(event, "error", "The run failed")};
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
