#include "task_list.hpp"

#include <charconv>
#include <chrono>
#include <cstdio>

#include "errors.hpp"
#include "json/members.hpp"
#include "message_input.hpp"
#include "task_state.hpp"

namespace a2a {
namespace {

namespace json = boost::json;

constexpr std::size_t max_token = 320;
constexpr std::int64_t max_page = 100;
// Each task with artifacts or history costs a request for the messages of its thread.
constexpr std::int64_t max_full_page = 20;

bool read_include_artifacts(const json::object& params) {
  const json::value* v = module_json::member_at(params, "includeArtifacts");
  if (v == nullptr || v->is_null()) return false;
  if (v->is_bool()) return v->get_bool();
  if (*v == "true") return true;
  if (*v == "false") return false;
  throw invalid_params("includeArtifacts", "must be true or false");
}

std::string read_status(const json::object& params) {
  std::string status = read_text(params, "status", {}, max_token);
  if (status == "TASK_STATE_UNSPECIFIED") status.clear();
  if (!status.empty() && !is_known_state(status)) throw invalid_params("status", "must be a TaskState");
  return status;
}

// Digits at a position, or nullopt.
std::optional<int> digits(std::string_view text, std::size_t at, std::size_t n) {
  if (text.size() < at + n) return std::nullopt;
  int out = 0;
  const auto [end, ec] = std::from_chars(text.data() + at, text.data() + at + n, out);
  if (ec != std::errc() || end != text.data() + at + n || out < 0) return std::nullopt;
  return out;
}

// The microseconds of a fraction; removes it from the text.
std::optional<std::int64_t> take_fraction(std::string_view& text) {
  if (text.empty() || text.front() != '.') return 0;
  text.remove_prefix(1);
  std::int64_t out = 0, scale = 100'000;
  std::size_t n = 0;
  for (; n < text.size() && text[n] >= '0' && text[n] <= '9'; ++n) {
    out += (text[n] - '0') * scale;
    scale /= 10;
  }
  if (n == 0 || n > 9) return std::nullopt;
  text.remove_prefix(n);
  return out;
}

// The seconds of an offset: Z or +hh:mm.
std::optional<std::int64_t> offset_seconds(std::string_view text) {
  if (text == "Z" || text == "z") return 0;
  if (text.size() != 6 || (text[0] != '+' && text[0] != '-') || text[3] != ':') return std::nullopt;
  const auto hours = digits(text, 1, 2), minutes = digits(text, 4, 2);
  if (!hours || !minutes || *hours > 23 || *minutes > 59) return std::nullopt;
  const std::int64_t seconds = *hours * 3600 + *minutes * 60;
  return text[0] == '-' ? -seconds : seconds;
}

}  // namespace

std::optional<std::int64_t> parse_time(std::string_view text) {
  using namespace std::chrono;
  const auto year_part = digits(text, 0, 4), month_part = digits(text, 5, 2), day_part = digits(text, 8, 2),
             hour = digits(text, 11, 2), minute = digits(text, 14, 2), second = digits(text, 17, 2);
  if (!year_part || !month_part || !day_part || !hour || !minute || !second || text.size() > 40) return std::nullopt;
  if (text[4] != '-' || text[7] != '-' || (text[10] != 'T' && text[10] != 't') || text[13] != ':' || text[16] != ':')
    return std::nullopt;
  const year_month_day date{year{*year_part}, month{static_cast<unsigned>(*month_part)},
                            day{static_cast<unsigned>(*day_part)}};
  if (!date.ok() || *hour > 23 || *minute > 59 || *second > 60) return std::nullopt;
  std::string_view rest = text.substr(19);
  const auto fraction = take_fraction(rest);
  const auto offset = offset_seconds(rest);
  if (!fraction || !offset) return std::nullopt;
  const std::int64_t days = sys_days(date).time_since_epoch().count();
  return (days * 86400 + *hour * 3600 + *minute * 60 + *second - *offset) * 1'000'000 + *fraction;
}

std::string format_time(std::int64_t unix_us) {
  using namespace std::chrono;
  const sys_time<milliseconds> time{milliseconds(unix_us / 1000)};
  const auto date = floor<days>(time);
  const year_month_day ymd(date);
  const hh_mm_ss clock(time - date);
  char out[40];
  std::snprintf(out, sizeof out, "%04d-%02u-%02uT%02d:%02d:%02d.%03dZ", static_cast<int>(ymd.year()),
                static_cast<unsigned>(ymd.month()), static_cast<unsigned>(ymd.day()),
                static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
                static_cast<int>(clock.seconds().count()), static_cast<int>(clock.subseconds().count()));
  return out;
}

list_params read_list_params(const json::object& params) {
  list_params out;
  out.context_id = read_text(params, "contextId", {}, max_context_id);
  out.status = read_status(params);
  out.page_token = read_text(params, "pageToken", {}, max_token);
  out.page_size = read_number(params, "pageSize", 1, max_page).value_or(out.page_size);
  out.history_length = read_history_length(params).value_or(0);
  out.include_artifacts = read_include_artifacts(params);
  const std::string after = read_text(params, "statusTimestampAfter", {}, max_token);
  if (!after.empty()) {
    out.changed_after_us = parse_time(after);
    if (!out.changed_after_us)
      throw invalid_params("statusTimestampAfter", "must be a time as in 2026-11-20T09:30:00Z");
  }
  if ((out.include_artifacts || out.history_length > 0) && out.page_size > max_full_page) out.page_size = max_full_page;
  return out;
}

std::optional<std::string> run_status_of(std::string_view state) {
  if (state.empty()) return "";
  if (state == task_state::submitted || state == task_state::working || state == task_state::input_required)
    return "running";
  if (state == task_state::completed) return "completed";
  if (state == task_state::failed) return "failed";
  if (state == task_state::canceled) return "stopped";
  return std::nullopt;
}

bool is_listed(const list_params& params, std::string_view agent, const json::object& run) {
  if (!agent.empty() && module_json::text_at(run, "agent_id") != agent) return false;
  if (!params.status.empty() && state_of(run) != params.status) return false;
  if (!params.changed_after_us) return true;
  const json::object status = status_of(run, {});
  const auto changed = parse_time(module_json::text_at(status, "timestamp"));
  return changed && *changed >= *params.changed_after_us;
}

}  // namespace a2a
