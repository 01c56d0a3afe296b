#include "core/module/timer_registry.hpp"

#include <algorithm>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <memory>
#include <vector>

#include "core/exec/op_table.hpp"
#include "core/module/host.hpp"

namespace ry::module {

namespace {

constexpr std::uint64_t longest_ms = std::uint64_t{1000} * 3600 * 24 * 365 * 10;

// Used only on its loop once it is started.
struct sleeper {
  sleeper(const ry_host* host, ry_exec* exec, ry_done done)
      : keep(host), exec(exec), done(done), trace(observe::current_trace()), timer(exec->ctx) {}
  hold keep;
  ry_exec* exec;
  ry_done done;
  observe::trace_ref trace;
  boost::asio::steady_timer timer;
  ry_op_id id = 0;
  bool cancelled = false;
};

}  // namespace

ry_status timer_registry::start(const ry_host* host, ry_exec* exec, std::uint64_t ms, ry_done done, ry_op_id* op) {
  exec::op_table* ops = host->rt.ops;
  if (!ops) return RY_UNAVAILABLE;
  auto s = std::make_shared<sleeper>(host, exec, done);
  s->id = ops->start([weak = std::weak_ptr<sleeper>(s), exec] {
    exec->post([weak] {
      if (auto s = weak.lock()) {
        s->cancelled = true;
        s->timer.cancel();
      }
    });
  });
  {
    std::lock_guard lock(mutex_);
    by_host_[host].insert(s->id);
  }
  // Set before the timer can complete on another thread.
  if (op) *op = s->id;
  const auto begin = [this, s, ops, ms] {
    s->timer.expires_after(std::chrono::milliseconds(s->cancelled ? 0 : std::min(ms, longest_ms)));
    s->timer.async_wait([this, s, ops](const boost::system::error_code& ec) {
      ops->finish(s->id);
      forget(s->keep.get(), s->id);
      const observe::trace_scope scope(s->trace);
      if (s->done.fn)
        invoke(s->keep.get(), "sleep completion", s->done.fn, s->done.ctx,
               static_cast<ry_status>(ec || s->cancelled ? RY_CANCELLED : RY_OK),
               static_cast<const ry_error_view*>(nullptr));
    });
  };
  if (exec->is_current())
    begin();
  else
    exec->post(begin);
  return RY_OK;
}

void timer_registry::cancel_all(const ry_host* host) {
  std::vector<ry_op_id> ids;
  {
    std::lock_guard lock(mutex_);
    if (const auto it = by_host_.find(host); it != by_host_.end()) ids.assign(it->second.begin(), it->second.end());
  }
  for (const ry_op_id id : ids) host->rt.ops->cancel(id);
}

void timer_registry::forget(const ry_host* host, ry_op_id id) {
  std::lock_guard lock(mutex_);
  const auto it = by_host_.find(host);
  if (it == by_host_.end()) return;
  it->second.erase(id);
  if (it->second.empty()) by_host_.erase(it);
}

}  // namespace ry::module
