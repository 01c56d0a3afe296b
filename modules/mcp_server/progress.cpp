#include "progress.hpp"

#include <json/exact.hpp>
#include <json/members.hpp>

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <ry/cpp/base64.hpp>
#include <ry/cpp/types.hpp>

namespace mcp_server {
namespace {

using module_json::flag_at;
using module_json::integer_at;
using module_json::text_at;

constexpr std::size_t max_text = 300;
constexpr std::size_t max_position = 2048;

bool is_id(const json::value& v) {
  return v.is_int64() || v.is_uint64() || (v.is_string() && v.get_string().size() <= max_id_bytes);
}

}  // namespace

std::optional<std::string> progress_text(const json::object& event) {
  const auto type = text_at(event, "type");
  const auto name = [&] { return clipped(text_at(event, "name"), 100); };
  if (type == "status" && text_at(event, "status") == "running") return "The run has started";
  if (type == "queued") return "Waiting in the queue at position " + std::to_string(integer_at(event, "position"));
  if (type == "llm_response_start") {
    std::string out = "Generating answer " + std::to_string(integer_at(event, "step", 1));
    const auto attempt = integer_at(event, "attempt", 1);
    if (attempt > 1) out += ", attempt " + std::to_string(attempt);
    return out;
  }
  if (type == "tool_call") return "Using the tool " + name();
  if (type == "approval_requested") return "The call of the tool " + name() + " waits for an approval";
  if (type == "tool_results_requested") return "The run waits for results of the client that started it";
  if (type == "tool_progress") return clipped(text_at(event, "message"), max_text);
  if (type == "tool_result") return "The tool " + name() + (flag_at(event, "is_error") ? " failed" : " has finished");
  if (type == "error" || type == "notice") return clipped(text_at(event, "message"), max_text);
  if (type == "context_compacted") return "The conversation was summarized";
  return std::nullopt;
}

json::object progress_notification(const json::value& token, std::uint64_t value, std::string_view text) {
  json::object params;
  params["progressToken"] = token;
  params["progress"] = value;
  params["message"] = jv(text);
  return notification_message("notifications/progress", std::move(params));
}

std::string stream_position::text() const {
  json::array a;
  a.push_back(task_result);
  a.push_back(json::string(jv(run_id)));
  a.push_back(sequence);
  a.push_back(request_id);
  a.push_back(progress_token);
  return ry::base64_encode(json::serialize(a), ry::base64_alphabet::url, false);
}

std::optional<stream_position> parse_stream_position(std::string_view text) {
  if (text.size() > max_position) return std::nullopt;
  const auto bytes = ry::base64_decode(text, ry::base64_alphabet::url, ry::base64_padding::none);
  if (!bytes) return std::nullopt;
  boost::system::error_code failed;
  const json::value v = module_json::parse_exactly(*bytes, 4, failed);
  if (failed || !v.is_array() || v.get_array().size() != 5) return std::nullopt;
  const json::array& a = v.get_array();
  if (!a[0].is_bool() || !a[1].is_string() || !a[2].is_int64() || a[2].get_int64() < 0) return std::nullopt;
  if (!is_id(a[3]) || !(a[4].is_null() || is_id(a[4]))) return std::nullopt;
  stream_position out;
  out.task_result = a[0].get_bool();
  out.run_id.assign(a[1].get_string().data(), a[1].get_string().size());
  if (!ry::uuid::parse(out.run_id)) return std::nullopt;
  out.sequence = static_cast<std::uint64_t>(a[2].get_int64());
  out.request_id = a[3];
  out.progress_token = a[4];
  return out;
}

}  // namespace mcp_server
