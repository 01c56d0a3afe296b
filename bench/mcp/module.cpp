// Repeats one operation of modules/mcp: listing a server's tools, or a call of its tool `echo`, each on its own
// connection unless connections are reused. Starts at the first health check, prints one line of JSON, and reports
// healthy when it has finished.
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

double cpu_ms(int usage) {
  rusage u{};
  getrusage(usage, &u);
  return static_cast<double>(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e3 +
         static_cast<double>(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e3;
}
double quantile(const std::vector<double>& sorted, double q) {
  const auto at = static_cast<std::size_t>(std::ceil(q * static_cast<double>(sorted.size())));
  return sorted[std::max<std::size_t>(at, 1) - 1];
}

class module {
 public:
  explicit module(ry::context& ctx, ry::registrar& reg)
      : ctx_(ctx),
        options_(mcp::parse(ctx.settings()).as_object()),
        context_{ctx, {}, {}},
        service_(context_, settings_) {
    context_.max_message_bytes = settings_.max_message_bytes;
    reg.define_point(RY_MCP_TRANSPORT_1, &context_.transports);
    reg.define_point(RY_SANDBOX_DRIVER_1, &sandboxes_);
  }
  ry::result<void> health() {
    if (!begun_.exchange(true)) ctx_.spawn(run());
    if (finished_) return {};
    return ry::unavailable("bench", "in progress");
  }

 private:
  std::int64_t number(const char* key) const { return options_.at(key).as_int64(); }

  ry::task<void> once(mcp::server_ptr server, bool list) {
    if (list) {
      const auto tools = co_await service_.discover(server, mcp::cache_policy::refresh);
      if (tools->tools.empty()) throw ry::internal("bench", "no tools");
      co_return;
    }
    mcp::mcp_service::call_request request;
    request.tool = "echo";
    request.arguments["message"] = "hi";
    const std::string text = co_await service_.call(server, std::move(request));
    if (text.find("Echo: hi") == std::string::npos) throw ry::internal("bench", "unexpected response: " + text);
  }
  ry::task<void> worker(mcp::server_ptr server, bool list, std::int64_t* remaining, std::vector<double>* times) {
    while (--*remaining >= 0) {
      const auto begun = ctx_.mono_us();
      co_await once(server, list);
      times->push_back(static_cast<double>(ctx_.mono_us() - begun) / 1e3);
      if (const auto ms = number("pause_ms"); ms > 0) co_await ctx_.sleep(static_cast<std::uint64_t>(ms));
    }
  }
  ry::task<void> measure() {
    const auto server =
        service_.servers().ad_hoc("peer", mcp::text_of(options_, "type"), mcp::text_of(options_, "type"),
                                  mcp::parse(mcp::text_of(options_, "config")).as_object(), "",
                                  options_.at("boxed").as_bool() ? 0 : RY_MCP_OPERATOR);
    const bool list = mcp::text_of(options_, "op") == "list";
    for (auto i = number("warm"); i > 0; --i) co_await once(server, list);
    std::vector<double> times;
    const auto n = number("n");
    auto remaining = n;
    const double own = cpu_ms(RUSAGE_SELF), children = cpu_ms(RUSAGE_CHILDREN);
    const auto begun = ctx_.mono_us();
    std::vector<ry::task<void>> all;
    for (auto i = number("at_once"); i > 0; --i) all.push_back(worker(server, list, &remaining, &times));
    const auto results = co_await ry::when_all(std::move(all));
    for (const auto& result : results) result.value();
    const double wall = static_cast<double>(ctx_.mono_us() - begun) / 1e3;
    const auto per_op = [&](double since, int usage) { return (cpu_ms(usage) - since) / static_cast<double>(n); };
    std::sort(times.begin(), times.end());
    std::printf(
        "{\"name\":\"%s\",\"n\":%zu,\"median_ms\":%.3f,\"p95_ms\":%.3f,\"min_ms\":%.3f,\"ops_per_s\":%.1f,"
        "\"client_cpu_ms_per_op\":%.3f,\"child_cpu_ms_per_op\":%.3f}\n",
        mcp::text_of(options_, "name").c_str(), times.size(), quantile(times, .5), quantile(times, .95), times.front(),
        static_cast<double>(n) * 1e3 / wall, per_op(own, RUSAGE_SELF), per_op(children, RUSAGE_CHILDREN));
    std::fflush(stdout);
  }
  ry::task<void> run() {
    try {
      co_await measure();
    } catch (...) {
      const auto e = ry::current_error();
      std::fprintf(stderr, "bench_mcp: %s\n", std::string(e.message()).c_str());
    }
    finished_ = true;
  }

  ry::context& ctx_;
  const mcp::json::object options_;
  const mcp::settings settings_ = mcp::read_settings("{}");
  mcp::client_context context_;
  ry::drivers<ry_sandbox_driver_v1> sandboxes_;  // the sandbox module requires this extension point
  mcp::mcp_service service_;
  std::atomic<bool> begun_{false}, finished_{false};
};

}  // namespace
}  // namespace bench_mcp

RY_MODULE(
    bench_mcp::module, "bench_mcp", "0.1.0",
    .needs(RY_CORE_1, RY_METRICS_1).provides(RY_MCP_TRANSPORT_1, RY_SANDBOX_DRIVER_1).settings(bench_mcp::schema));
