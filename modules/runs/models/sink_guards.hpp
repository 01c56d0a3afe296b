// Validates the callbacks of a model provider's driver before they reach the request that waits for the answer.
// Forwards callbacks that obey the contract of llm.provider/1, and reports violations under the name of the driver's
// module.
//
// Drivers hold handles, not pointers: a slot's address with a generation in the upper 16 bits. Slots live as long as
// the module, so a callback after the end is recognised instead of reaching another answer.
//
// Threads: open(), returned() and abandon() on the executor of the answer; the callbacks of drivers on any thread.
#pragma once
#include <atomic>
#include <deque>
#include <mutex>
#include <ry/ry.hpp>
#include <string>

#include "models/providers.hpp"

namespace runs {

class sink_guards {
 public:
  explicit sink_guards(const ry::context& ctx) : ctx_(ctx) {}
  sink_guards(const sink_guards&) = delete;
  sink_guards& operator=(const sink_guards&) = delete;

  // The sink to pass to complete() instead of `target`.
  static const ry_llm_sink& sink() noexcept;
  // Returns the context to pass with it. Calls `target` until its on_end has returned, or until abandon().
  void* open(provider_set::handle provider, ry_exec* exec, const ry_llm_sink& target, void* target_ctx);
  // Call when complete() has returned, with its status.
  void returned(void* handle, ry_status st) noexcept;
  // Stops waiting for the answer and reports `reason`. The provider stays open until the driver ends the answer.
  void abandon(void* handle, std::string_view reason) noexcept;

 private:
  enum state : std::uint32_t { unused, starting, answering, abandoned };
  enum violation : std::uint32_t { inside_complete = 1, wrong_thread = 2, after_end = 4 };
  struct slot {
    explicit slot(sink_guards& guards) : guards(guards) {}
    sink_guards& guards;
    std::atomic<std::uint32_t> packed_state{0};  // generation << 8 | state
    std::atomic<std::uint32_t> reported{0};
    std::atomic<ry_exec*> exec{nullptr};
    provider_set::handle provider;  // empty after the end of the answer
    std::string driver;  // the driver's name; kept after the end of the answer
    ry_llm_sink target{};
    void* target_ctx = nullptr;
  };
  struct reference {
    explicit reference(const void* handle) noexcept;
    slot* at;
    std::uint32_t generation;
    bool is(state s) const noexcept { return at->packed_state.load(std::memory_order_acquire) == pack(generation, s); }
  };
  static std::uint32_t pack(std::uint32_t generation, state s) noexcept { return (generation & 0xffff) << 8 | s; }

  // Returns the slot whose sink receives this callback; nullptr: the callback must be ignored.
  static slot* accept_callback(const void* handle, const char* callback) noexcept;
  static void end(void* handle, ry_status st, const ry_llm_end* end, const ry_error_view* err) noexcept;
  void post_failed_end(void* handle) noexcept;
  void report(slot& s, violation broken, const char* text, const char* callback) noexcept;
  void close(const reference& r) noexcept;

  // A slot is reused only if more slots than this are free, so that late callbacks of its last driver have already
  // arrived.
  static constexpr std::size_t min_free_slots = 256;

  const ry::context& ctx_;
  std::mutex mutex_;  // guards the two members below and `driver` of every slot
  std::deque<slot> slots_;
  std::deque<slot*> free_;
};

}  // namespace runs
