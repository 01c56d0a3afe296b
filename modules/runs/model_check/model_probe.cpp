#include "model_check/model_probe.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "agent/answer_outcome.hpp"
#include "models/driver_values.hpp"
#include "text.hpp"

namespace runs {

namespace {

constexpr std::size_t max_probe_bytes = 4 * 1024 * 1024;

struct probe_state {
  probe_state(const ry::context& ctx, provider_set::handle p, probe_cancel c, probe_answer& out)
      : ctx(ctx), provider(std::move(p)), cancel_when(c), answer(out), started_us(ctx.mono_us()) {}

  const ry::context& ctx;
  const provider_set::handle provider;
  const probe_cancel cancel_when;
  probe_answer& answer;
  const std::int64_t started_us;
  void* call = nullptr;
  bool ended = false, too_long = false;
  std::size_t bytes = 0;
  std::int64_t cancelled_us = 0;
  ry::signal done;

  static probe_state& of(void* ctx) noexcept { return *static_cast<probe_state*>(ctx); }
  std::int64_t ms() const { return (ctx.mono_us() - started_us) / 1000; }
  void cancel() noexcept {
    if (ended || call == nullptr) return;
    cancelled_us = ctx.mono_us();
    provider->of->table->cancel(provider->of->self, call);
  }
  // Records that a part of the answer has arrived.
  void record_arrival(std::size_t size) noexcept {
    bytes += size;
    answer.last_ms = ms();
    if (answer.first_ms < 0) answer.first_ms = answer.last_ms;
    if (bytes > max_probe_bytes) too_long = true;
    if (cancelled_us == 0 && (too_long || cancel_when == probe_cancel::at_first_chunk)) cancel();
  }

  static void on_text(void* p, ry_str text) noexcept {
    auto& self = of(p);
    self.record_arrival(text.len);
    if (self.too_long) return;
    ++self.answer.chunks;
    (void)ry::guard([&] { self.answer.text += ry::view(text); });
  }
  static void on_reasoning(void* p, ry_str text) noexcept {
    of(p).answer.has_reasoning = true;
    of(p).record_arrival(text.len);
  }
  static void on_tool_call(void* p, ry_str id, ry_str name, ry_str arguments) noexcept {
    auto& self = of(p);
    self.record_arrival(arguments.len);
    if (self.too_long) return;
    (void)ry::guard([&] {
      auto& calls = self.answer.calls;
      calls.push_back(read_tool_call(ry::view(id), ry::view(name), ry::view(arguments), calls));
    });
  }
  static void on_reasoning_block(void* p, ry_str block) noexcept {
    auto& self = of(p);
    self.answer.has_reasoning = true;
    self.bytes += block.len;
    if (self.bytes > max_probe_bytes) return;
    (void)ry::guard([&] {
      self.answer.reasoning += self.answer.reasoning.empty() ? '[' : ',';
      self.answer.reasoning += ry::view(block);
    });
  }
  static void on_notice(void* p, ry_str, ry_str message) noexcept {
    constexpr std::size_t max_notices = 20;
    auto& notices = of(p).answer.notices;
    if (notices.size() < max_notices) (void)ry::guard([&] { notices.push_back(plain_sentence(ry::view(message))); });
  }
  static void on_end(void* p, ry_status st, const ry_llm_end* end, const ry_error_view* err) noexcept {
    auto& self = of(p);
    auto& a = self.answer;
    a.status = st;
    a.end_ms = self.ms();
    if (self.cancelled_us != 0) a.cancel_ms = (self.ctx.mono_us() - self.cancelled_us) / 1000;
    if (end != nullptr) {
      a.finish = end->finish;
      a.usage = read_usage(end->usage);
      a.estimated = end->usage.estimated != 0;
    }
    if (err != nullptr) {
      a.retry_after_s = err->retry_after_s;
      (void)ry::guard([&] {
        a.error = plain_sentence(ry::view(err->message));
        if (const auto cause = cause_of(*err); !cause.empty()) a.error += ": " + cause;
      });
    }
    self.ended = true;
    self.done.set();
  }

  static ry_llm_sink sink() {
    ry_llm_sink s{};
    s.struct_size = sizeof s;
    s.on_text = &on_text;
    s.on_reasoning = &on_reasoning;
    s.on_tool_call = &on_tool_call;
    s.on_end = &on_end;
    s.on_reasoning_block = &on_reasoning_block;
    s.on_notice = &on_notice;
    return s;
  }
};

// Enforces the time limit of the answer. Ends with the answer, or soon after it.
ry::task<void> watch(const ry::context& ctx, std::weak_ptr<probe_state> of, std::uint64_t timeout_ms) {
  const ry::result<void> elapsed = co_await ctx.sleep(timeout_ms);
  const auto p = of.lock();
  if (!elapsed || !p || p->ended) co_return;
  p->answer.timed_out = true;
  p->cancel();
}

void finalize(probe_state& p, std::uint64_t timeout_ms) {
  probe_answer& a = p.answer;
  if (!a.reasoning.empty()) a.reasoning += ']';
  if (p.too_long) {
    a.status = RY_FAILED_PRECONDITION;
    a.error = "the answer is longer than " + size_text(max_probe_bytes);
  } else if (a.timed_out) {
    a.status = RY_DEADLINE_EXCEEDED;
    a.error = "no complete answer arrived within " + std::to_string(timeout_ms / 1000) + " s";
  } else if (a.status == RY_OK) {
    a.status = status_of_answer(a.finish, !a.calls.empty());
    if (a.status != RY_OK)
      a.error = a.finish == RY_LLM_FINISH_ERROR ? "the provider reported that the answer failed"
                                                : "the model announced tool calls but made none";
  }
  if (a.status != RY_OK && a.error.empty()) a.error = ry::status_name(a.status);
}

}  // namespace

provider_set::handle open_again(const provider_set::handle& provider, const std::string& config_json,
                                std::string& problem) {
  auto opened = std::make_shared<provider_set::provider>();
  opened->name = provider->name;
  char text[512];
  ry_errbuf err{text, sizeof text, 0};
  const auto& driver = *provider->of;
  const ry_status st =
      driver.table->open(driver.self, ry::str(provider->name), ry::str(config_json), &opened->instance, &err);
  if (st != RY_OK) {
    problem.assign(text, err.len);
    return nullptr;
  }
  opened->of = provider->of;
  return opened;
}

ry::task<void> probe(const ry::context& ctx, ry_exec* exec, provider_set::handle provider, std::string request,
                     std::uint64_t timeout_ms, probe_cancel cancel, probe_answer& out) {
  out = {};
  const auto p = std::make_shared<probe_state>(ctx, std::move(provider), cancel, out);
  const ry_llm_sink sink = probe_state::sink();
  const auto& driver = *p->provider->of;
  const ry_status start_status =
      driver.table->complete(driver.self, p->provider->instance, ry::str(request), exec, &sink, p.get(), &p->call);
  if (start_status != RY_OK) {
    out.status = start_status;
    out.error = std::string("the request could not be sent: ") + ry::status_name(start_status);
    co_return;
  }
  ry::cancel_source ended;
  (void)ctx.spawn(watch(ctx, p, timeout_ms), exec, ended.token());
  while (!p->ended) (void)co_await p->done.wait();
  ended.cancel(RY_REASON_USER);
  finalize(*p, timeout_ms);
}

}  // namespace runs
