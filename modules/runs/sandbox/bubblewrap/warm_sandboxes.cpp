#include "warm_sandboxes.hpp"

#include <signal.h>

#include <chrono>
#include <ry/cpp/trace.hpp>
#include <utility>

#include "start_request.hpp"

namespace bubblewrap {

command_call* warm_sandboxes::claim(const sandbox_kind& kind, const command_spec& spec, const std::string& account,
                                    const std::vector<std::string>& environment, ry_exec* exec) {
  // On another thread, the handlers of the process could run concurrently.
  if (ctx_.core().on_exec(exec) == 0) return nullptr;
  const auto request = encode_start_request(spec.uid, environment, spec.argv);
  if (!request) return nullptr;
  std::vector<command_call*> outdated;
  command_call* warm = nullptr;
  {
    std::lock_guard lock(claim_mutex_);
    if (mounts_.changed()) outdated = pool_.clear();
    warm = pool_.claim(kind.name, exec, clock::now());
  }
  terminate(outdated);
  if (warm == nullptr) return nullptr;
  if (groups_.move(warm->group, account, spec) &&
      process_.write(warm->process, ry::raw(*request), ry_done{}) == RY_OK) {
    warm->warm = false;
    return warm;
  }
  terminate({warm});
  return nullptr;
}

void warm_sandboxes::terminate(const std::vector<command_call*>& sandboxes) {
  for (command_call* each : sandboxes) {
    process_.kill(each->process, SIGKILL);
    starter_.release(each);
  }
}

void warm_sandboxes::ended(command_call* call, std::int32_t code) noexcept {
  call->ended = true;
  if (pool_.remove(call)) {
    (void)ry::guard([&] {
      ctx_.warn(
          "a sandbox that was started in advance exited before a program was assigned; the next "
          "program gets a new one",
          {{"exit_code", code}, {"output", call->startup_output}});
    });
    starter_.release(call);
  }
  starter_.release(call);
}

void warm_sandboxes::prepare_next(command_call& call) noexcept {
  const auto kind = std::exchange(call.kind, nullptr);
  if (!kind) return;
  (void)ry::guard([&] {
    // A sandbox belongs to the trace of the call that uses it, not to the trace of the call that orders it.
    const ry::trace none = ry::trace::none(ctx_);
    const ry::trace_switch during(ctx_, none);
    const auto [n, generation] = pool_.order_missing(kind->name, call.exec, clock::now(), kind->max_waiting);
    std::vector<order> orders;
    orders.reserve(n);
    for (std::size_t i = 0; i < n; ++i) orders.emplace_back(*this, kind, call.exec, generation);
    for (order& each : orders) (void)ctx_.spawn(prepare(std::move(each)), call.exec);
    if (!pool_.empty() && !expiring_.exchange(true) && !ctx_.spawn(expire())) expiring_ = false;
  });
}

void warm_sandboxes::order::complete(command_call* sandbox) noexcept {
  warm_sandboxes* of = std::exchange(of_, nullptr);
  if (of == nullptr) return;
  (void)ry::guard([&] {
    of->terminate(of->pool_.started(kind_->name, exec_, generation_, sandbox, [&] { return sandbox->ended.load(); }));
  });
}

ry::task<void> warm_sandboxes::prepare(order o) {
  co_await ctx_.run_blocking([this, &o] {
    auto own = std::make_unique<command_call>();
    own->warm = true;
    if (!groups_.add_waiting(own->group)) return;
    char text[256];
    ry_errbuf err{text, sizeof text, 0};
    const ry_status st =
        starter_.spawn(*own, o.kind().words, o.kind().directory, command_environment(), 0, o.exec(), &err);
    if (st != RY_OK)
      ctx_.warn("no sandbox could be started in advance", {{"cause", std::string_view(err.ptr, err.len)}});
    o.complete(st == RY_OK ? own.release() : nullptr);
  });
}

ry::task<void> warm_sandboxes::expire() {
  do {
    while (!pool_.empty()) {
      const auto slept = co_await ctx_.sleep(1000);
      if (!slept.ok()) co_return;
      terminate(pool_.expire(clock::now()));
    }
    expiring_ = false;
  } while (!pool_.empty() && !expiring_.exchange(true));
}

}  // namespace bubblewrap
