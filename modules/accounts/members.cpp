#include "members.hpp"

#include <boost/json/parse.hpp>

#include "common/unicode.hpp"
#include "json/members.hpp"

namespace accounts {

namespace json = boost::json;

std::string clean_member(const json::object* o, std::string_view name, std::size_t max_bytes) {
  const auto* v = o ? module_json::member_at(*o, name) : nullptr;
  if (!v || !v->is_string()) return {};
  const std::string_view s(v->get_string().data(), v->get_string().size());
  if (s.size() > max_bytes) return {};
  for (const unsigned char c : s) {
    if (c < 0x20 || c == 0x7f) return {};
  }
  return std::string(s);
}

std::string name_member(const json::object* o, std::string_view name, std::size_t max_bytes) {
  const auto* v = o ? module_json::member_at(*o, name) : nullptr;
  if (!v || !v->is_string()) return {};
  auto s = unicode::clean_name({v->get_string().data(), v->get_string().size()});
  return s.size() > max_bytes ? std::string() : s;
}

bool is_true(const json::object* o, std::string_view name) {
  const auto* v = o ? module_json::member_at(*o, name) : nullptr;
  if (!v) return false;
  if (v->is_bool()) return v->get_bool();
  return v->is_string() && ry::iequals({v->get_string().data(), v->get_string().size()}, "true");
}

bool is_explicitly_false(const json::value& v) {
  if (v.is_bool()) return !v.get_bool();
  if (v.is_string()) {
    const std::string_view s(v.get_string().data(), v.get_string().size());
    return s == "0" || ry::iequals(s, "false");
  }
  json::error_code ec;
  return v.is_null() || (v.is_number() && v.to_number<double>(ec) == 0);
}

std::string clean_claim(const ry_principal& principal, std::string_view name, std::size_t max_bytes) {
  const auto text = ry::view(principal.claims_json);
  json::error_code ec;
  const auto doc = json::parse(json::string_view(text.data(), text.size()), ec);
  return clean_member(ec ? nullptr : doc.if_object(), name, max_bytes);
}

const json::object* object_member(const json::object* o, std::string_view name) {
  return o ? module_json::object_at(*o, name) : nullptr;
}

}  // namespace accounts
