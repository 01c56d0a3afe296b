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
  // Every request contains something, and so does an answer that produced bytes: a reported zero was not counted.
  u.input_reported = u.input_reported && u.input != 0;
  u.output_reported = u.output_reported && (u.output != 0 || produced == 0);
  if (!u.input_reported) u.input = std::max(u.input, input_estimate);
  if (!u.output_reported) u.output = std::max(u.output, estimate_tokens(produced));
  u.cached = std::min(u.cached, u.input);
  return u;
}

std::optional<std::int64_t> count_at(const json::object& o, std::string_view key) {
  constexpr double max_count = 1e9;
  const auto* v = o.if_contains(key);
  if (!v || !v->is_number()) return std::nullopt;
  const double n = v->to_number<double>();
  if (!(n >= 0 && n <= max_count)) return std::nullopt;
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

namespace {

failure unquoted_failure_of_status(unsigned s, std::string message) {
  if (s == 401 || s == 403) return {RY_UNAUTHENTICATED, "llm.unauthenticated", std::move(message)};
  if (s == 404) return {RY_NOT_FOUND, "llm.not_found", std::move(message)};
  if (s == 408 || s == 504) return {RY_DEADLINE_EXCEEDED, "llm.timeout", std::move(message)};
  if (s == 413) return {RY_OUT_OF_RANGE, "llm.context_too_long", std::move(message)};
  if (s == 429) return {RY_RESOURCE_EXHAUSTED, "llm.rate_limited", std::move(message)};
  // A conflict, a request sent too early, a failed dependency: official clients retry these.
  if (s >= 500 || s == 409 || s == 424 || s == 425) return {RY_UNAVAILABLE, "llm.unavailable", std::move(message)};
  if (s >= 400) return {RY_INVALID_ARGUMENT, "llm.refused", std::move(message)};
  return {RY_DATA_LOSS, "llm.protocol", std::move(message)};
}

struct client_text {
  std::string_view reason, text;
};
constexpr client_text client_texts[] = {
    {"llm.unauthenticated", "the model provider rejected the server's credentials"},
    {"llm.quota", "the server's quota with the model provider is used up"},
    {"llm.not_found", "the model provider does not offer this model"},
    {"llm.timeout", "the model provider did not answer in time"},
    {"llm.context_too_long", "the conversation is too long for the model"},
    {"llm.rate_limited", "the model provider received too many requests"},
    {"llm.unavailable", "the model provider is unavailable"},
    {"llm.cut_off", "the model provider ended the response before it was complete"},
    {"llm.refused", "the model provider refused the request"},
    {"llm.protocol", "the model provider's answer cannot be read"},
};

}  // namespace

failure failure_of_status(unsigned http_status, std::string message) {
  const bool quoted = !message.empty();
  if (!quoted) message = "the model provider answered HTTP " + std::to_string(http_status);
  auto f = unquoted_failure_of_status(http_status, std::move(message));
  f.quoted = quoted;
  return f;
}

std::string_view client_message(const failure& f) {
  const auto* found = std::find_if(std::begin(client_texts), std::end(client_texts),
                                   [&](const client_text& s) { return s.reason == f.reason; });
  return found == std::end(client_texts) ? std::string_view("the model provider reported an error") : found->text;
}

namespace {

constexpr std::string_view key_prefixes[] = {"sk-",    "sk_", "gsk_", "xai-", "AIza",    "pplx-",
                                             "nvapi-", "hf_", "r8_",  "fw_",  "tgp_v1_", "Bearer "};
constexpr std::size_t min_key_length = 6;  // characters after the prefix

bool is_key_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '*' || c == '.';
}

void hide_keys(std::string& text, std::string_view prefix) {
  for (auto at = text.find(prefix); at != std::string::npos; at = text.find(prefix, at + 3)) {
    if (at > 0 && std::isalnum(static_cast<unsigned char>(text[at - 1])) != 0) continue;  // within a word
    auto end = at + prefix.size();
    while (end < text.size() && is_key_character(text[end])) ++end;
    while (end > at && text[end - 1] == '.') --end;  // end of the sentence
    const std::string_view key = std::string_view(text).substr(at, end - at);
    // Some prefixes are also followed by words: "Bearer authentication".
    const bool looks_random = prefix == "sk-" || key.find_first_of("0123456789*") != std::string_view::npos;
    if (looks_random && key.size() >= prefix.size() + min_key_length) text.replace(at, key.size(), "***");
  }
}

}  // namespace

std::string presentable(std::string_view text, const std::vector<std::string>& secrets) {
  std::string out(text.substr(0, 4096));
  for (const std::string& secret : secrets)
    for (auto at = out.find(secret); !secret.empty() && at != std::string::npos; at = out.find(secret, at + 3))
      out.replace(at, secret.size(), "***");
  for (std::string_view prefix : key_prefixes) hide_keys(out, prefix);
  for (char& c : out)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  if (out.size() > 500) {
    std::size_t length = 500;
    while (length > 0 && (static_cast<unsigned char>(out[length]) & 0xc0) == 0x80) --length;
    out.resize(length);
    out += "...";
  }
  return out;
}

}  // namespace llm
