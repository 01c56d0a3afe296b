#include "api/routes.hpp"

#include <ry/cpp/input.hpp>
#include <ry/cpp/page.hpp>
#include <ry/cpp/utf8.hpp>

#include <algorithm>
#include <boost/algorithm/string/case_conv.hpp>
#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <locale>

#include "api/request_bodies.hpp"
#include "common/unicode.hpp"
#include "json/known_members.hpp"

namespace notifications {

namespace json = boost::json;

namespace {

bool contains(const std::vector<std::string>& all, std::string_view item) {
  return std::find(all.begin(), all.end(), item) != all.end();
}

ry::response success_response(const std::string& message) {
  return ry::response::json("{\"success\":true,\"message\":" + ry::json_string(message) + "}");
}

}  // namespace

void require_enabled(const module_context& o) {
  if (!o.enabled()) {
    throw ry::forbidden("notifications.mode", "Notifications only available in staging mode");
  }
}

void require_title(const rendered_texts& texts) {
  if (!unicode::is_blank(texts.title)) return;
  throw invalid("payload_template",
                "produces an empty title: check that the field title is present and spelled correctly");
}

void routes::add_to(ry::registrar& reg) {
  for (const std::string at : {"/notifications", "/api/notifications"}) {
    reg.route("GET", at + "/settings", 0, this, &routes::settings);
    reg.route("PUT", at + "/settings", 0, this, &routes::put_settings);
    reg.route("GET", at + "/preferences", 0, this, &routes::preferences);
    reg.route("PUT", at + "/preferences", 0, this, &routes::put_preferences);
    reg.route("GET", at + "/device-token", 0, this, &routes::devices);
    reg.route("POST", at + "/device-token", 0, this, &routes::add_device);
    reg.route("DELETE", at + "/device-token/{device_token}", 0, this, &routes::delete_device);
    reg.route("GET", at + "/deliveries", 0, this, &routes::deliveries);
    reg.route("GET", at + "/web-push-key", 0, this, &routes::web_push_key);
  }
  for (const char* at : {"/presence/update", "/api/presence/update"}) {
    reg.route("POST", at, 0, this, &routes::presence);
  }
}

ry::task<ry::response> routes::settings(ry::request r) {
  require_enabled(context_);
  const auto account = co_await context_.caller(r);
  const auto doc = co_await context_.repo.settings_json(account);
  co_return ry::response::json("{\"success\":true,\"settings\":" + doc + "}");
}

ry::task<ry::response> routes::put_settings(ry::request r) {
  require_enabled(context_);
  const auto value = read_settings_request(r.body());
  const auto account = co_await context_.caller(r);
  co_await context_.repo.put_settings(account, value);
  const auto doc = co_await context_.repo.settings_json(account);
  co_return ry::response::json("{\"success\":true,\"message\":\"Notification settings updated\",\"settings\":" + doc +
                               "}");
}

ry::task<std::string> routes::preferences_with_defaults(ry::uuid account) const {
  const auto stored = co_await context_.repo.preferences_json(account);
  auto doc = json::parse(stored).as_object();
  json::object shown;
  const auto& stored_workflows = doc.at("workflows").as_object();
  const auto add = [&](std::string_view id) {
    json::object o{{"email", true}, {"push", true}, {"in_app", true}, {"digest_minutes", 0}};
    const auto channels = channels_of(id);
    o["email"] = (channels & RY_NOTIFY_EMAIL) != 0;
    o["push"] = (channels & RY_NOTIFY_PUSH) != 0;
    o["in_app"] = (channels & RY_NOTIFY_IN_APP) != 0;
    if (const auto* value = stored_workflows.if_contains(json::string_view(id.data(), id.size()))) {
      for (const auto& m : value->as_object())
        if (!m.value().is_null()) o[m.key()] = m.value();
    }
    o["mandatory"] = contains(context_.config.mandatory, id);
    o["urgent"] = contains(context_.config.urgent, id);
    shown[json::string_view(id.data(), id.size())] = std::move(o);
  };
  for (const auto id : known_workflows()) add(id);
  for (const auto& m : stored_workflows) {
    const std::string_view id(m.key().data(), m.key().size());
    if (!shown.contains(m.key())) add(id);
  }
  doc["workflows"] = std::move(shown);
  co_return json::serialize(doc);
}

ry::task<ry::response> routes::preferences(ry::request r) {
  require_enabled(context_);
  const auto account = co_await context_.caller(r);
  const auto doc = co_await preferences_with_defaults(account);
  co_return ry::response::json("{\"success\":true,\"preferences\":" + doc + "}");
}

ry::task<ry::response> routes::put_preferences(ry::request r) {
  require_enabled(context_);
  auto value = read_preferences_request(r.body());
  const auto account = co_await context_.caller(r);
  const auto invalid_part = co_await context_.repo.put_preferences(account, std::move(value));
  if (invalid_part == "workflows") throw invalid(invalid_part, "would have too many members");
  if (!invalid_part.empty())
    throw invalid(invalid_part, "must be a name of the IANA time zone database, like Europe/Berlin");
  const auto doc = co_await preferences_with_defaults(account);
  co_return ry::response::json(
      "{\"success\":true,\"message\":\"Notification preferences updated\",\"preferences\":" + doc + "}");
}

ry::task<ry::response> routes::devices(ry::request r) {
  require_enabled(context_);
  const auto account = co_await context_.caller(r);
  const auto list = co_await context_.repo.devices_json(account);
  co_return ry::response::json("{\"devices\":" + list + "}");
}

ry::task<ry::response> routes::add_device(ry::request r) {
  require_enabled(context_);
  auto value = read_device_request(r.body());
  const auto account = co_await context_.caller(r);
  const auto driver = context_.driver();
  if (!driver) throw ry::unavailable("notifications.no_driver", "No notification orchestrator is available");
  std::string name = value.token;
  if ((driver->table->capabilities & RY_NOTIFY_PUSH) != 0) {
    const ry::notify::token token(value.provider, value.token, value.type);
    const auto view = token.view();
    char text[512];
    ry_errbuf error{text, sizeof text, 0};
    const auto copy_text = [](void* to, ry_bytes bytes) noexcept {
      (void)ry::guard([&] { *static_cast<std::string*>(to) = ry::view(bytes); });
    };
    const auto st = driver->table->accepts(driver->self, &view, copy_text, &name, &error);
    if (st != RY_OK) {
      throw ry::http_error(422, RY_INVALID_ARGUMENT, "notifications.device_token",
                           error.len != 0 ? std::string(text, error.len) : std::string("provider is not supported"));
    }
  }
  const auto evicted = co_await context_.repo.put_device(account, std::move(value), std::move(name));
  if (evicted != 0) context_.device_limit_reached.add(static_cast<double>(evicted));
  context_.ctx.jobs().wake("notifications");
  co_return success_response("Device token registered");
}

ry::task<ry::response> routes::delete_device(ry::request r) {
  require_enabled(context_);
  const auto provider =
      boost::algorithm::to_lower_copy(ry::query_text(r, "provider", 0, 64).value_or(""), std::locale::classic());
  const std::string token(r.param("device_token"));
  if (!ry::is_utf8(token)) throw invalid("device_token", "must be UTF-8");
  const auto account = co_await context_.caller(r);
  co_await context_.repo.delete_device(account, token, provider);
  context_.ctx.jobs().wake("notifications");
  co_return success_response("Device token removed");
}

ry::task<ry::response> routes::web_push_key(ry::request r) {
  require_enabled(context_);
  (void)co_await context_.caller(r);
  const auto driver = context_.driver();
  if (!driver) throw ry::unavailable("notifications.no_driver", "No notification orchestrator is available");
  std::string key;
  const auto copy_text = [](void* to, ry_bytes bytes) noexcept {
    (void)ry::guard([&] { *static_cast<std::string*>(to) = ry::view(bytes); });
  };
  const auto* table = driver->table;
  const bool has = RY_HAS(table, ry_notify_orchestrator_v1, web_push_key) && table->web_push_key != nullptr &&
                   table->web_push_key(driver->self, copy_text, &key) == RY_OK;
  if (!has || key.empty()) throw ry::not_found("notifications.no_key", "Web Push is not available on this server");
  co_return ry::response::json("{\"public_key\":" + ry::json_string(key) + "}");
}

ry::task<ry::response> routes::deliveries(ry::request r) {
  require_enabled(context_);
  const auto limit = limit_of(r);
  const auto account = co_await context_.caller(r);
  const auto list = "notifications:deliveries:" + account.to_string();
  const auto before = ry::query_number_cursor(r, list);
  const auto rows = co_await context_.repo.deliveries(account, before, limit);
  co_return ry::response::json(ry::page_json("deliveries", list, rows));
}

ry::task<ry::response> routes::presence(ry::request r) {
  const auto body = read_object(r.body());
  module_json::require_known_members(body, {"session_id", "active_thread_id"});
  auto session = text_in(body, "session_id", 128);
  std::optional<ry::uuid> thread;
  if (const auto text = opt_text_in(body, "active_thread_id", 64)) thread = ry::require_uuid(*text);
  const auto account = co_await context_.caller(r);
  co_await context_.repo.put_presence(account, std::move(session), thread);
  co_return ry::response::json("{\"success\":true}");
}

}  // namespace notifications
