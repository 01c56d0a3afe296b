// A driver of notify.orchestrator/1 that only sends push messages, so that the tests can call the library
// modules/notifications/push without the driver `builtin`.
#include <boost/json/parse.hpp>

#include "sender.hpp"

namespace {

constexpr std::string_view schema = R"json({
  "type": "object",
  "properties": {
    "expo_url": {"type": "string", "default": ""},
    "expo_access_token": {"type": "string", "default": "", "secret": true},
    "vapid_private_key": {"type": "string", "default": "", "secret": true},
    "web_push_hosts": {"type": "array", "items": {"type": "string"}, "default": []}
  }
})json";

class driver {
 public:
  static constexpr std::uint32_t capabilities = RY_NOTIFY_PUSH | RY_NOTIFY_FOLLOWS;

  driver(ry::context& ctx, ry::registrar& reg) : ctx_(ctx), sender_(ctx, read(ctx)) {
    static constexpr auto table = ry::notify::orchestrator_table<driver>();
    reg.contribute(RY_NOTIFY_ORCHESTRATOR_1, "push", &table, this);
  }
  const ry::context& host() const { return ctx_; }
  std::string accepts(const ry::notify::token& t) const { return sender_.accepts(t); }
  ry::task<ry::notify::results> trigger(ry::notify::notification n) { return sender_.send(std::move(n)); }
  ry::task<ry::notify::results> follow(std::vector<ry::notify::sent> all) { return sender_.follow(std::move(all)); }

 private:
  static notify_push::options read(const ry::context& ctx) {
    const auto v = boost::json::parse(ctx.settings());
    const auto text = [&](const char* key) { return std::string(v.as_object().at(key).as_string()); };
    notify_push::options o;
    if (!text("expo_url").empty()) o.expo_url = text("expo_url");
    o.expo_access_token = text("expo_access_token");
    if (!text("vapid_private_key").empty()) o.vapid = notify_push::vapid_key::read(text("vapid_private_key"));
    o.vapid_subject = "mailto:ops@example.org";
    for (const auto& h : v.as_object().at("web_push_hosts").as_array()) {
      o.web_push_hosts.emplace_back(h.as_string());
    }
    if (ctx.fact("deployment.mode") == "local") o.allowed = notify_push::endpoints::http_too;
    return o;
  }

  ry::context& ctx_;
  notify_push::sender sender_;
};

}  // namespace

RY_MODULE(driver, "push_driver", "0.1.0",
          .needs(RY_CORE_1, RY_HTTP_CLIENT_1, RY_NOTIFY_ORCHESTRATOR_1).settings(schema));
