// Schedules of periodic jobs: the next tick is after the given time and matches the fields according to an independent
// implementation, and no tick is skipped.
#include <array>
#include <bitset>
#include <chrono>
#include <cstring>
#include <string>
#include <vector>

#include "check.hpp"
#include "core/jobs/cron.hpp"

namespace {

using namespace std::chrono;
using ry::jobs::cron;

constexpr int max_minutes_checked = 3000;

std::vector<std::string> split(std::string_view text, std::string_view separators) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const auto end = std::min(text.find_first_of(separators), text.size());
    if (end > 0) out.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

long value_of(std::string text, const char* names, long first) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  const char* found = text.size() == 3 ? std::strstr(names, text.c_str()) : nullptr;
  return found ? (found - names) / 3 + first : std::stol(text);
}

// Independent implementation: whether a field that parse() accepted matches `n`.
bool field_matches(const std::string& field, long n, long high, const char* names, long first) {
  for (const auto& item : split(field, ",")) {
    const auto slash = item.find('/');
    const long step = slash == item.npos ? 1 : std::stol(item.substr(slash + 1));
    const auto range = item.substr(0, slash);
    const auto dash = range.find('-');
    long from = first, to = high;
    if (range != "*") {
      from = value_of(range.substr(0, dash), names, first);
      if (dash != range.npos)
        to = value_of(range.substr(dash + 1), names, first);
      else if (slash == item.npos)
        to = from;
    }
    if (n >= from && n <= to && (n - from) % step == 0) return true;
  }
  return false;
}

struct schedule {
  std::vector<std::string> fields;

  bool fires_at(cron::time t) const {
    const auto day = floor<days>(t);
    const year_month_day date{day};
    const hh_mm_ss clock(t - day);
    const long week = static_cast<long>(weekday(day).c_encoding());
    const bool day_ok = field_matches(fields[2], static_cast<unsigned>(date.day()), 31, "", 1);
    const bool week_ok = field_matches(fields[4], week, 7, "sunmontuewedthufrisat", 0) ||
                         (week == 0 && field_matches(fields[4], 7, 7, "sunmontuewedthufrisat", 0));
    const bool any = fields[2].front() == '*' || fields[4].front() == '*';
    return field_matches(fields[0], clock.minutes().count(), 59, "", 0) &&
           field_matches(fields[1], clock.hours().count(), 23, "", 0) &&
           field_matches(fields[3], static_cast<unsigned>(date.month()), 12, "janfebmaraprmayjunjulaugsepoctnovdec",
                         1) &&
           (any ? day_ok && week_ok : day_ok || week_ok);
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view input = fuzz::view(data, size);
  std::uint32_t minutes_since = 0;
  for (int i = 0; i < 4; ++i) minutes_since = minutes_since << 8 | fuzz::take(input);
  // From 1970 to 2161.
  const cron::time from{seconds(minutes_since % 100'000'000 * std::int64_t{60} + minutes_since % 61)};
  std::string error;
  const auto parsed = cron::parse(input, error);
  fuzz::check(parsed.has_value() == error.empty(), "a rejected schedule has an error message");
  if (!parsed) return 0;
  const auto next = parsed->next(from);
  if (input.front() == '@') {
    fuzz::check(next.has_value() && *next > from, "an interval has a next tick");
    fuzz::check(parsed->next(*next) > *next, "an interval has a tick after the next one");
    return 0;
  }
  const schedule reference{split(input, " \t")};
  fuzz::check(reference.fields.size() == 5, "a schedule has five fields");
  if (next) {
    fuzz::check(*next > from && *next <= from + years(8), "the next tick is after the given time, within eight years");
    fuzz::check(reference.fires_at(*next), "the next tick matches the fields");
  }
  auto t = floor<minutes>(from) + minutes(1);
  for (int i = 0; i < max_minutes_checked && t < next.value_or(from + years(8)); ++i, t += minutes(1))
    fuzz::check(!reference.fires_at(t), "no tick is skipped");
  return 0;
}
