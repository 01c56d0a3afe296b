#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <ry/cpp/module.hpp>
#include <ry/cpp/settings_check.hpp>

#include "mail_check.hpp"
#include "mail_sender.hpp"
#include "migrations.hpp"
#include "openapi.hpp"
#include "routes.hpp"
#include "service.hpp"

namespace mail {
namespace {

// The public URL of this server; empty: unknown.
std::string link_base(const ry::context& ctx) {
  std::string base(ctx.fact("http.public_url"));
  if (base.empty() && ctx.fact("deployment.mode") == "local") {
    base = "http://" + std::string(ctx.fact("http.listen"));
  }
  while (!base.empty() && base.back() == '/') base.pop_back();
  return base.empty() ? base : base + std::string(ctx.fact("http.base_path"));
}

// The payload of another module's event. Missing members, and members of another type, are empty.
class payload {
 public:
  explicit payload(std::string_view text) {
    boost::json::error_code bad;
    auto doc = boost::json::parse(boost::json::string_view(text.data(), text.size()), bad);
    if (!bad && doc.is_object()) members_ = std::move(doc.get_object());
  }
  std::string text(const char* name) const {
    const auto* v = members_.if_contains(name);
    return v != nullptr && v->is_string() ? std::string(v->get_string().data(), v->get_string().size()) : std::string();
  }
  std::optional<bool> flag(const char* name) const {
    const auto* v = members_.if_contains(name);
    return v != nullptr && v->is_bool() ? std::optional<bool>(v->get_bool()) : std::nullopt;
  }

 private:
  boost::json::object members_;
};

class module {
 public:
  explicit module(ry::context& ctx, ry::registrar& reg)
      : ctx_(ctx),
        settings_(read_settings(ctx.settings(), faults_)),
        brand_(ry_brand_page::brand_of(ctx)),
        repo_(ctx),
        sender_(ctx, repo_, settings_, brand_, link_base(ctx)),
        service_(ctx, repo_, settings_),
        routes_(ctx, repo_, brand_),
        check_(ctx, settings_) {
    reg.migrations(ry_migrations::all);
    reg.describe(ry_openapi::api);
    routes_.add_to(reg);
    reg.contribute(RY_SETTINGS_CHECK_1, "mail", &ry::settings_faults::table, &faults_);
    static constexpr ry_command_v1 check_command{sizeof(ry_command_v1), 0, &mail_check::run};
    reg.contribute(RY_COMMAND_1, RY_COMMAND_MAIL_CHECK, &check_command, &check_);
    reg.provide(RY_SVC_MAIL_1, service::table(), &service_);
    ry::job_options send;
    send.queue = "mail";
    send.max_attempts = static_cast<std::uint32_t>(settings_.max_attempts);
    send.concurrency = settings_.connections;
    send.timeout_ms = settings_.timeout_ms + 60'000;
    send.backoff_ms = 5'000;
    reg.job("mail.send", &sender_, &mail_sender::deliver, send);
    // Has its own concurrency limit, so that bulk mail that uses all connections does not delay a password reset.
    reg.job("mail.send_account", &sender_, &mail_sender::deliver, send);
    reg.subscribe("mail-preferences", "notifications.mail_preference", this, &module::apply_preference);
    reg.subscribe("mail-broadcasts", "notifications.broadcast", this, &module::set_broadcast_state);
    ry::job_options clean_up;
    clean_up.queue = "mail";
    clean_up.cron = "*/10 * * * *";
    reg.job("mail.tidy", this, &module::clean_up, clean_up);
  }

  ry::task<void> start() {
    co_await repo_.configure(settings_);
    ctx_.spawn(seal_at_start());
    if (!settings_.host.empty() && link_base(ctx_).empty()) {
      ctx_.warn("http.public_url is not set: e-mails have no unsubscribe links, and bulk mail is refused");
    }
  }
  ry::task<void> stop() {
    sender_.stop();
    co_return;
  }

 private:
  // Runs in the background, so that an outbox with many messages of the previous release does not delay the start.
  ry::task<void> seal_at_start() {
    try {
      co_await sender_.seal_plain_bodies();
    } catch (const ry::error& e) {
      if (e.status() != RY_CANCELLED)
        ctx_.warn("not all bodies in mail.message are encrypted; mail.tidy tries again", {{"reason", e.message()}});
    }
  }

  // The event's payload: {address, category, wanted}.
  ry::task<void> apply_preference(ry::event e) {
    const payload p(e.payload());
    const auto wanted = p.flag("wanted");
    if (p.text("address").empty() || p.text("category").empty() || !wanted) co_return;
    co_await repo_.apply_preference(p.text("address"), p.text("category"), *wanted);
  }

  // The event's payload: {broadcast, state}.
  ry::task<void> set_broadcast_state(ry::event e) {
    const payload p(e.payload());
    if (!p.text("broadcast").empty()) co_await repo_.set_broadcast_state(p.text("broadcast"), p.text("state"));
  }

  ry::task<ry::job_outcome> clean_up(ry::job) {
    co_await sender_.seal_plain_bodies();
    co_await repo_.purge_expired(settings_.keep_days);
    co_return ry::job_outcome::done();
  }

  const ry::context& ctx_;
  ry::settings_faults faults_;
  const settings settings_;
  const brand brand_;
  const repository repo_;
  mail_sender sender_;
  service service_;
  routes routes_;
  mail_check check_;
};

}  // namespace
}  // namespace mail

RY_MODULE(mail::module, "mail", "0.1.0",
          .needs(RY_CORE_1, RY_HTTP_1, RY_DB_1, RY_JOBS_1, RY_EVENTS_1, RY_METRICS_1, RY_SECRETS_1)
              .wants(RY_SETTINGS_CHECK_1, RY_COMMAND_1)
              .provides(RY_SVC_MAIL_1)
              .settings(mail::settings_schema));
