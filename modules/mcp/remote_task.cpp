#include "remote_task.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "text.hpp"

namespace mcp {
namespace {

constexpr std::size_t max_task_id = 1024;
constexpr std::size_t max_status_message = 500;
constexpr std::int64_t min_poll_interval_ms = 50, max_poll_interval_ms = 60'000;
constexpr std::int64_t first_default_interval_ms = 250, max_default_interval_ms = 5'000;  // if the server suggests none

constexpr std::uint64_t retry_backoff_ms = 500, max_retry_backoff_ms = 15'000, max_retry_after_ms = 60'000;

using state = remote_task::state;
constexpr std::array<std::pair<std::string_view, state>, 5> state_names = {{{"working", state::working},
                                                                            {"input_required", state::input_required},
                                                                            {"completed", state::completed},
                                                                            {"failed", state::failed},
                                                                            {"cancelled", state::cancelled}}};

const json::object* nested(const json::object& o, std::initializer_list<std::string_view> path) {
  const json::object* at = &o;
  for (const auto key : path) {
    if (at != nullptr) at = object_at(*at, key);
  }
  return at;
}

std::optional<std::int64_t> positive_at(const json::object& o, std::string_view key, std::string_view other_key) {
  const auto* v = o.if_contains(jv(key));
  if (v == nullptr) v = o.if_contains(jv(other_key));
  if (v == nullptr || !v->is_int64() || v->get_int64() <= 0) return std::nullopt;
  return v->get_int64();
}

}  // namespace

task_support task_support_of(const json::object& tool) {
  const auto* execution = object_at(tool, "execution");
  const auto support = execution != nullptr ? text_of(*execution, "taskSupport") : std::string();
  if (support == "required") return task_support::required;
  return support == "optional" ? task_support::optional : task_support::forbidden;
}

bool offers_task_calls(const json::object& capabilities) {
  return nested(capabilities, {"tasks", "requests", "tools", "call"}) != nullptr;
}

bool offers_task_cancel(const json::object& capabilities) {
  return nested(capabilities, {"tasks", "cancel"}) != nullptr;
}

bool is_created_task(const json::value& result) {
  const auto* o = result.if_object();
  if (o == nullptr) return false;
  const auto type = text_of(*o, "resultType");
  return type == "task" || (type.empty() && !o->contains("content") && object_at(*o, "task") != nullptr);
}

std::optional<remote_task> read_task(const json::value& result) {
  const auto* o = result.if_object();
  if (o == nullptr) return std::nullopt;
  if (const auto* inner = object_at(*o, "task"); inner != nullptr && !o->contains("taskId")) o = inner;
  remote_task t;
  t.id = text_of(*o, "taskId");
  if (t.id.empty() || t.id.size() > max_task_id) return std::nullopt;
  const auto status = text_of(*o, "status");
  const auto at =
      std::find_if(state_names.begin(), state_names.end(), [&](const auto& n) { return n.first == status; });
  if (at == state_names.end()) return std::nullopt;
  t.status = at->second;
  t.message = valid_utf8(text_of(*o, "statusMessage"), max_status_message);
  t.ttl_ms = positive_at(*o, "ttlMs", "ttl");
  t.poll_ms = positive_at(*o, "pollIntervalMs", "pollInterval");
  for (const auto& [key, to] :
       {std::pair{"result", &t.result}, std::pair{"error", &t.error}, std::pair{"inputRequests", &t.input_requests}}) {
    if (const auto* v = o->if_contains(key)) *to = *v;
  }
  return t;
}

std::uint64_t poll_interval_ms(const remote_task& t, int polls) {
  if (t.poll_ms) return static_cast<std::uint64_t>(std::clamp(*t.poll_ms, min_poll_interval_ms, max_poll_interval_ms));
  return static_cast<std::uint64_t>(
      std::min(first_default_interval_ms << std::min(polls, 10), max_default_interval_ms));
}

std::uint64_t retry_delay_ms(int failures, std::uint32_t retry_after_s) {
  const auto backoff = std::min(retry_backoff_ms << std::min(failures, 6), max_retry_backoff_ms);
  return std::max(backoff, std::min(retry_after_s * std::uint64_t{1000}, max_retry_after_ms));
}

std::string task_line(const remote_task& t) {
  std::string out(state_names[static_cast<std::size_t>(t.status)].first);
  auto message = t.message;
  for (char& c : message) {
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  }
  if (!message.empty()) out += ": " + message;
  return "task " + out + "\n";
}

}  // namespace mcp
