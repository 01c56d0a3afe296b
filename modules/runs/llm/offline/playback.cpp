#include "playback.hpp"

#include <algorithm>
#include <cstring>
#include <memory>

#include "answer.hpp"

namespace offline {

playback::playback(const ry::context& host, plan p, pace speed, std::size_t request_bytes, ry_exec* exec,
                   const ry_llm_sink& sink, void* ctx)
    : host_(host),
      plan_(std::move(p)),
      pieces_(cut(plan_.say, speed.piece)),
      speed_(speed),
      request_bytes_(request_bytes),
      exec_(exec),
      ctx_(ctx) {
  // The sink of an older host is shorter.
  std::memcpy(&sink_, &sink, std::min<std::size_t>(sink.struct_size, sizeof sink_));
}

ry_status playback::start(const ry::context& host, plan p, pace speed, std::size_t request_bytes, ry_exec* exec,
                          const ry_llm_sink& sink, void* ctx, void** call) {
  std::unique_ptr<playback> self(new playback(host, std::move(p), speed, request_bytes, exec, sink, ctx));
  *call = self.get();
  if (!self->next()) return RY_UNAVAILABLE;
  self.release();
  return RY_OK;
}

void playback::cancel(void* call) {
  auto* self = static_cast<playback*>(call);
  self->cancelled_ = true;
  if (self->wait_ != 0) self->host_.core().op_cancel(self->host_.host(), self->wait_);
}

bool playback::next() {
  const auto& core = host_.core();
  if (speed_.delay_ms == 0) return core.exec_post(host_.host(), exec_, &playback::step, this) == RY_OK;
  return core.sleep_ms(host_.host(), exec_, speed_.delay_ms, {&playback::waited, this}, &wait_) == RY_OK;
}

void playback::waited(void* p, ry_status st, const ry_error_view*) noexcept {
  auto* self = static_cast<playback*>(p);
  self->wait_ = 0;
  if (st != RY_OK) self->cancelled_ = true;
  step(self);
}

void playback::step(void* p) noexcept {
  auto* self = static_cast<playback*>(p);
  if (self->cancelled_) return self->end(RY_CANCELLED);
  if (self->at_ < self->pieces_.size()) {
    const auto piece = self->pieces_[self->at_++];
    self->said_ += piece.size();
    self->sink_.on_text(self->ctx_, ry::str(piece));
    if (!self->next()) self->end(RY_UNAVAILABLE);
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
  e.usage.output_tokens = llm::estimate_tokens(said_);
  sink_.on_end(ctx_, st, &e, nullptr);
}

}  // namespace offline
