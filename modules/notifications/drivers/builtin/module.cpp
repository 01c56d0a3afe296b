// Driver `builtin` of notify.orchestrator/1, which needs no other service.
#include "mailer.hpp"
#include "migrations.hpp"
#include "settings.hpp"
#include "vapid_store.hpp"

namespace notify_builtin {
namespace {

class driver {
 public:
  static constexpr std::uint32_t capabilities = RY_NOTIFY_EMAIL | RY_NOTIFY_PUSH | RY_NOTIFY_FOLLOWS;

  driver(ry::context& ctx, ry::registrar& reg) : ctx_(ctx), mail_(ctx), push_(ctx, push_options(ctx)) {
    reg.migrations(ry_migrations::all);
    static constexpr auto table = ry::notify::orchestrator_table<driver>();
    reg.contribute(RY_NOTIFY_ORCHESTRATOR_1, "builtin", &table, this);
  }
  ry::task<void> start() {
    mail_.start();
    if (push_.vapid()) co_return;
    try {
      auto key = co_await load_or_create_vapid_key(ctx_);
      push_.use(std::move(key));
    } catch (const ry::error& e) {
      if (e.status() != RY_DATA_LOSS) throw;
      ctx_.log(RY_LOG_ERROR,
               "Web Push is disabled: its key cannot be decrypted. Restore secrets.key, or set "
               "notify_builtin.vapid_private_key",
               {{"reason", e.message()}});
    }
  }

  const ry::context& host() const { return ctx_; }

  std::string accepts(const ry::notify::token& t) const { return push_.accepts(t); }
  std::string web_push_key() const { return push_.vapid() ? push_.vapid()->public_text() : std::string(); }

  ry::task<ry::notify::results> trigger(ry::notify::notification n) {
    ry::notify::results out;
    if (n.wants(RY_NOTIFY_EMAIL)) {
      auto sent = co_await mail_.send(n);
      out.push_back(std::move(sent));
    }
    if (n.wants(RY_NOTIFY_PUSH) && n.tokens.empty()) {
      out.emplace_back(RY_NOTIFY_PUSH, RY_NOTIFY_SKIPPED);
      out.back().detail = "No device is registered";
    } else if (n.wants(RY_NOTIFY_PUSH)) {
      auto pushed = co_await push_.send(n);
      for (auto& r : pushed) out.push_back(std::move(r));
    }
    co_return out;
  }

  ry::task<ry::notify::results> follow(std::vector<ry::notify::sent> sent) {
    std::vector<ry::notify::sent> mail_deliveries, expo_deliveries;
    for (const auto& s : sent) {
      if (s.provider == "mail") mail_deliveries.push_back(s);
      if (s.provider == notify_push::expo_provider) expo_deliveries.push_back(s);
    }
    auto mail_results = co_await mail_.follow(mail_deliveries);
    ry::notify::results expo_results;
    if (!expo_deliveries.empty()) {
      try {
        expo_results = co_await push_.follow(expo_deliveries);
      } catch (const ry::error& e) {
        // Polled again later; the results of the e-mails must not be lost.
        if (e.status() == RY_CANCELLED) throw;
        ctx_.log_error("push receipts could not be fetched from Expo", e);
        for (const auto& s : expo_deliveries) expo_results.emplace_back(s.channels, RY_NOTIFY_ACCEPTED, s.provider);
      }
    }
    ry::notify::results out;
    std::size_t mail_index = 0, expo_index = 0;
    for (const auto& s : sent) {
      if (s.provider == "mail") {
        out.push_back(std::move(mail_results.at(mail_index++)));
      } else if (s.provider == notify_push::expo_provider) {
        out.push_back(std::move(expo_results.at(expo_index++)));
      } else {
        out.emplace_back(s.channels, RY_NOTIFY_ACCEPTED, s.provider);
      }
    }
    co_return out;
  }

 private:
  const ry::context& ctx_;
  mailer mail_;
  notify_push::sender push_;  // has a VAPID key after start()
};

}  // namespace
}  // namespace notify_builtin

RY_MODULE(notify_builtin::driver, "notify_builtin", "0.1.0",
          .needs(RY_CORE_1, RY_DB_1, RY_SECRETS_1, RY_SERVICES_1, RY_HTTP_CLIENT_1, RY_NOTIFY_ORCHESTRATOR_1)
              .wants(RY_SVC_MAIL_1)
              .settings(notify_builtin::settings_schema));
