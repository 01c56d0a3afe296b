#include <ry/cpp/module.hpp>
#include <ry/cpp/settings_check.hpp>

#include "migrations.hpp"
#include "openapi.hpp"
#include "postman.hpp"
#include "routes.hpp"
#include "service.hpp"

namespace mail {
namespace {

// How this server is reached from outside. Empty: nobody knows.
std::string link_base(const ry::context& ctx) {
  std::string base(ctx.fact("http.public_url"));
  if (base.empty() && ctx.fact("deployment.mode") == "local") {
    base = "http://" + std::string(ctx.fact("http.listen"));
  }
  while (!base.empty() && base.back() == '/') base.pop_back();
  return base.empty() ? base : base + std::string(ctx.fact("http.base_path"));
}

class module {
 public:
  module(ry::context& ctx, ry::registrar& reg)
      : ctx_(ctx),
        settings_(read_settings(ctx.settings(), faults_)),
        repo_(ctx),
        postman_(ctx, repo_, settings_, link_base(ctx)),
        service_(ctx, repo_, settings_),
        routes_(ctx, repo_) {
    reg.migrations(ry_migrations::all);
    reg.describe(ry_openapi::api);
    routes_.add_to(reg);
    reg.contribute(RY_SETTINGS_CHECK_1, "mail", &ry::settings_faults::table, &faults_);
    reg.provide(RY_SVC_MAIL_1, service::table(), &service_);
    ry::job_options send;
    send.queue = "mail";
    send.max_attempts = static_cast<std::uint32_t>(settings_.max_attempts);
    send.concurrency = settings_.connections;
    send.timeout_ms = settings_.timeout_ms + 60'000;
    send.backoff_ms = 5'000;
    reg.job("mail.send", &postman_, &postman::deliver, send);
    ry::job_options tidy;
    tidy.queue = "mail";
    tidy.cron = "*/10 * * * *";
    reg.job("mail.tidy", this, &module::tidy, tidy);
  }

  ry::task<void> start() {
    co_await repo_.configure(settings_);
    ctx_.spawn(seal_at_start());
    if (!settings_.host.empty() && link_base(ctx_).empty()) {
      ctx_.warn("http.public_url is not set: there are no links to unsubscribe, and bulk mail is refused");
    }
  }
  ry::task<void> stop() {
    postman_.stop();
    co_return;
  }

 private:
  // In the background: an outbox that holds many messages of the former release does not delay the start.
  ry::task<void> seal_at_start() {
    try {
      co_await postman_.seal_plain_bodies();
    } catch (const ry::error& e) {
      if (e.status() != RY_CANCELLED)
        ctx_.warn("not all bodies in mail.message are encrypted; mail.tidy tries again", {{"why", e.message()}});
    }
  }

  ry::task<ry::job_outcome> tidy(ry::job) {
    co_await postman_.seal_plain_bodies();
    co_await repo_.tidy(settings_.keep_days);
    co_return ry::job_outcome::done();
  }

  const ry::context& ctx_;
  ry::settings_faults faults_;
  const settings settings_;
  const repository repo_;
  postman postman_;
  service service_;
  routes routes_;
};

}  // namespace
}  // namespace mail

RY_MODULE(mail::module, "mail", "0.1.0",
          .needs(RY_CORE_1, RY_HTTP_1, RY_DB_1, RY_JOBS_1, RY_METRICS_1, RY_SECRETS_1)
              .wants(RY_SETTINGS_CHECK_1)
              .provides(RY_SVC_MAIL_1)
              .settings(mail::settings_schema));
