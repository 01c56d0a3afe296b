#include "workflows/sentences.hpp"

#include <algorithm>
#include <array>
#include <boost/json/serialize.hpp>
#include <charconv>
#include <cmath>
#include <optional>
#include <ry/cpp/text.hpp>

#include "json/members.hpp"

namespace notifications {

namespace json = boost::json;

namespace {

constexpr std::size_t max_lines = 8;
constexpr std::size_t max_excerpt_bytes = 600;

struct currency_form {
  std::string_view code, sign;
  int decimals;
};
constexpr std::array<currency_form, 14> currencies{{{"EUR", "\xe2\x82\xac", 2},
                                                    {"USD", "$", 2},
                                                    {"GBP", "\xc2\xa3", 2},
                                                    {"JPY", "\xc2\xa5", 0},
                                                    {"CNY", "CN\xc2\xa5", 2},
                                                    {"INR", "\xe2\x82\xb9", 2},
                                                    {"KRW", "\xe2\x82\xa9", 0},
                                                    {"BRL", "R$", 2},
                                                    {"CAD", "CA$", 2},
                                                    {"AUD", "A$", 2},
                                                    {"NZD", "NZ$", 2},
                                                    {"CHF", "CHF ", 2},
                                                    {"MXN", "MX$", 2},
                                                    {"ILS", "\xe2\x82\xaa", 2}}};

std::optional<double> number_in(std::string_view text) {
  double out = 0;
  const auto r = std::from_chars(text.data(), text.data() + text.size(), out);
  if (r.ec != std::errc() || r.ptr != text.data() + text.size() || !std::isfinite(out) || std::abs(out) >= 1e12)
    return std::nullopt;
  return out;
}

std::string fixed(double value, int decimals) {
  char text[64];
  return std::string(text, std::to_chars(text, text + sizeof text, value, std::chars_format::fixed, decimals).ptr);
}

std::string grouped(std::string digits) {
  const auto dot = std::min(digits.find('.'), digits.size());
  for (auto at = dot; at > 3; at -= 3) digits.insert(at - 3, 1, ',');
  return digits;
}

std::string plural(std::int64_t n, std::string_view unit) {
  return (n == 0 ? "no" : std::to_string(n)) + " " + std::string(unit) + (n == 1 ? "" : "s");
}

std::string cost_text(std::int64_t micro) {
  auto credits = fixed(static_cast<double>(micro) / 1e6, micro % 1'000'000 == 0 ? 0 : 2);
  if (micro > 0 && credits == "0.00") return "less than 0.01 credits";
  return credits + (micro == 1'000'000 ? " credit" : " credits");
}

std::string stats_text(const json::object& details) {
  const auto ms = module_json::integer_at(details, "duration_ms", -1),
             micro = module_json::integer_at(details, "charged_micro", -1);
  std::string out;
  if (ms >= 0) out = "Took " + duration_text(ms);
  if (micro > 0) out += (out.empty() ? "Cost " : ", cost ") + cost_text(micro);
  return out.empty() ? out : out + ".";
}

// expires_at: ISO 8601 in UTC.
std::string timeout_text(std::string_view expires_at, std::string_view on_timeout) {
  if (expires_at.size() < 16 || on_timeout.empty()) return {};
  return "Without a decision by " + std::string(expires_at.substr(0, 10)) + " " +
         std::string(expires_at.substr(11, 5)) + " UTC, the " +
         (on_timeout == "stop" ? "run is stopped." : "call is denied.");
}

}  // namespace

std::string scalar_text(const json::value& v) {
  if (!v.is_double() || std::abs(v.get_double()) >= 1e15) return json::serialize(v);
  char text[400];
  return std::string(text, std::to_chars(text, text + sizeof text, v.get_double(), std::chars_format::fixed).ptr);
}

std::string price_text(std::string_view amount, std::string_view currency) {
  std::string code(currency);
  std::transform(code.begin(), code.end(), code.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  const auto value = number_in(amount);
  if (!value) return std::string(amount) + (amount.empty() || code.empty() ? "" : " ") + code;
  for (const auto& c : currencies) {
    if (c.code != code) continue;
    return (*value < 0 ? "-" : "") + std::string(c.sign) + grouped(fixed(std::abs(*value), c.decimals));
  }
  const auto digits = (*value < 0 ? "-" : "") + grouped(fixed(std::abs(*value), 2));
  return code.empty() ? digits : digits + " " + code;
}

std::string duration_text(std::int64_t ms) {
  const auto s = (ms + 500) / 1000;
  if (s < 60) return std::to_string(std::max<std::int64_t>(s, 1)) + " s";
  if (s < 3600) return std::to_string(s / 60) + " min" + (s % 60 == 0 ? "" : " " + std::to_string(s % 60) + " s");
  return std::to_string(s / 3600) + " h" + (s % 3600 < 60 ? "" : " " + std::to_string(s % 3600 / 60) + " min");
}

std::string first_lines(std::string_view text) {
  text = ry::trimmed(text);
  if (text.empty()) return {};
  std::size_t end = 0;
  for (std::size_t lines = 0; lines < max_lines && end < text.size(); ++lines) {
    end = std::min(text.find('\n', end + (lines == 0 ? 0 : 1)), text.size());
  }
  std::string out(text.substr(0, std::min(end, max_excerpt_bytes)));
  if (end > max_excerpt_bytes) {
    while (!out.empty() && (static_cast<unsigned char>(out.back()) & 0xc0) == 0x80) out.pop_back();
    if (!out.empty() && static_cast<unsigned char>(out.back()) >= 0xc0) out.pop_back();
  }
  return out.size() < text.size() ? out + " \xe2\x80\xa6" : out;
}

void add_sentences(std::map<std::string, std::string, std::less<>>& values, const json::object& payload,
                   const json::object& details) {
  const auto value_of = [&](std::string_view name) {
    const auto found = values.find(name);
    return found == values.end() ? std::string() : found->second;
  };
  const auto task = value_of("task_name");
  values["task_title"] = task.empty() || task == "Your task" ? "Your task" : "Your task \"" + task + "\"";
  const auto* result = details.if_contains("result");
  values["result"] =
      result != nullptr && result->is_string() ? first_lines(std::string_view(result->get_string())) : std::string();
  values["stats"] = stats_text(details);
  values["task_line"] = task.empty() ? std::string() : "Task: " + task;
  values["arguments"] = module_json::text_of(details, "arguments");
  values["timeout_line"] = timeout_text(value_of("expires_at"), module_json::text_at(details, "on_timeout"));
  values["price"] = price_text(value_of("amount"), value_of("currency"));
  const auto credits = module_json::integer_at(payload, "remaining_credits", -1);
  values["credits_left"] = credits >= 0 ? plural(credits, "credit") : value_of("remaining_credits") + " credits";
  if (value_of("action_url").empty()) {
    values["action_label"].clear();
  } else if (value_of("action_label").empty()) {
    values["action_label"] = "Learn more";
  }
}

}  // namespace notifications
