#include "agent/output_stream.hpp"

#include <ry/cpp/utf8.hpp>
#include <utility>

#include "text.hpp"

namespace runs {
namespace {

constexpr std::size_t max_output_bytes = 256 * 1024;  // of one call

}  // namespace

struct output_stream::send_timer {
  output_stream* stream = nullptr;
  ry::cancel_source source;
};

output_stream::output_stream(const ry::context& ctx, event_log_writers& writers, std::shared_ptr<live_run> run,
                             std::string id, kind k)
    : ctx_(ctx), writers_(writers), run_(std::move(run)), id_(std::move(id)), kind_(k) {}

output_stream::~output_stream() {
  if (!timer_) return;
  timer_->stream = nullptr;
  timer_->source.cancel(RY_REASON_USER);
}

void output_stream::add(std::string_view bytes) {
  if (sent_ + pending_.size() >= max_output_bytes) return;
  pending_ += bytes;
  if (!timer_) send_pending();
}

void output_stream::end() {
  if (!pending_.empty()) emit(pending_);
  pending_.clear();
}

void output_stream::send_pending() {
  const std::size_t complete_bytes = ry::whole_characters(pending_);
  if (complete_bytes == 0) return;
  if (kind_ == kind::progress && !rate_limiter_.take(ctx_.mono_us())) return start_timer();
  emit(std::string_view(pending_).substr(0, complete_bytes));
  pending_.erase(0, complete_bytes);
}

// If the timer cannot be started, the pending reports are sent with the next report or at the end of the call.
void output_stream::start_timer() {
  timer_ = std::make_shared<send_timer>();
  timer_->stream = this;
  const bool started = ctx_.spawn(run_timer(ctx_, timer_, rate_limiter_.wait_us()), run_->exec, timer_->source.token());
  if (!started) timer_.reset();
}

ry::task<void> output_stream::run_timer(const ry::context& ctx, std::shared_ptr<send_timer> w, std::int64_t us) {
  const ry::result<void> slept = co_await ctx.sleep(static_cast<std::uint64_t>(us) / 1000 + 1);
  if (!slept || w->stream == nullptr) co_return;
  w->stream->timer_.reset();
  w->stream->send_pending();
}

void output_stream::emit(std::string_view text) {
  sent_ += text.size();
  if (kind_ == kind::progress) {
    const std::string_view reports = text.substr(0, text.find_last_not_of('\n') + 1);
    run_->events.buffer.append("tool_progress")
        .text("tool_call_id", id_)
        .text("message", reports.substr(reports.rfind('\n') + 1));
  }
  run_->events.buffer.append("tool_output_chunk").text("tool_call_id", id_).text("content", text);
  run_->events.deliver_soon();
  writers_.of(run_->exec).touch(run_);
}

}  // namespace runs
