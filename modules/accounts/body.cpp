#include "body.hpp"

#include <algorithm>
#include <boost/json/parse.hpp>

#include "common/unicode.hpp"
#include "json/credits.hpp"
#include "json/known_members.hpp"

namespace accounts {

namespace json = boost::json;

ry::error body::invalid(std::string_view field, const std::string& what) {
  return ry::http_error(422, RY_INVALID_ARGUMENT, "accounts.invalid_value", std::string(field) + " " + what);
}

body::body(std::string_view text, std::initializer_list<std::string_view> fields) {
  if (text.find_first_not_of(" \t\r\n") == text.npos) return;
  json::error_code ec;
  auto v = json::parse(json::string_view(text.data(), text.size()), ec);
  if (ec || !v.is_object()) {
    throw ry::bad_request("accounts.body", "The body must be a JSON object");
  }
  object_ = std::move(v.get_object());
  module_json::require_known_members(object_, fields);
}

bool body::has(std::string_view name) const {
  const auto* v = object_.if_contains(json::string_view(name.data(), name.size()));
  return v && !v->is_null();
}

std::optional<std::string> body::text(std::string_view name, std::size_t min, std::size_t max) const {
  if (!has(name)) return std::nullopt;
  const auto& v = object_.at(json::string_view(name.data(), name.size()));
  if (!v.is_string()) throw invalid(name, "must be a string");
  std::string s(v.get_string().data(), v.get_string().size());
  if (s.size() < min || s.size() > max) {
    throw invalid(name, "must have " + std::to_string(min) + " to " + std::to_string(max) + " bytes");
  }
  if (std::any_of(s.begin(), s.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; })) {
    throw invalid(name, "must not contain control characters");
  }
  if (min > 0 && unicode::is_blank(s)) throw invalid(name, "must not be blank");
  return s;
}

std::optional<std::string> body::name(std::string_view member, std::size_t max) const {
  if (!has(member)) return std::nullopt;
  auto s = unicode::clean_name(raw_text(member));
  if (unicode::is_blank(s)) throw invalid(member, "must not be blank");
  if (s.size() > max) throw invalid(member, "must have at most " + std::to_string(max) + " bytes");
  return s;
}

std::string body::raw_text(std::string_view name) const {
  const auto* v = object_.if_contains(json::string_view(name.data(), name.size()));
  if (!v || !v->is_string()) throw invalid(name, "must be a string");
  return std::string(v->get_string().data(), v->get_string().size());
}

std::optional<std::int64_t> body::integer(std::string_view name, std::int64_t min, std::int64_t max) const {
  if (!has(name)) return std::nullopt;
  const auto& v = object_.at(json::string_view(name.data(), name.size()));
  if (!v.is_int64() || v.get_int64() < min || v.get_int64() > max) {
    throw invalid(name, "must be a whole number from " + std::to_string(min) + " to " + std::to_string(max));
  }
  return v.get_int64();
}

std::optional<std::int64_t> body::credits(std::string_view name) const {
  if (!has(name)) return std::nullopt;
  constexpr std::int64_t max_credits = 1'000'000'000 * RY_MICRO_PER_CREDIT;
  const auto micro =
      module_json::micro_credits(object_.at(json::string_view(name.data(), name.size())), 1, max_credits);
  if (!micro) throw invalid(name, "must be a number of credits from 0.000001 to 1000000000 with at most six decimals");
  return micro;
}

std::optional<bool> body::flag(std::string_view name) const {
  if (!has(name)) return std::nullopt;
  const auto& v = object_.at(json::string_view(name.data(), name.size()));
  if (!v.is_bool()) throw invalid(name, "must be true or false");
  return v.get_bool();
}

const json::object* body::object(std::string_view name) const {
  if (!has(name)) return nullptr;
  const auto& v = object_.at(json::string_view(name.data(), name.size()));
  if (!v.is_object()) throw invalid(name, "must be an object");
  return &v.get_object();
}

}  // namespace accounts
