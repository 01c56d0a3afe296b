#include "cell_format.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ry/cpp/text.hpp>

namespace extract {
namespace {

constexpr double seconds_per_day = 86400;
constexpr double last_serial = 2958466;  // 10000-01-01

// The letters that a format code contains outside quoted text.
struct code_letters {
  bool year_or_day = false, hour = false, second = false, month_or_minute = false, percent = false;
  bool minute = false;  // an "m" next to hours or seconds
  char elapsed = 0;
};

// The end of the quoted text, escape or brackets at `at`; `at` if there is none. Records a unit of elapsed time in
// brackets.
std::size_t skip_literal(std::string_view code, std::size_t at, code_letters& out) {
  const char c = code[at];
  if (c == '\\' || c == '_' || c == '*') return at + 2;
  if (c == '"') {
    const std::size_t end = code.find('"', at + 1);
    return end == code.npos ? code.size() : end + 1;
  }
  if (c != '[') return at;
  const std::size_t end = code.find(']', at + 1);
  if (end == code.npos) return code.size();
  const std::string_view inner = code.substr(at + 1, end - at - 1);
  const char unit = inner.empty() ? 0 : ry::lower_ascii(inner.front());
  const bool is_elapsed = (unit == 'h' || unit == 'm' || unit == 's') &&
                          inner.find_first_not_of(std::string{unit, static_cast<char>(unit - 32)}) == inner.npos;
  if (is_elapsed && out.elapsed == 0) out.elapsed = unit;
  return end + 1;
}

// LibreOffice writes upper case.
bool is_general(std::string_view text) {
  return text == "General" || text == "GENERAL" || text == "general";
}

code_letters read_letters(std::string_view code) {
  code_letters out;
  char previous = 0;
  for (std::size_t at = 0; at < code.size();) {
    if (const std::size_t next = skip_literal(code, at, out); next != at) {
      at = next;
      continue;
    }
    const char c = ry::lower_ascii(code[at]);
    if (is_general(code.substr(at, 7))) {
      at += 7;
      continue;
    }
    if (c == 'a' && (code.substr(at, 5) == "AM/PM" || code.substr(at, 3) == "A/P")) {
      out.hour = true;
      at += code[at + 1] == '/' ? 3 : 5;
      continue;
    }
    // "E+" is an exponent; "e" alone is the year of an era.
    const bool exponent = c == 'e' && at + 1 < code.size() && (code[at + 1] == '+' || code[at + 1] == '-');
    if (c == 'y' || c == 'd' || c == 'g' || c == 'b' || (c == 'e' && !exponent)) out.year_or_day = true;
    if (c == 'h') out.hour = true;
    if (c == 's') out.second = true;
    if (c == 's' && previous == 'm') out.minute = true;
    if (c == 'm' && previous != 'm') {
      out.month_or_minute = true;
      if (previous == 'h') out.minute = true;
    }
    if (c == '%') out.percent = true;
    if (c == 'y' || c == 'd' || c == 'h' || c == 's' || c == 'm') previous = c;
    ++at;
  }
  return out;
}

std::string formatted(const char* pattern, auto... values) {
  std::array<char, 64> out;
  const int n = std::snprintf(out.data(), out.size(), pattern, values...);
  return {out.data(), static_cast<std::size_t>(n)};
}

bool parse(std::string_view text, double& out) {
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), out);
  return problem == std::errc() && end == text.data() + text.size() && std::isfinite(out);
}

// Excel computes with 15 significant digits; files contain the 17 digits of a double.
std::string shortest(double value) {
  std::array<char, 512> out;
  double rounded = value;
  const std::string digits = formatted("%.15g", value);
  (void)parse(digits, rounded);
  if (rounded == 0) return "0";
  const double size = std::fabs(rounded);
  const auto notation = size >= 1e21 || size < 1e-9 ? std::chars_format::scientific : std::chars_format::fixed;
  return {out.data(), std::to_chars(out.data(), out.data() + out.size(), rounded, notation).ptr};
}

std::string date_of(double serial, date_system system) {
  using namespace std::chrono;
  const auto days_in = static_cast<int>(std::floor(serial));
  // Excel treats 1900 as a leap year, as Lotus 1-2-3 did.
  if (system == date_system::from_1900 && days_in == 60) return "1900-02-29";
  const sys_days first = system == date_system::from_1904 ? sys_days(year{1904} / 1 / 1)
                                                          : sys_days(year{1899} / 12 / (days_in < 60 ? 31 : 30));
  const year_month_day day(first + days(days_in));
  return formatted("%04d-%02u-%02u", static_cast<int>(day.year()), static_cast<unsigned>(day.month()),
                   static_cast<unsigned>(day.day()));
}

std::string time_text(double seconds, bool with_seconds) {
  // Rounded to milliseconds, so the inexact fraction of a double does not change the second.
  const auto total = std::llround(seconds * 1000);
  const auto ms = total % 1000, s = total / 1000;
  std::string out = formatted("%02lld:%02lld", s / 3600, s / 60 % 60);
  if (with_seconds || s % 60 != 0 || ms != 0) out += formatted(":%02lld", s % 60);
  if (ms != 0) out += formatted(".%03lld", ms);
  return out;
}

std::string elapsed_text(double days, const number_format& format) {
  const std::string sign = days < 0 ? "-" : "";
  const auto s = std::llround(std::fabs(days) * seconds_per_day);
  if (format.largest_elapsed == 's') return sign + formatted("%lld", s);
  if (format.largest_elapsed == 'm') return sign + formatted("%lld:%02lld", s / 60, s % 60);
  std::string out = sign + formatted("%lld:%02lld", s / 3600, s / 60 % 60);
  if (format.seconds || s % 60 != 0) out += formatted(":%02lld", s % 60);
  return out;
}

// The end of the first section of a format code, ignoring semicolons in quoted text.
std::size_t end_of_section(std::string_view code) {
  code_letters ignored;
  std::size_t end = 0;
  while (end < code.size() && code[end] != ';') {
    const std::size_t next = skip_literal(code, end, ignored);
    end = next == end ? end + 1 : next;
  }
  return std::min(end, code.size());
}

number_format format_of_section(std::string_view section) {
  const code_letters letters = read_letters(section);
  number_format out;
  out.seconds = letters.second;
  const bool time = letters.hour || letters.second || letters.minute;
  const bool date = letters.year_or_day || (letters.month_or_minute && !letters.minute && !letters.elapsed);
  if (letters.elapsed != 0) {
    out.kind = number_kind::elapsed;
    out.largest_elapsed = letters.elapsed;
  } else if (date && time) {
    out.kind = number_kind::date_time;
  } else if (date || time) {
    out.kind = date ? number_kind::date : number_kind::time;
  } else if (letters.percent) {
    out.kind = number_kind::percent;
  }
  return out;
}

// Whether a section applies to some values only, such as "[<0]\"\"".
bool is_conditional(std::string_view section) {
  for (const std::string_view begin : {"[<", "[>", "[="})
    if (section.find(begin) != section.npos) return true;
  return false;
}

}  // namespace

number_format parse_number_format(std::string_view code) {
  constexpr int max_sections = 4;
  number_format out;
  for (int n = 0; n < max_sections; ++n) {
    const std::string_view section = code.substr(0, end_of_section(code));
    out = format_of_section(section);
    if (out.kind != number_kind::number || !is_conditional(section) || section.size() == code.size()) break;
    code.remove_prefix(section.size() + 1);
  }
  return out;
}

number_format builtin_number_format(unsigned id) {
  if (id == 9 || id == 10) return {number_kind::percent, false, 'h'};
  if (id >= 14 && id <= 17) return {number_kind::date, false, 'h'};
  if (id >= 18 && id <= 21) return {number_kind::time, id == 19 || id == 21, 'h'};
  if (id == 22) return {number_kind::date_time, false, 'h'};
  if (id == 46) return {number_kind::elapsed, true, 'h'};
  if (id == 45 || id == 47) return {number_kind::time, true, 'h'};
  // Formats of East Asian versions: dates, and times in 32 and 33.
  if (id == 32 || id == 33) return {number_kind::time, id == 33, 'h'};
  if ((id >= 27 && id <= 36) || (id >= 50 && id <= 58)) return {number_kind::date, false, 'h'};
  return {};
}

std::string show_number(std::string_view stored, const number_format& format, date_system system) {
  double value = 0;
  if (!parse(stored, value)) return std::string(stored);
  if (format.kind == number_kind::percent) return shortest(value * 100) + "%";
  const bool is_date =
      format.kind == number_kind::date || format.kind == number_kind::date_time || format.kind == number_kind::time;
  if (format.kind == number_kind::elapsed && std::fabs(value) < last_serial) return elapsed_text(value, format);
  if (!is_date || value < 0 || value >= last_serial) {
    // Integers, which may be long account or article numbers, are not rounded.
    const bool digits = stored.find_first_not_of("0123456789", stored.starts_with('-') ? 1 : 0) == stored.npos;
    return digits ? std::string(stored) : shortest(value);
  }
  // Rounded to milliseconds, because less than half a millisecond before midnight belongs to the next day.
  const double rounded = std::round(value * seconds_per_day * 1000) / (seconds_per_day * 1000);
  const double seconds = (rounded - std::floor(rounded)) * seconds_per_day;
  if (format.kind == number_kind::time ||
      (format.kind == number_kind::date_time && rounded < 1 && system == date_system::from_1900))
    return time_text(seconds, format.seconds);
  std::string out = date_of(rounded, system);
  if (format.kind == number_kind::date_time) out += " " + time_text(seconds, format.seconds);
  return out;
}

std::string show_iso_date(std::string_view stored) {
  const std::size_t t = stored.find('T');
  std::string date(stored.substr(0, t));
  if (t == stored.npos) return date;
  std::string_view time = stored.substr(t + 1);
  if (time.ends_with('Z')) time.remove_suffix(1);
  if (const std::size_t dot = time.find('.'); dot != time.npos && time.find_first_not_of('0', dot + 1) == time.npos)
    time = time.substr(0, dot);
  if (time == "00:00:00" || time == "00:00") return date;
  return date + (date.empty() ? "" : " ") + std::string(time);
}

}  // namespace extract
