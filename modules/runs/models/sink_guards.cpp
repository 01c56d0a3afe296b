#include "models/sink_guards.hpp"

#include <cstdint>
#include <utility>

namespace runs {

namespace {

constexpr int handle_bits = 48;

}  // namespace

sink_guards::reference::reference(const void* handle) noexcept {
  const auto h = reinterpret_cast<std::uintptr_t>(handle);
  at = reinterpret_cast<slot*>(h & ((std::uintptr_t{1} << handle_bits) - 1));
  generation = static_cast<std::uint32_t>(h >> handle_bits);
}

void* sink_guards::open(provider_set::handle provider, ry_exec* exec, const ry_llm_sink& target, void* target_ctx) {
  std::lock_guard lock(mutex_);
  slot* s = nullptr;
  if (free_.size() > min_free_slots) {
    s = free_.front();
    free_.pop_front();
  } else {
    s = &slots_.emplace_back(*this);
  }
  s->driver = provider->of->name;
  s->provider = std::move(provider);
  s->exec = exec;
  s->reported = 0;
  s->target = target;
  s->target_ctx = target_ctx;
  const std::uint32_t generation = ((s->packed_state >> 8) + 1) & 0xffff;
  s->packed_state.store(pack(generation, starting), std::memory_order_release);
  return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(s) | static_cast<std::uintptr_t>(generation)
                                                                           << handle_bits);
}

void sink_guards::returned(void* handle, ry_status st) noexcept {
  const reference r(handle);
  if (!r.is(starting)) return;  // the answer ended inside complete()
  if (st == RY_OK)
    r.at->packed_state.store(pack(r.generation, answering), std::memory_order_release);
  else
    close(r);
}

void sink_guards::abandon(void* handle, std::string_view reason) noexcept {
  const reference r(handle);
  if (!r.is(answering)) return;
  r.at->packed_state.store(pack(r.generation, abandoned), std::memory_order_release);
  (void)ctx_.report_driver_violation(RY_LLM_PROVIDER_1, r.at->driver, "an answer that is not ended", reason);
}

void sink_guards::close(const reference& r) noexcept {
  // The last owner closes the provider, which must not happen inside the driver's call of on_end. The request that
  // waits for the answer is also an owner, unless it has called abandon().
  auto provider = std::move(r.at->provider);
  if (r.is(abandoned)) (void)ry::guard([&] { ctx_.post(r.at->exec, [provider] {}); });
  std::lock_guard lock(mutex_);
  r.at->packed_state.store(pack(r.generation, unused), std::memory_order_release);
  (void)ry::guard([&] { free_.push_back(r.at); });
}

void sink_guards::report(slot& s, violation broken, const char* text, const char* callback) noexcept {
  if ((s.reported.fetch_or(broken) & broken) != 0) return;
  (void)ry::guard([&] {
    std::string driver;
    {
      std::lock_guard lock(mutex_);
      driver = s.driver;
    }
    if (!ctx_.report_driver_violation(RY_LLM_PROVIDER_1, driver, text, callback))
      ctx_.warn("the driver of a model provider violated its contract",
                {{"driver", driver}, {"rule", text}, {"callback", callback}});
  });
}

sink_guards::slot* sink_guards::accept_callback(const void* handle, const char* callback) noexcept {
  const reference r(handle);
  slot& s = *r.at;
  if (r.is(unused) || s.packed_state.load(std::memory_order_acquire) >> 8 != r.generation) {
    s.guards.report(s, after_end, "a callback after on_end", callback);
    return nullptr;
  }
  if (!s.guards.ctx_.on_exec(s.exec)) {
    s.guards.report(s, wrong_thread, "a callback on a thread other than the executor's", callback);
    return nullptr;
  }
  if (r.is(starting)) s.guards.report(s, inside_complete, "a callback inside of complete()", callback);
  return r.is(abandoned) ? nullptr : &s;
}

void sink_guards::end(void* handle, ry_status st, const ry_llm_end* end, const ry_error_view* err) noexcept {
  const reference r(handle);
  if (slot* s = accept_callback(handle, "on_end")) {
    // The request may be destroyed when on_end returns; the slot remains.
    s->target.on_end(s->target_ctx, st, end, err);
    s->guards.close(r);
  } else if (r.is(abandoned)) {
    r.at->guards.close(r);
  } else if (r.is(starting) || r.is(answering)) {
    r.at->guards.post_failed_end(handle);
  }
}

// The answer cannot be trusted, but the run needs an end: posts a failed on_end to the executor.
void sink_guards::post_failed_end(void* handle) noexcept {
  (void)ry::guard([&] {
    ctx_.post(reference(handle).at->exec, [handle] {
      const ry::error reason(RY_INTERNAL, "runs.report_driver_violation",
                             "The answer of the model provider could not be read");
      const ry_error_view view = reason.view();
      const reference r(handle);
      if (!r.is(starting) && !r.is(answering)) return;
      r.at->target.on_end(r.at->target_ctx, RY_INTERNAL, nullptr, &view);
      r.at->guards.close(r);
    });
  });
}

const ry_llm_sink& sink_guards::sink() noexcept {
  static const ry_llm_sink checked = [] {
    ry_llm_sink out{};
    out.struct_size = sizeof out;
    out.on_text = [](void* handle, ry_str text) noexcept {
      if (slot* s = accept_callback(handle, "on_text")) s->target.on_text(s->target_ctx, text);
    };
    out.on_reasoning = [](void* handle, ry_str text) noexcept {
      if (slot* s = accept_callback(handle, "on_reasoning")) s->target.on_reasoning(s->target_ctx, text);
    };
    out.on_tool_call = [](void* handle, ry_str id, ry_str name, ry_str arguments) noexcept {
      if (slot* s = accept_callback(handle, "on_tool_call")) s->target.on_tool_call(s->target_ctx, id, name, arguments);
    };
    out.on_end = &sink_guards::end;
    out.on_reasoning_block = [](void* handle, ry_str block) noexcept {
      if (slot* s = accept_callback(handle, "on_reasoning_block")) s->target.on_reasoning_block(s->target_ctx, block);
    };
    out.on_notice = [](void* handle, ry_str code, ry_str message) noexcept {
      if (slot* s = accept_callback(handle, "on_notice")) s->target.on_notice(s->target_ctx, code, message);
    };
    return out;
  }();
  return checked;
}

}  // namespace runs
