// Stands between a model provider's driver and the call that waits for its answer: passes on what keeps the rules of
// llm.provider/1, and reports under the name of the driver's module what breaks them.
//
// Drivers hold handles, not pointers: a slot's address with a generation in the upper 16 bits. Slots are never freed while
// the module lives, so that a callback after the end is recognised instead of reaching another answer.
//
// Threads: open(), returned() and let_go() on the executor of the answer; the callbacks of drivers on any.
#pragma once
#include <atomic>
#include <deque>
#include <mutex>
#include <ry/ry.hpp>
#include <string>

#include "providers.hpp"

namespace runs {

class sink_guards {
 public:
  explicit sink_guards(const ry::context& ctx) : ctx_(ctx) {}
  sink_guards(const sink_guards&) = delete;
  sink_guards& operator=(const sink_guards&) = delete;

  // What complete() is given in the place of `to`.
  static const ry_llm_sink& sink() noexcept;
  // And in the place of its context. `to` is called until its on_end returned, or until let_go().
  void* open(provider_set::handle provider, ry_exec* exec, const ry_llm_sink& to, void* to_ctx);
  // complete() has returned with this status.
  void returned(void* handle, ry_status st) noexcept;
  // The answer is not waited for any more; `why` is reported. The provider stays open until the driver ends the answer.
  void let_go(void* handle, std::string_view why) noexcept;

 private:
  enum state : std::uint32_t { unused, starting, open_, abandoned };
  enum rule : std::uint32_t { inside = 1, foreign = 2, after_end = 4 };
  struct slot {
    explicit slot(sink_guards& home) : home(home) {}
    sink_guards& home;
    std::atomic<std::uint32_t> word{0};  // generation << 8 | state
    std::atomic<std::uint32_t> reported{0};
    std::atomic<ry_exec*> exec{nullptr};
    provider_set::handle provider;  // empty once the answer has ended
    std::string driver;             // its name, also then
    ry_llm_sink to{};
    void* to_ctx = nullptr;
  };
  struct reference {
    explicit reference(const void* handle) noexcept;
    slot* at;
    std::uint32_t generation;
    bool is(state s) const noexcept { return at->word.load(std::memory_order_acquire) == pack(generation, s); }
  };
  static std::uint32_t pack(std::uint32_t generation, state s) noexcept { return (generation & 0xffff) << 8 | s; }

  // The slot whose sink is to be called for this callback; null: it must not be called.
  static slot* admit(const void* handle, const char* callback) noexcept;
  static void end(void* handle, ry_status st, const ry_llm_end* end, const ry_error_view* err) noexcept;
  void end_from_elsewhere(void* handle) noexcept;
  void report(slot& s, rule broken, const char* text, const char* callback) noexcept;
  void close(const reference& r) noexcept;

  // Reused only when many others are free: by then a driver has made its late calls.
  static constexpr std::size_t rest = 256;

  const ry::context& ctx_;
  std::mutex mutex_;  // of the two below, and of `driver` of every slot
  std::deque<slot> slots_;
  std::deque<slot*> free_;
};

}  // namespace runs
