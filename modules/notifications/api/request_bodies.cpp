#include "api/request_bodies.hpp"

#include <algorithm>
#include <boost/algorithm/string/case_conv.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <locale>

#include "common/unicode.hpp"
#include "json/known_members.hpp"
#include "workflows/workflow.hpp"

namespace notifications {

namespace json = boost::json;

namespace {

constexpr std::size_t max_token_bytes = 2'000;  // limits of the table
constexpr std::int64_t max_digest_minutes = 24 * 60;
constexpr std::size_t max_workflows = 100;

const json::value* member(const json::object& o, std::string_view name) {
  const auto* v = o.if_contains(json::string_view(name.data(), name.size()));
  return v == nullptr || v->is_null() ? nullptr : v;
}

bool is_time_of_day(std::string_view t) {
  const auto digit = [&](std::size_t i) { return t[i] >= '0' && t[i] <= '9'; };
  return t.size() == 5 && t[2] == ':' && digit(0) && digit(1) && digit(3) && digit(4) &&
         (t[0] < '2' || (t[0] == '2' && t[1] < '4')) && t[3] < '6';
}

std::string time_of_day_in(const json::object& o, std::string_view name) {
  auto out = text_in(o, name, 5);
  if (!is_time_of_day(out)) throw invalid(name, "must be a time of day like 22:30");
  return out;
}

json::object workflow_request(const std::string& id, const json::value& v) {
  const auto field = "workflows." + id;
  if (!v.is_object()) throw invalid(field, "must be an object or null");
  json::object out;
  for (const auto& m : v.get_object()) {
    const std::string name(m.key().data(), m.key().size());
    if (name == "digest_minutes") {
      if (!m.value().is_int64() || m.value().get_int64() < 0 || m.value().get_int64() > max_digest_minutes) {
        throw invalid(field + ".digest_minutes", "must be a whole number from 0 to 1440");
      }
    } else if (name == "min_minutes") {
      // null: the server's default.
      const bool is_number =
          m.value().is_int64() && m.value().get_int64() >= 0 && m.value().get_int64() <= max_digest_minutes;
      if (!is_number && !m.value().is_null()) {
        throw invalid(field + ".min_minutes", "must be a whole number from 0 to 1440, or null");
      }
    } else if (name == "email" || name == "push" || name == "in_app") {
      if (!m.value().is_bool()) throw invalid(field + "." + name, "must be true or false");
    } else {
      throw invalid(field + "." + name.substr(0, 64), "is not a known member");
    }
    out[m.key()] = m.value();
  }
  return out;
}

}  // namespace

ry::error invalid(std::string_view field, const std::string& what) {
  return ry::http_error(422, RY_INVALID_ARGUMENT, "notifications.invalid_value", std::string(field) + " " + what);
}

json::object read_object(std::string_view body) {
  if (body.find_first_not_of(" \t\r\n") == body.npos) return {};
  json::error_code bad;
  auto doc = json::parse(json::string_view(body.data(), body.size()), bad);
  if (bad || !doc.is_object()) {
    throw ry::bad_request("notifications.body", "The body must be a JSON object");
  }
  return std::move(doc.get_object());
}

std::optional<bool> boolean_in(const json::object& o, std::string_view name) {
  const auto* v = member(o, name);
  if (v == nullptr) return std::nullopt;
  if (!v->is_bool()) throw invalid(name, "must be true or false");
  return v->get_bool();
}

std::optional<std::string> opt_text_in(const json::object& o, std::string_view name, std::size_t max_bytes) {
  const auto* v = member(o, name);
  if (v == nullptr) return std::nullopt;
  if (!v->is_string()) throw invalid(name, "must be a string");
  std::string s(v->get_string().data(), v->get_string().size());
  if (s.empty() || s.size() > max_bytes) {
    throw invalid(name, "must have 1 to " + std::to_string(max_bytes) + " bytes");
  }
  if (std::any_of(s.begin(), s.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; })) {
    throw invalid(name, "must not contain control characters");
  }
  if (unicode::is_blank(s)) throw invalid(name, "must not be blank");
  return s;
}

std::string text_in(const json::object& o, std::string_view name, std::size_t max_bytes) {
  auto out = opt_text_in(o, name, max_bytes);
  if (!out) throw invalid(name, "is required");
  return *std::move(out);
}

settings_request read_settings_request(std::string_view body) {
  const auto o = read_object(body);
  settings_request out;
  out.email = boolean_in(o, "email_enabled");
  out.push = boolean_in(o, "push_enabled");
  out.in_app = boolean_in(o, "in_app_enabled");
  return out;
}

preferences_request read_preferences_request(std::string_view body) {
  const auto o = read_object(body);
  preferences_request out;
  module_json::require_known_members(o, {"time_zone", "quiet_hours", "workflows"});
  out.time_zone = opt_text_in(o, "time_zone", 64);
  if (const auto* quiet = o.if_contains("quiet_hours")) {
    out.changes_quiet_hours = true;
    if (quiet->is_object()) {
      module_json::require_known_members(quiet->get_object(), {"from", "to"}, "quiet_hours.");
      out.quiet_from = time_of_day_in(quiet->get_object(), "from");
      out.quiet_to = time_of_day_in(quiet->get_object(), "to");
    } else if (!quiet->is_null()) {
      throw invalid("quiet_hours", "must be an object with from and to, or null");
    }
  }
  const auto* workflows = member(o, "workflows");
  if (workflows == nullptr) return out;
  if (!workflows->is_object()) throw invalid("workflows", "must be an object");
  if (workflows->get_object().size() > max_workflows) throw invalid("workflows", "has too many members");
  json::object accepted;
  for (const auto& m : workflows->get_object()) {
    const std::string id(m.key().data(), m.key().size());
    if (!is_workflow_id(id)) throw invalid("workflows." + id.substr(0, 64), "is not a valid workflow id");
    if (m.value().is_null()) {
      accepted[id] = nullptr;
    } else {
      accepted[id] = workflow_request(id, m.value());
    }
  }
  out.workflows_json = json::serialize(accepted);
  return out;
}

device_request read_device_request(std::string_view body) {
  const auto o = read_object(body);
  device_request out;
  out.token = text_in(o, "device_token", max_token_bytes);
  out.type = text_in(o, "device_type", 32);
  out.provider = boost::algorithm::to_lower_copy(text_in(o, "provider", 64), std::locale::classic());
  return out;
}

}  // namespace notifications
