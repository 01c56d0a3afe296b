// A source of tools for agents (agent.tools/1) whose list can fail: POST /abi_moody/lists/{status}/{n} makes the next n
// lists fail with that status, or return JSON that is not a list (status "noise").
#include <ry/ext/agent_tools.h>

#include <atomic>
#include <ry/ry.hpp>
#include <string>

namespace {

class moody {
 public:
  moody(ry::context& ctx, ry::registrar& reg) : ctx_(ctx) {
    reg.route("POST", "/abi_moody/lists/{status}/{n}", RY_ROUTE_PUBLIC, this, &moody::set_mood);
    reg.contribute(RY_AGENT_TOOLS_1, "moody", table(), this);
  }

 private:
  ry::task<ry::response> set_mood(ry::request r) {
    const std::string_view status = r.param("status");
    failing_ = status == "unavailable" ? RY_UNAVAILABLE
               : status == "not_found" ? RY_NOT_FOUND
               : status == "noise"     ? RY_OK
                                       : RY_INTERNAL;
    remaining_ = std::stoi(std::string(r.param("n")));
    co_return ry::response::json("{}");
  }
  ry::task<void> list(ry_tools_list_fn fn, void* ctx) {
    (void)co_await ctx_.sleep(1);  // never inside the starting call
    if (remaining_.fetch_sub(1) > 0) {
      const ry::error failure(failing_.load(), "abi.moody", "not in the mood");
      const ry_error_view v = failure.view();
      fn(ctx, failing_, ry::str("{}"), failing_ == RY_OK ? nullptr : &v);
    } else {
      remaining_ = 0;
      fn(ctx, RY_OK,
         ry::str(R"([{"name":"moody__sing","description":"Sings.","parameters":{"type":"object"},"source":"moody"}])"),
         nullptr);
    }
  }
  ry::task<void> sing(ry_tool_sink sink, void* ctx) {
    (void)co_await ctx_.sleep(1);  // never inside call()
    sink.on_result(ctx, RY_OK, ry::str(R"({"content":"la la la","is_error":false})"), nullptr);
  }
  static const ry_agent_tools_v1* table() noexcept {
    static constexpr ry_agent_tools_v1 t{
        offsetof(ry_agent_tools_v1, resume),
        0,  // the table size of an older SDK
        [](void* self, const ry_tools_scope*, ry_exec* exec, ry_tools_list_fn fn, void* ctx) noexcept {
          auto* m = static_cast<moody*>(self);
          return ry::guard([&] { return m->ctx_.spawn(m->list(fn, ctx), exec) ? RY_OK : RY_UNAVAILABLE; });
        },
        [](void* self, const ry_tools_scope*, ry_str, ry_str, ry_str, ry_exec* exec, const ry_tool_sink* sink,
           void* ctx, void** call) noexcept {
          auto* m = static_cast<moody*>(self);
          return ry::guard([&] {
            *call = m;
            return m->ctx_.spawn(m->sing(*sink, ctx), exec) ? RY_OK : RY_UNAVAILABLE;
          });
        },
        [](void*, void*) noexcept {},
        nullptr,
        nullptr};
    return &t;
  }

  ry::context& ctx_;
  std::atomic<int> remaining_{0};
  std::atomic<ry_status> failing_{RY_OK};
};

}  // namespace

RY_MODULE(moody, ABI_NAME, "1.0.0", .needs("ry.core/1", "ry.http/1").wants(RY_AGENT_TOOLS_1).settings("{}"));
