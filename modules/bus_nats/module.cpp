// The module `bus_nats`: live topics through NATS JetStream. See README.md.
#include <sodium.h>

#include <migrations.hpp>
#include <ry/cpp/settings_check.hpp>
#include <ry/ry.hpp>

#include "driver.hpp"

namespace bus_nats {
namespace {

class module {
 public:
  explicit module(ry::context& ctx, ry::registrar& reg)
      : ctx_(ctx), driver_(ctx, read_settings(ctx.settings(), faults_)) {
    reg.migrations(ry_migrations::all);
    reg.contribute(RY_SETTINGS_CHECK_1, "bus_nats", &ry::settings_faults::table, &faults_);
    reg.contribute(RY_EVENT_BUS_1, "nats", driver::table(), &driver_);
  }

  ry::task<void> start() {
    if (sodium_init() < 0) throw ry::unavailable("bus_nats.sodium", "libsodium cannot be used");
    auto rows = co_await ctx_.db().query("select encode(key, 'hex') from bus_nats.seal");
    const std::string hex(rows.value().front().text(0));
    seal_key key;
    if (sodium_hex2bin(key.data(), key.size(), hex.data(), hex.size(), nullptr, nullptr, nullptr) != 0)
      throw ry::unavailable("bus_nats.seal", "the table bus_nats.seal contains no valid key");
    driver_.set_key(key);
  }

 private:
  ry::context& ctx_;
  ry::settings_faults faults_;
  driver driver_;
};

}  // namespace
}  // namespace bus_nats

// libnats has its own threads and thread-local storage for the lifetime of the process.
RY_MODULE(bus_nats::module, "bus_nats", "0.1.0",
          .needs(RY_DB_1, RY_METRICS_1, RY_EVENT_BUS_1)
              .wants(RY_SETTINGS_CHECK_1)
              .settings(bus_nats::settings_schema)
              .flags(RY_MODULE_NO_UNLOAD));
