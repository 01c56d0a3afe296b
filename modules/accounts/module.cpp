#include <ry/cpp/module.hpp>

#include "key_authenticator.hpp"
#include "migrations.hpp"
#include "routes.hpp"

namespace accounts {
namespace {

constexpr std::string_view settings_schema = R"({
  "type": "object",
  "properties": {
    "default_tier": {"type": "string", "default": "free", "description": "Tier of a new account"},
    "low_credit_percent": {"type": "integer", "minimum": 0, "maximum": 100, "default": 20,
      "description": "credits.low is published when a balance falls below this share of the last grant"},
    "tiers": {
      "type": "object",
      "description": "Limits by tier; free, pro and enterprise are built in, what is given here replaces single values",
      "additionalProperties": {
        "type": "object",
        "properties": {
          "concurrent_runs": {"type": "integer", "minimum": 0},
          "threads": {"type": "integer", "minimum": 0},
          "custom_mcps": {"type": "integer", "minimum": 0},
          "upload_file_bytes": {"type": "integer", "minimum": 0},
          "upload_files": {"type": "integer", "minimum": 0},
          "starting_credits": {"type": "integer", "minimum": 0,
            "description": "Granted once, when the account is made"},
          "models": {"type": "array", "items": {"type": "string", "minLength": 1},
            "description": "Aliases or provider/model names; [\"*\"] = all"}
        }
      }
    }
  }
})";

class service {
 public:
  service(ry::context& ctx, ry::registrar& reg)
      : ctx_(ctx),
        cfg_(read_config(ctx.settings())),
        repo_(ctx),
        people_(ctx, repo_, cfg_),
        keys_(ctx, repo_),
        routes_(ctx, repo_, people_, cfg_) {
    reg.migrations(ry_migrations::all);
    routes_.add_to(reg);
    reg.provide(RY_SVC_ACCOUNTS_1, directory::table(), &people_);
    reg.contribute(RY_AUTHENTICATOR_1, "accounts", key_authenticator::table(), &keys_);
  }

  ry::task<void> start() {
    co_await repo_.set_low_percent(cfg_.low_credit_percent);
    changes_ = ctx_.db().listen(changed_channel, 5000, co_await ry::this_exec(),
                                [this] { ctx_.spawn(drop_changed()); });
  }

  ry::task<void> stop() {
    changes_.reset();
    co_return;
  }

 private:
  // Another node changed an account or revoked a key: what is remembered of it here is of no use.
  ry::task<void> drop_changed() {
    const auto subjects = co_await repo_.changed_lately();
    for (const auto& s : subjects) {
      people_.forget(s);
      ry::auth(ctx_).forget(s);
    }
  }

  const ry::context& ctx_;
  const config cfg_;
  const repository repo_;
  directory people_;
  key_authenticator keys_;
  routes routes_;
  ry::subscription changes_;
};

}  // namespace
}  // namespace accounts

RY_MODULE(accounts::service, "accounts", "0.1.0",
          .needs(RY_HTTP_1, RY_DB_1, RY_AUTH_1, RY_AUTHENTICATOR_1)
              .provides(RY_SVC_ACCOUNTS_1)
              .settings(accounts::settings_schema));
