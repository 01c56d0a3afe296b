#include "playback.hpp"

#include <algorithm>
#include <cstring>
#include <memory>

#include "answer.hpp"

namespace offline {

playback::playback(const ry::context& host, plan p, playback_rate rate, std::size_t request_bytes, ry_exec* exec,
                   const ry_llm_sink& sink, void* ctx)
    : host_(host),
      plan_(std::move(p)),
      chunks_(split_into_chunks(plan_.text, rate.chunk_bytes)),
      rate_(rate),
      request_bytes_(request_bytes),
      exec_(exec),
      ctx_(ctx) {
  // The sink of an older host has fewer members.
  std::memcpy(&sink_, &sink, std::min<std::size_t>(sink.struct_size, sizeof sink_));
}

ry_status playback::start(const ry::context& host, plan p, playback_rate rate, std::size_t request_bytes, ry_exec* exec,
                          const ry_llm_sink& sink, void* ctx, void** call) {
  std::unique_ptr<playback> self(new playback(host, std::move(p), rate, request_bytes, exec, sink, ctx));
  *call = self.get();
  if (!self->schedule_step()) return RY_UNAVAILABLE;
  self.release();
  return RY_OK;
}

void playback::cancel(void* call) {
  auto* self = static_cast<playback*>(call);
  self->cancelled_ = true;
  if (self->sleep_op_ != 0) self->host_.core().op_cancel(self->host_.host(), self->sleep_op_);
}

bool playback::schedule_step() {
  const auto& core = host_.core();
  if (rate_.delay_ms == 0) return core.exec_post(host_.host(), exec_, &playback::step, this) == RY_OK;
  return core.sleep_ms(host_.host(), exec_, rate_.delay_ms, {&playback::on_delay_elapsed, this}, &sleep_op_) == RY_OK;
}

void playback::on_delay_elapsed(void* p, ry_status st, const ry_error_view*) noexcept {
  auto* self = static_cast<playback*>(p);
  self->sleep_op_ = 0;
  if (st != RY_OK) self->cancelled_ = true;
  step(self);
}

void playback::step(void* p) noexcept {
  auto* self = static_cast<playback*>(p);
  if (self->cancelled_) return self->end(RY_CANCELLED);
  if (self->next_chunk_ < self->chunks_.size()) {
    const auto chunk = self->chunks_[self->next_chunk_++];
    self->sent_bytes_ += chunk.size();
    self->sink_.on_text(self->ctx_, ry::str(chunk));
    if (!self->schedule_step()) self->end(RY_UNAVAILABLE);
    return;
  }
  for (const auto& c : self->plan_.calls)
    self->sink_.on_tool_call(self->ctx_, ry::str(c.id), ry::str(c.name), ry::str(c.arguments_json));
  self->end(RY_OK);
}

void playback::end(ry_status st) {
  const std::unique_ptr<playback> self(this);
  ry_llm_end e{};
  e.struct_size = sizeof e;
  if (st == RY_OK) e.finish = plan_.calls.empty() ? RY_LLM_FINISH_STOP : RY_LLM_FINISH_TOOL_CALLS;
  e.usage.struct_size = sizeof e.usage;
  e.usage.estimated = 1;
  e.usage.input_tokens = llm::estimate_tokens(request_bytes_);
  e.usage.output_tokens = llm::estimate_tokens(sent_bytes_);
  sink_.on_end(ctx_, st, &e, nullptr);
}

}  // namespace offline
