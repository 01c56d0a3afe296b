#include "answer.hpp"

#include <ry/ry.hpp>

#include <algorithm>
#include <boost/json/parse.hpp>
#include <cctype>
#include <cmath>

#include "json_text.hpp"

namespace llm {

namespace json = boost::json;

usage with_estimates(usage u, std::int64_t input_estimate, std::size_t produced) {
  // Every request says something, and so did this answer if it produced bytes: a zero counted nothing.
  u.input_reported = u.input_reported && u.input != 0;
  u.output_reported = u.output_reported && (u.output != 0 || produced == 0);
  if (!u.input_reported) u.input = std::max(u.input, input_estimate);
  if (!u.output_reported) u.output = std::max(u.output, estimate_tokens(produced));
  u.cached = std::min(u.cached, u.input);
  return u;
}

std::optional<std::int64_t> count_at(const json::object& o, std::string_view key) {
  constexpr double most = 1e9;
  const auto* v = o.if_contains(key);
  if (!v || !v->is_number()) return std::nullopt;
  const double n = v->to_number<double>();
  if (!(n >= 0 && n <= most)) return std::nullopt;
  return std::llround(n);
}

std::optional<json::value> parse_event(std::string_view data) {
  boost::system::error_code ec;
  json::value v = json::parse(data, ec);
  if (!ec) return v;
  const auto valid = with_valid_utf8(data);
  const std::string_view text = valid ? std::string_view(*valid) : data;
  const auto paired = without_lone_surrogates(text);
  if (!valid && !paired) return std::nullopt;
  v = json::parse(paired ? std::string_view(*paired) : text, ec);
  if (ec) return std::nullopt;
  return v;
}

failure failure_of_status(unsigned s, std::string message) {
  if (message.empty()) message = "the model provider answered HTTP " + std::to_string(s);
  if (s == 401 || s == 403) return {RY_UNAUTHENTICATED, "llm.unauthenticated", std::move(message)};
  if (s == 404) return {RY_NOT_FOUND, "llm.not_found", std::move(message)};
  if (s == 408 || s == 504) return {RY_DEADLINE_EXCEEDED, "llm.timeout", std::move(message)};
  if (s == 413) return {RY_OUT_OF_RANGE, "llm.context_too_long", std::move(message)};
  if (s == 429) return {RY_RESOURCE_EXHAUSTED, "llm.rate_limited", std::move(message)};
  if (s >= 500) return {RY_UNAVAILABLE, "llm.unavailable", std::move(message)};
  if (s >= 400) return {RY_INVALID_ARGUMENT, "llm.refused", std::move(message)};
  return {RY_DATA_LOSS, "llm.protocol", std::move(message)};
}

std::string presentable(std::string_view text, std::string_view secret) {
  std::string out(text.substr(0, 4096));
  if (secret.size() >= 4)
    for (auto at = out.find(secret); at != std::string::npos; at = out.find(secret, at + 3))
      out.replace(at, secret.size(), "***");
  for (auto at = out.find("sk-"); at != std::string::npos; at = out.find("sk-", at + 3)) {
    auto end = at + 3;
    while (end < out.size() && (std::isalnum(static_cast<unsigned char>(out[end])) ||
                                out[end] == '-' || out[end] == '_' || out[end] == '*'))
      ++end;
    if (end - at >= 9) out.replace(at, end - at, "***");
  }
  for (char& c : out)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  if (out.size() > 500) {
    std::size_t cut = 500;
    while (cut > 0 && (static_cast<unsigned char>(out[cut]) & 0xc0) == 0x80) --cut;
    out.resize(cut);
    out += "...";
  }
  return out;
}

}  // namespace llm
