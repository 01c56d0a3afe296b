#include "core/jobs/cron.hpp"

#include <array>
#include <charconv>
#include <ry/cpp/text.hpp>

namespace ry::jobs {

namespace {

using namespace std::chrono;

constexpr std::array<std::string_view, 12> months = {"jan", "feb", "mar", "apr", "may", "jun",
                                                     "jul", "aug", "sep", "oct", "nov", "dec"};
constexpr std::array<std::string_view, 7> days = {"sun", "mon", "tue", "wed", "thu", "fri", "sat"};

std::optional<int> number(std::string_view s) {
  int v = 0;
  auto [end, ec] = std::from_chars(s.data(), s.data() + s.size(), v);
  if (ec != std::errc() || end != s.data() + s.size() || s.empty()) return std::nullopt;
  return v;
}

template <std::size_t N>
std::optional<int> value(std::string_view s, const std::array<std::string_view, N>& names, int first) {
  if (auto n = number(s)) return n;
  const auto word = lower_ascii(s);
  for (std::size_t i = 0; i < N; ++i)
    if (names[i] == word) return static_cast<int>(i) + first;
  return std::nullopt;
}

// One field: comma-separated `*`, `a`, `a-b`, each with an optional `/step`.
template <std::size_t Bits, std::size_t N>
bool field(std::string_view text, int low, int high, const std::array<std::string_view, N>& names,
           std::bitset<Bits>& out) {
  while (true) {
    const auto comma = text.find(',');
    auto item = text.substr(0, comma);
    int step = 1;
    bool has_step = false;
    if (const auto slash = item.find('/'); slash != item.npos) {
      const auto s = number(item.substr(slash + 1));
      if (!s || *s < 1) return false;
      step = *s;
      has_step = true;
      item = item.substr(0, slash);
    }
    int from = low, to = high;
    if (item != "*") {
      const auto dash = item.find('-');
      const auto a = value(item.substr(0, dash), names, low);
      if (!a) return false;
      from = *a;
      to = has_step ? high : from;
      if (dash != item.npos) {
        const auto b = value(item.substr(dash + 1), names, low);
        if (!b) return false;
        to = *b;
      }
    }
    if (from < low || to > high || from > to) return false;
    // Compare with the rest of the range, because `i + step` may overflow.
    for (int i = from;; i += step) {
      out.set(static_cast<std::size_t>(i));
      if (step > to - i) break;
    }
    if (comma == text.npos) return true;
    text = text.substr(comma + 1);
  }
}

constexpr std::array<std::string_view, 0> no_names{};

}  // namespace

std::optional<cron> cron::parse(std::string_view text, std::string& error) {
  cron c;
  if (text.starts_with("@every ")) {
    auto span = text.substr(7);
    const char unit = span.empty() ? '\0' : span.back();
    const int factor = unit == 's' ? 1 : unit == 'm' ? 60 : unit == 'h' ? 3600 : 0;
    const auto n = factor ? number(span.substr(0, span.size() - 1)) : std::nullopt;
    if (!n || *n < 1 || *n > 1'000'000) {
      error = "expected @every followed by a number and s, m or h, such as \"@every 30s\"";
      return std::nullopt;
    }
    c.every_ = seconds(*n) * factor;
    return c;
  }
  if (text == "@hourly") text = "0 * * * *";
  if (text == "@daily") text = "0 0 * * *";
  if (text == "@weekly") text = "0 0 * * 0";
  if (text == "@monthly") text = "0 0 1 * *";

  std::array<std::string_view, 5> f;
  std::size_t n = 0;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] == ' ' || text[i] == '\t') {
      ++i;
      continue;
    }
    auto end = text.find_first_of(" \t", i);
    if (end == text.npos) end = text.size();
    if (n == f.size()) {
      ++n;  // too many fields
      break;
    }
    f[n++] = text.substr(i, end - i);
    i = end;
  }
  if (n != f.size()) {
    error = "expected five fields: minute hour day-of-month month day-of-week";
    return std::nullopt;
  }
  std::bitset<8> weekdays;
  const char* bad = !field(f[0], 0, 59, no_names, c.minute_) ? "minute"
                    : !field(f[1], 0, 23, no_names, c.hour_) ? "hour"
                    : !field(f[2], 1, 31, no_names, c.day_)  ? "day-of-month"
                    : !field(f[3], 1, 12, months, c.month_)  ? "month"
                    : !field(f[4], 0, 7, days, weekdays)     ? "day-of-week"
                                                             : nullptr;
  if (bad) {
    error = std::string("the ") + bad + " field is not valid";
    return std::nullopt;
  }
  if (weekdays[7]) weekdays.set(0);  // Sunday is 0 or 7
  for (std::size_t i = 0; i < 7; ++i) c.weekday_[i] = weekdays[i];
  c.day_any_ = f[2].starts_with('*');
  c.weekday_any_ = f[4].starts_with('*');
  return c;
}

std::optional<cron::time> cron::next(time t) const {
  if (every_.count() > 0) {
    // Ticks are multiples of the interval since the epoch, so that all nodes agree on them.
    const auto since = t.time_since_epoch();
    return time((since / every_ + 1) * every_);
  }
  auto minute = ceil<minutes>(t + seconds(1));
  const auto limit = t + years(8);
  while (minute < limit) {
    const auto day = floor<std::chrono::days>(minute);
    const year_month_day ymd{day};
    const auto month = static_cast<unsigned>(ymd.month());
    if (!month_[month]) {
      minute = sys_days((ymd.year() / ymd.month() / 1) + std::chrono::months(1));
      continue;
    }
    const bool day_ok = day_[static_cast<unsigned>(ymd.day())];
    const bool week_ok = weekday_[weekday(day).c_encoding()];
    // crontab(5): if both fields are restricted, a day needs to match only one. If one begins with '*', even with a
    // step ("*/2"), it does not count as restricted, and a day must match both.
    const bool ok = day_any_ || weekday_any_ ? day_ok && week_ok : day_ok || week_ok;
    if (!ok) {
      minute = day + std::chrono::days(1);
      continue;
    }
    const hh_mm_ss clock(minute - day);
    if (!hour_[static_cast<std::size_t>(clock.hours().count())]) {
      minute = day + clock.hours() + hours(1);
      continue;
    }
    if (!minute_[static_cast<std::size_t>(clock.minutes().count())]) {
      minute += minutes(1);
      continue;
    }
    return minute;
  }
  return std::nullopt;
}

}  // namespace ry::jobs
