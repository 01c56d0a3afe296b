#include "core/auth/rejection_log.hpp"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <optional>
#include <utility>

#include "core/auth/base64url.hpp"
#include "core/auth/jwt.hpp"
#include "core/observe/log.hpp"

namespace ry::auth {
namespace {

namespace json = boost::json;

constexpr double refill_per_us = 1.0 / 3'000'000;
constexpr std::size_t max_quoted = 200;
constexpr std::size_t max_read = 64 * 1024;

std::string text_of(const json::object& o, const char* name) {
  const auto* v = o.if_contains(name);
  return v && v->is_string() ? for_log({v->get_string().data(), v->get_string().size()}) : std::string();
}

std::string audience_of(const json::object& claims) {
  const auto* aud = claims.if_contains("aud");
  if (!aud || !aud->is_array()) return text_of(claims, "aud");
  std::string all;
  for (const auto& item : aud->get_array()) {
    if (all.size() > max_quoted) break;
    if (item.is_string()) all += (all.empty() ? "" : ", ") + std::string(item.get_string());
  }
  return for_log(all);
}

std::optional<json::object> segment(std::string_view text) {
  const auto decoded = base64url_decode(text);
  if (!decoded) return std::nullopt;
  json::error_code ec;
  auto v = json::parse(*decoded, ec);
  if (ec || !v.is_object()) return std::nullopt;
  return std::move(v.get_object());
}

void add(json::object& out, std::string_view name, std::string value) {
  if (!value.empty()) out[name] = value;
}

void add_times(json::object& out, const json::object& claims, std::int64_t now_us) {
  const auto seconds = [&](const char* name) -> std::optional<std::int64_t> {
    const auto* v = claims.if_contains(name);
    const auto at = v ? numeric_date_us(*v) : std::nullopt;
    return at ? std::optional((now_us - *at) / 1'000'000) : std::nullopt;
  };
  if (const auto ago = seconds("exp"); ago && *ago >= 0) add(out, "expired_seconds_ago", std::to_string(*ago));
  if (const auto ago = seconds("nbf"); ago && *ago < 0) add(out, "valid_in_seconds", std::to_string(-*ago));
}

// Claims of the token. Nothing of it is verified.
void add_claimed(json::object& out, std::string_view bearer, std::int64_t now_us) {
  if (!looks_like_jwt(bearer) || bearer.size() > max_read) return;
  const auto first = bearer.find('.'), second = bearer.find('.', first + 1);
  if (const auto header = segment(bearer.substr(0, first))) {
    add(out, "algorithm", text_of(*header, "alg"));
    add(out, "kid", text_of(*header, "kid"));
  }
  if (const auto claims = segment(bearer.substr(first + 1, second - first - 1))) {
    add(out, "issuer", text_of(*claims, "iss"));
    add(out, "audience", audience_of(*claims));
    add_times(out, *claims, now_us);
  }
}

}  // namespace

std::string for_log(std::string_view text) {
  std::string out(text.substr(0, max_quoted));
  std::replace_if(
      out.begin(), out.end(), [](char c) { return c < 0x20 || c > 0x7e; }, '?');
  return out;
}

bool rejection_log::admit(std::int64_t now_us) {
  std::lock_guard lock(mutex_);
  const auto passed = at_us_ == 0 ? 0 : std::max<std::int64_t>(0, now_us - at_us_);
  budget_ = std::min(max_burst, budget_ + static_cast<double>(passed) * refill_per_us);
  at_us_ = std::max(at_us_, now_us);
  if (budget_ < 1) {
    ++left_out_;
    return false;
  }
  budget_ -= 1;
  return true;
}

void rejection_log::write(std::string_view bearer, std::string_view why, const expectation& wanted,
                          std::int64_t now_us) {
  json::object all;
  add(all, "reason", std::string(why));
  add_claimed(all, bearer, now_us);
  add(all, "settings", wanted.issuer_settings);
  add(all, "expected_issuer", for_log(wanted.issuer));
  add(all, "expected_audience", for_log(wanted.audience));
  {
    std::lock_guard lock(mutex_);
    if (left_out_ != 0) add(all, "lines_left_out", std::to_string(std::exchange(left_out_, 0)));
  }
  observe::log_json(observe::level::info, "auth", "a token was refused", json::serialize(all));
}

}  // namespace ry::auth
