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

void* sink_guards::open(provider_set::handle provider, ry_exec* exec, const ry_llm_sink& to, void* to_ctx) {
  std::lock_guard lock(mutex_);
  slot* s = nullptr;
  if (free_.size() > rest) {
    s = free_.front();
    free_.pop_front();
  } else {
    s = &slots_.emplace_back(*this);
  }
  s->driver = provider->of->name;
  s->provider = std::move(provider);
  s->exec = exec;
  s->reported = 0;
  s->to = to;
  s->to_ctx = to_ctx;
  const std::uint32_t generation = ((s->word >> 8) + 1) & 0xffff;
  s->word.store(pack(generation, starting), std::memory_order_release);
  return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(s) | static_cast<std::uintptr_t>(generation)
                                                                           << handle_bits);
}

void sink_guards::returned(void* handle, ry_status st) noexcept {
  const reference r(handle);
  if (!r.is(starting)) return;  // it ended inside complete()
  if (st == RY_OK)
    r.at->word.store(pack(r.generation, open_), std::memory_order_release);
  else
    close(r);
}

void sink_guards::abandon(void* handle, std::string_view why) noexcept {
  const reference r(handle);
  if (!r.is(open_)) return;
  r.at->word.store(pack(r.generation, abandoned), std::memory_order_release);
  (void)ctx_.driver_misbehaved(RY_LLM_PROVIDER_1, r.at->driver, "an answer that is not ended", why);
}

void sink_guards::close(const reference& r) noexcept {
  // The last owner closes the provider, which must not happen inside the driver's call of on_end. The request that
  // waits for the answer is an owner, too, unless it has called abandon().
  auto gone = std::move(r.at->provider);
  if (r.is(abandoned)) (void)ry::guard([&] { ctx_.post(r.at->exec, [gone] {}); });
  std::lock_guard lock(mutex_);
  r.at->word.store(pack(r.generation, unused), std::memory_order_release);
  (void)ry::guard([&] { free_.push_back(r.at); });
}

void sink_guards::report(slot& s, rule broken, const char* text, const char* callback) noexcept {
  if ((s.reported.fetch_or(broken) & broken) != 0) return;
  (void)ry::guard([&] {
    std::string driver;
    {
      std::lock_guard lock(mutex_);
      driver = s.driver;
    }
    if (!ctx_.driver_misbehaved(RY_LLM_PROVIDER_1, driver, text, callback))
      ctx_.warn("a model provider's driver broke a rule", {{"driver", driver}, {"rule", text}, {"callback", callback}});
  });
}

sink_guards::slot* sink_guards::admit(const void* handle, const char* callback) noexcept {
  const reference r(handle);
  slot& s = *r.at;
  if (r.is(unused) || s.word.load(std::memory_order_acquire) >> 8 != r.generation) {
    s.home.report(s, after_end, "a callback after on_end", callback);
    return nullptr;
  }
  if (!s.home.ctx_.on_exec(s.exec)) {
    s.home.report(s, foreign, "a callback on another thread than the executor's", callback);
    return nullptr;
  }
  if (r.is(starting)) s.home.report(s, inside, "a callback inside of complete()", callback);
  return r.is(abandoned) ? nullptr : &s;
}

void sink_guards::end(void* handle, ry_status st, const ry_llm_end* end, const ry_error_view* err) noexcept {
  const reference r(handle);
  if (slot* s = admit(handle, "on_end")) {
    // The request may be gone when on_end returns; the slot remains.
    s->to.on_end(s->to_ctx, st, end, err);
    s->home.close(r);
  } else if (r.is(abandoned)) {
    r.at->home.close(r);
  } else if (r.is(starting) || r.is(open_)) {
    r.at->home.end_from_elsewhere(handle);
  }
}

// The answer cannot be trusted, but the run must get its end.
void sink_guards::end_from_elsewhere(void* handle) noexcept {
  (void)ry::guard([&] {
    ctx_.post(reference(handle).at->exec, [handle] {
      const ry::error why(RY_INTERNAL, "runs.driver_misbehaved", "The answer of the model provider could not be read");
      const ry_error_view view = why.view();
      const reference r(handle);
      if (!r.is(starting) && !r.is(open_)) return;
      r.at->to.on_end(r.at->to_ctx, RY_INTERNAL, nullptr, &view);
      r.at->home.close(r);
    });
  });
}

const ry_llm_sink& sink_guards::sink() noexcept {
  static const ry_llm_sink checked = [] {
    ry_llm_sink out{};
    out.struct_size = sizeof out;
    out.on_text = [](void* handle, ry_str text) noexcept {
      if (slot* s = admit(handle, "on_text")) s->to.on_text(s->to_ctx, text);
    };
    out.on_reasoning = [](void* handle, ry_str text) noexcept {
      if (slot* s = admit(handle, "on_reasoning")) s->to.on_reasoning(s->to_ctx, text);
    };
    out.on_tool_call = [](void* handle, ry_str id, ry_str name, ry_str arguments) noexcept {
      if (slot* s = admit(handle, "on_tool_call")) s->to.on_tool_call(s->to_ctx, id, name, arguments);
    };
    out.on_end = &sink_guards::end;
    out.on_reasoning_block = [](void* handle, ry_str block) noexcept {
      if (slot* s = admit(handle, "on_reasoning_block")) s->to.on_reasoning_block(s->to_ctx, block);
    };
    out.on_notice = [](void* handle, ry_str code, ry_str message) noexcept {
      if (slot* s = admit(handle, "on_notice")) s->to.on_notice(s->to_ctx, code, message);
    };
    return out;
  }();
  return checked;
}

}  // namespace runs
