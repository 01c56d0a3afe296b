// A module that exceeds deadlines: the job abi_lazy.sleeps ignores its deadline until POST /abi_lazy/wake, and health()
// takes as long as set by POST /abi_lazy/health/{ms}.
#include <atomic>
#include <chrono>
#include <ry/ry.hpp>
#include <string>
#include <thread>

namespace {

class lazy {
 public:
  lazy(ry::context& ctx, ry::registrar& reg) : ctx_(ctx) {
    reg.route("POST", "/abi_lazy/wake", RY_ROUTE_PUBLIC, this, &lazy::wake);
    reg.route("POST", "/abi_lazy/health/{ms}", RY_ROUTE_PUBLIC, this, &lazy::set_health);
    ry::job_options schedule;
    schedule.cron = "@every 2s";
    schedule.timeout_ms = 1000;
    reg.job("abi_lazy.sleeps", this, &lazy::sleep, schedule);
  }

  ry::task<void> stop() {
    awake_ = true;
    co_return;
  }
  ry::result<void> health() const {
    std::this_thread::sleep_for(std::chrono::milliseconds(health_ms_.load()));
    return {};
  }

 private:
  ry::task<ry::response> wake(ry::request) {
    awake_ = true;
    co_return ry::response::json("{\"begun\":" + std::to_string(begun_.load()) + "}");
  }
  ry::task<ry::response> set_health(ry::request r) {
    health_ms_ = std::stoi(std::string(r.param("ms")));
    co_return ry::response::json("{}");
  }
  // Work on a blocking thread cannot be cancelled.
  ry::task<ry::job_outcome> sleep(ry::job) {
    ++begun_;
    while (!awake_) co_await ctx_.run_blocking([] { std::this_thread::sleep_for(std::chrono::milliseconds(20)); });
    co_return ry::job_outcome::done();
  }

  ry::context& ctx_;
  std::atomic<bool> awake_{false};
  std::atomic<int> begun_{0}, health_ms_{0};
};

}  // namespace

RY_MODULE(lazy, ABI_NAME, "1.0.0", .needs("ry.core/1", "ry.http/1", "ry.jobs/1").settings("{}"));
