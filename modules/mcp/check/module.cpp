// Replaces `mcp` to test a transport: defines mcp.transport/1 and runs the test case named in its settings when its
// health is first requested. Health reports "in progress" until the case has ended, then RY_OK if it passed, or else a
// message for the author of the transport.
#include <atomic>
#include <boost/json/parse.hpp>
#include <mutex>

#include "probe.hpp"

namespace mcp_check {
namespace {

constexpr char schema[] = R"json({
  "type": "object",
  "properties": {
    "driver": {"type": "string", "default": "", "description": "Name of the driver"},
    "config": {"type": "string", "default": "", "description": "Configuration of a server that answers, JSON; empty: none"},
    "case": {"type": "string", "default": "", "description": "Test to run; empty: none",
             "enum": ["", "table", "nonsense", "exchange", "burst", "cancel", "close", "back_pressure", "refused_message", "too_large", "many"]}
  }
})json";

class module {
 public:
  explicit module(ry::context& ctx, ry::registrar& reg) : ctx_(ctx), settings_(read(ctx.settings())) {
    reg.define_point(RY_MCP_TRANSPORT_1, &transports_);
  }

  ry::result<void> health() const {
    if (!started_.exchange(true)) {
      if (settings_.test.empty()) {
        finished_ = true;
      } else if (!ctx_.spawn(run())) {
        return ry::unavailable("check", "the check could not be started");
      }
    }
    if (!finished_) return ry::unavailable("check", "in progress");
    std::lock_guard lock(mutex_);
    if (!failure_.empty()) return ry::unavailable("check", failure_);
    return {};
  }

 private:
  struct settings {
    std::string driver, config, test;
  };
  static settings read(std::string_view text) {
    const auto v = boost::json::parse(boost::json::string_view(text.data(), text.size()));
    const auto member = [&](const char* name) {
      const auto& s = v.at(name).as_string();
      return std::string(s.data(), s.size());
    };
    return {member("driver"), member("config"), member("case")};
  }

  ry::task<void> run() const {
    std::string failure;
    try {
      const auto found = transports_.find(settings_.driver);
      if (!found) fail("there is no driver named " + settings_.driver);
      const subject s{ctx_, found->table, found->self, settings_.config};
      ry_exec* exec = co_await ry::this_exec();
      for (const auto& c : cases()) {
        if (c.name == settings_.test) co_await c.run(s, exec);
      }
    } catch (...) {
      failure = std::string(ry::current_error().message());
      if (failure.empty()) failure = "failed without a message";
    }
    std::lock_guard lock(mutex_);
    failure_ = std::move(failure);
    finished_ = true;
  }

  ry::context& ctx_;
  const settings settings_;
  ry::drivers<ry_mcp_transport_v1> transports_;
  mutable std::atomic<bool> started_{false}, finished_{false};
  mutable std::mutex mutex_;
  mutable std::string failure_;
};

}  // namespace
}  // namespace mcp_check

RY_MODULE(mcp_check::module, "mcp_check", "0.1.0",
          .needs(RY_CORE_1).provides(RY_MCP_TRANSPORT_1).settings(mcp_check::schema));
