// One operation of modules/mcp again and again: the list of a server's tools, or a call of its tool `echo`, each on a
// connection of its own. Begins when its health is asked for the first time, prints one line of JSON, and is healthy
// when it is done.
#include <ry/ext/sandbox_driver.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <ry/ry.hpp>

#include "mcp_service.hpp"

namespace bench_mcp {
namespace {

constexpr char schema[] = R"json({
  "type": "object",
  "properties": {
    "name": {"type": "string", "default": ""},
    "type": {"type": "string", "default": "http"},
    "config": {"type": "string", "default": "{}"},
    "boxed": {"type": "boolean", "default": false},
    "op": {"type": "string", "default": "call", "enum": ["call", "list"]},
    "n": {"type": "integer", "default": 50, "minimum": 1},
    "warm": {"type": "integer", "default": 20, "minimum": 0},
    "at_once": {"type": "integer", "default": 1, "minimum": 1},
    "pause_ms": {"type": "integer", "default": 0, "minimum": 0, "description": "Between two operations"}
  }
})json";

double cpu_ms(int who) {
  rusage u{};
  getrusage(who, &u);
  return static_cast<double>(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e3 +
         static_cast<double>(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e3;
}
double quantile(const std::vector<double>& sorted, double q) {
  const auto at = static_cast<std::size_t>(std::ceil(q * static_cast<double>(sorted.size())));
  return sorted[std::max<std::size_t>(at, 1) - 1];
}

class module {
 public:
  module(ry::context& ctx, ry::registrar& reg) :ctx_(ctx),
      own_(mcp::parse(ctx.settings()).as_object()), context_{ctx, {}, {}}, broker_(context_, settings_) {
    context_.max_message_bytes = settings_.max_message_bytes;
    reg.define_point(RY_MCP_TRANSPORT_1, &context_.transports);
    reg.define_point(RY_SANDBOX_DRIVER_1, &boxes_);
  }
  ry::result<void> health() {
    if (!begun_.exchange(true)) ctx_.spawn(run());
    if (over_) return {};
    return ry::unavailable("bench", "under way");
  }

 private:
  std::int64_t number(const char* key) const { return own_.at(key).as_int64(); }

  ry::task<void> once(mcp::server_ptr to, bool list) {
    if (list) {
      const auto tools = co_await broker_.discover(to, mcp::cache_policy::refresh);
      if (tools->tools.empty()) throw ry::internal("bench", "no tools");
      co_return;
    }
    mcp::mcp_service::call_request request;
    request.tool = "echo";
    request.arguments["message"] = "hi";
    const std::string said = co_await broker_.call(to, std::move(request));
    if (said.find("Echo: hi") == std::string::npos) throw ry::internal("bench", "a wrong answer: " + said);
  }
  ry::task<void> worker(mcp::server_ptr to, bool list, std::int64_t* left, std::vector<double>* times) {
    while (--*left >= 0) {
      const auto begun = ctx_.mono_us();
      co_await once(to, list);
      times->push_back(static_cast<double>(ctx_.mono_us() - begun) / 1e3);
      if (const auto ms = number("pause_ms"); ms > 0) co_await ctx_.sleep(static_cast<std::uint64_t>(ms));
    }
  }
  ry::task<void> measure() {
    const auto to = broker_.servers().ad_hoc("peer", mcp::text_of(own_, "type"), mcp::text_of(own_, "type"),
                                             mcp::parse(mcp::text_of(own_, "config")).as_object(), "",
                                             own_.at("boxed").as_bool() ? 0 : RY_MCP_OPERATOR);
    const bool list = mcp::text_of(own_, "op") == "list";
    for (auto i = number("warm"); i > 0; --i) co_await once(to, list);
    std::vector<double> times;
    const auto n = number("n");
    auto left = n;
    const double mine = cpu_ms(RUSAGE_SELF), children = cpu_ms(RUSAGE_CHILDREN);
    const auto begun = ctx_.mono_us();
    std::vector<ry::task<void>> all;
    for (auto i = number("at_once"); i > 0; --i) all.push_back(worker(to, list, &left, &times));
    const auto ended = co_await ry::when_all(std::move(all));
    for (const auto& each : ended) each.value();
    const double wall = static_cast<double>(ctx_.mono_us() - begun) / 1e3;
    const auto per_op = [&](double since, int who) { return (cpu_ms(who) - since) / static_cast<double>(n); };
    std::sort(times.begin(), times.end());
    std::printf(
        "{\"name\":\"%s\",\"n\":%zu,\"median_ms\":%.3f,\"p95_ms\":%.3f,\"min_ms\":%.3f,\"ops_per_s\":%.1f,"
        "\"client_cpu_ms_per_op\":%.3f,\"child_cpu_ms_per_op\":%.3f}\n",
        mcp::text_of(own_, "name").c_str(), times.size(), quantile(times, .5), quantile(times, .95), times.front(),
        static_cast<double>(n) * 1e3 / wall, per_op(mine, RUSAGE_SELF), per_op(children, RUSAGE_CHILDREN));
    std::fflush(stdout);
  }
  ry::task<void> run() {
    try {
      co_await measure();
    } catch (...) {
      const auto e = ry::current_error();
      std::fprintf(stderr, "bench_mcp: %s\n", std::string(e.message()).c_str());
    }
    over_ = true;
  }

  ry::context& ctx_;
  const mcp::json::object own_;
  const mcp::settings settings_ = mcp::read_settings("{}");
  mcp::client_context context_;
  ry::drivers<ry_sandbox_driver_v1> boxes_;  // the sandbox wants a place for its other drivers
  mcp::mcp_service broker_;
  std::atomic<bool> begun_{false}, over_{false};
};

}  // namespace
}  // namespace bench_mcp

RY_MODULE(
    bench_mcp::module, "bench_mcp", "0.1.0",
    .needs(RY_CORE_1, RY_METRICS_1).provides(RY_MCP_TRANSPORT_1, RY_SANDBOX_DRIVER_1).settings(bench_mcp::schema));
