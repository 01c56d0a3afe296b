#include "retry_hint.hpp"

#include <time.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <ry/cpp/http_client.hpp>
#include <ry/cpp/text.hpp>
#include <string>

#include "request.hpp"

namespace llm {

namespace json = boost::json;

namespace {

constexpr std::uint64_t day_ms = 86'400'000;

void skip(std::string_view& text, std::string_view characters) {
  text.remove_prefix(std::min(text.find_first_not_of(characters), text.size()));
}

// Removes a decimal number from the front.
std::optional<double> take_number(std::string_view& text) {
  if (text.empty() || std::isdigit(static_cast<unsigned char>(text.front())) == 0) return std::nullopt;
  double n = 0;
  const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), n, std::chars_format::fixed);
  if (ec != std::errc() || !std::isfinite(n)) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return n;
}

// Milliseconds of a unit's name; 0: unknown.
double unit_ms(std::string_view name) {
  static constexpr struct {
    std::string_view name;
    double ms;
  } units[] = {{"ms", 1},     {"msec", 1},     {"millis", 1},   {"millisecond", 1}, {"milliseconds", 1},
               {"s", 1e3},    {"sec", 1e3},    {"secs", 1e3},   {"second", 1e3},    {"seconds", 1e3},
               {"m", 6e4},    {"min", 6e4},    {"mins", 6e4},   {"minute", 6e4},    {"minutes", 6e4},
               {"h", 3.6e6},  {"hr", 3.6e6},   {"hrs", 3.6e6},  {"hour", 3.6e6},    {"hours", 3.6e6},
               {"d", 8.64e7}, {"day", 8.64e7}, {"days", 8.64e7}};
  for (const auto& u : units)
    if (u.name == name) return u.ms;
  return 0;
}

std::uint64_t bounded(double ms) {
  return ms >= static_cast<double>(day_ms) ? day_ms : static_cast<std::uint64_t>(std::ceil(ms));
}

// Time until a timestamp: RFC 3339 (Anthropic), or Unix time in seconds or milliseconds (OpenRouter, GitHub). 0: none,
// in the past, or the current time is unknown.
std::uint64_t until_ms(std::string_view value, std::int64_t now_unix_s) {
  if (now_unix_s <= 0) return 0;
  const std::string text(value.substr(0, 64));
  std::tm parts{};
  double time_s = 0;
  if (::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &parts) != nullptr) {
    time_s = static_cast<double>(::timegm(&parts));
  } else {
    std::string_view rest = text;
    const auto n = take_number(rest);
    if (!n || !rest.empty()) return 0;
    time_s = *n >= 1e11 ? *n / 1e3 : *n;
  }
  const double wait = (time_s - static_cast<double>(now_unix_s)) * 1e3;
  return wait > 0 ? bounded(wait) : 0;
}

// The value of a reset header: a timestamp or a duration.
std::uint64_t reset_ms_of(std::string_view value, std::int64_t now_unix_s) {
  skip(value, " ");
  std::string_view rest = value;
  const auto n = take_number(rest);
  const bool is_time = value.find('T') != std::string_view::npos || (n && rest.empty() && *n >= 1e9);
  if (is_time) return until_ms(value, now_unix_s);
  return read_duration_ms(value).value_or(0);
}

std::uint64_t number_ms(const json::object& o, std::string_view key, double unit) {
  const auto* v = o.if_contains(key);
  if (!v) return 0;
  if (v->is_string()) {
    std::string_view text = v->get_string();
    const auto n = take_number(text);
    if (n && text.empty()) return bounded(*n * unit);
    return read_duration_ms(v->get_string()).value_or(0);
  }
  if (!v->is_number()) return 0;
  const double n = v->to_number<double>();
  return n > 0 ? bounded(n * unit) : 0;
}

}  // namespace

std::uint32_t retry_after(std::string_view value, std::int64_t now_unix_s) {
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(ry::retry_after_s(value, now_unix_s).value_or(0), day_ms / 1000));
}

std::uint32_t seconds_rounded_up(std::uint64_t ms) {
  return static_cast<std::uint32_t>((std::min(ms, day_ms) + 999) / 1000);
}

std::optional<std::uint64_t> read_duration_ms(std::string_view text) {
  const std::string lower = ry::lower_ascii(text.substr(0, 200));
  std::string_view rest = lower;
  double ms = 0;
  bool any = false;
  for (;;) {
    std::string_view part = rest;
    skip(part, " ,");
    if (any && part.starts_with("and ")) part.remove_prefix(4);
    const auto n = take_number(part);
    if (!n) break;
    skip(part, " ");
    std::size_t end = 0;
    while (end < part.size() && std::isalpha(static_cast<unsigned char>(part[end])) != 0) ++end;
    const double unit = unit_ms(part.substr(0, end));
    if (unit == 0) {
      if (any) break;
      if (end != 0) return std::nullopt;
      return bounded(*n * 1e3);
    }
    ms += *n * unit;
    any = true;
    part.remove_prefix(end);
    rest = part;
  }
  if (!any) return std::nullopt;
  return bounded(ms);
}

std::uint64_t retry_ms_of_message(std::string_view message) {
  const std::string lower = ry::lower_ascii(message.substr(0, 4096));
  for (std::string_view phrase : {"try again in ", "try again after ", "retry in ", "retry after ", "retry-after: ",
                                  "retrydelay: ", "wait for ", "wait ", "available in ", "reset in ", "resets in "})
    for (auto at = lower.find(phrase); at != std::string::npos; at = lower.find(phrase, at + 1)) {
      std::string_view rest = std::string_view(lower).substr(at + phrase.size());
      for (std::string_view filler : {"about ", "at least ", "approximately "})
        if (rest.starts_with(filler)) rest.remove_prefix(filler.size());
      if (const auto ms = read_duration_ms(rest)) return *ms;
    }
  return 0;
}

std::uint64_t retry_ms_of_error(const json::object& error, std::int64_t now_unix_s) {
  if (const auto* details = array_at(error, "details"))
    for (const auto& d : *details)
      if (const auto* o = d.if_object())
        if (const auto ms = number_ms(*o, "retryDelay", 1e3)) return ms;
  for (std::string_view key : {"retry_after_ms", "retryAfterMs"})
    if (const auto ms = number_ms(error, key, 1)) return ms;
  for (std::string_view key : {"retry_after", "retryAfter", "retry_after_seconds", "retryDelay", "retry_delay"})
    if (const auto ms = number_ms(error, key, 1e3)) return ms;
  if (const auto ms = retry_ms_of_message(text_at(error, "message"))) return ms;
  if (const auto* metadata = object_at(error, "metadata")) {
    if (const auto ms = number_ms(*metadata, "retry_after_seconds", 1e3)) return ms;
    if (const auto* headers = object_at(*metadata, "headers")) {
      retry_headers h;
      for (const auto& [name, value] : *headers)
        if (const auto* s = value.if_string()) h.add(name, *s, now_unix_s);
      if (const auto ms = h.requested_ms()) return ms;
      if (const auto ms = h.reset_ms()) return ms;
    }
    return retry_ms_of_message(text_at(*metadata, "raw"));
  }
  return 0;
}

void retry_headers::add(std::string_view name, std::string_view value, std::int64_t now_unix_s) {
  const std::string key = ry::lower_ascii(name);
  if (key == "retry-after") {
    retry_after_s_ = retry_after(value, now_unix_s);
    return;
  }
  if (key == "retry-after-ms" || key == "x-ms-retry-after-ms") {
    skip(value, " ");
    if (const auto ms = take_number(value)) retry_after_ms_ = bounded(*ms);
    return;
  }
  // x-ratelimit-reset-tokens (OpenAI, Groq, Azure), anthropic-ratelimit-tokens-reset, x-ratelimit-reset (OpenRouter)
  if (key.find("ratelimit-") == std::string::npos) return;
  const bool reset = key.find("reset") != std::string::npos, remaining = key.find("remaining") != std::string::npos;
  if (!reset && !remaining) return;
  limit& target = key.find("input-tokens") != std::string::npos    ? input_tokens_
                  : key.find("output-tokens") != std::string::npos ? output_tokens_
                  : key.find("tokens") != std::string::npos        ? tokens_
                  : key.find("requests") != std::string::npos      ? requests_
                                                                   : unnamed_;
  if (reset) {
    target.reset_ms = reset_ms_of(value, now_unix_s);
  } else {
    skip(value, " ");
    const auto remaining_count = take_number(value);
    target.exhausted = remaining_count && *remaining_count == 0;
  }
  update_reset_times();
}

void retry_headers::update_reset_times() {
  exhausted_reset_ms_ = earliest_reset_ms_ = 0;
  for (const limit& l : {requests_, tokens_, input_tokens_, output_tokens_, unnamed_}) {
    if (l.reset_ms == 0) continue;
    if (l.exhausted) exhausted_reset_ms_ = std::max(exhausted_reset_ms_, l.reset_ms);
    earliest_reset_ms_ = earliest_reset_ms_ == 0 ? l.reset_ms : std::min(earliest_reset_ms_, l.reset_ms);
  }
}

}  // namespace llm
