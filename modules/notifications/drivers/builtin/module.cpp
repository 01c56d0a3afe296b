// Driver `builtin` of notify.orchestrator/1: no vendor.
#include "mailer.hpp"

namespace notify_builtin {
namespace {

class driver {
 public:
  static constexpr std::uint32_t capabilities = RY_NOTIFY_EMAIL | RY_NOTIFY_FOLLOWS;

  driver(ry::context& ctx, ry::registrar& reg) : ctx_(ctx), mail_(ctx) {
    static constexpr auto table = ry::notify::orchestrator_table<driver>();
    reg.contribute(RY_NOTIFY_ORCHESTRATOR_1, "builtin", &table, this);
  }
  void start() { mail_.start(); }

  const ry::context& host() const { return ctx_; }

  ry::task<ry::notify::results> trigger(ry::notify::notification n) {
    ry::notify::results out;
    if (n.wants(RY_NOTIFY_EMAIL)) {
      auto sent = co_await mail_.send(n);
      out.push_back(std::move(sent));
    }
    co_return out;
  }

  ry::task<ry::notify::results> follow(std::vector<ry::notify::sent> sent) {
    co_return co_await mail_.follow(std::move(sent));
  }

 private:
  const ry::context& ctx_;
  mailer mail_;
};

}  // namespace
}  // namespace notify_builtin

RY_MODULE(notify_builtin::driver, "notify_builtin", "0.1.0",
          .needs(RY_CORE_1, RY_DB_1, RY_SERVICES_1, RY_NOTIFY_ORCHESTRATOR_1).wants(RY_SVC_MAIL_1));
