#include "agent/output_stream.hpp"

#include <ry/cpp/utf8.hpp>
#include <utility>

#include "text.hpp"

namespace runs {
namespace {

constexpr std::size_t max_output_bytes = 256 * 1024;  // of one call

}  // namespace

struct output_stream::waiter {
  output_stream* of = nullptr;
  ry::cancel_source source;
};

output_stream::output_stream(const ry::context& ctx, event_log_writers& writers, std::shared_ptr<live_run> run,
                             std::string id, kind what)
    : ctx_(ctx), writers_(writers), run_(std::move(run)), id_(std::move(id)), kind_(what) {}

output_stream::~output_stream() {
  if (!waiter_) return;
  waiter_->of = nullptr;
  waiter_->source.cancel(RY_REASON_USER);
}

void output_stream::add(std::string_view bytes) {
  if (sent_ + carry_.size() >= max_output_bytes) return;
  carry_ += bytes;
  if (!waiter_) notify_reader();
}

void output_stream::end() {
  if (!carry_.empty()) emit(carry_);
  carry_.clear();
}

void output_stream::notify_reader() {
  const std::size_t whole = ry::whole_characters(carry_);
  if (whole == 0) return;
  if (kind_ == kind::progress && !pace_.take(ctx_.mono_us())) return wait();
  emit(std::string_view(carry_).substr(0, whole));
  carry_.erase(0, whole);
}

// If the timer cannot be started, the next report or the end of the call sends the reports.
void output_stream::wait() {
  waiter_ = std::make_shared<waiter>();
  waiter_->of = this;
  const bool waits = ctx_.spawn(wake_later(ctx_, waiter_, pace_.wait_us()), run_->exec, waiter_->source.token());
  if (!waits) waiter_.reset();
}

ry::task<void> output_stream::wake_later(const ry::context& ctx, std::shared_ptr<waiter> w, std::int64_t us) {
  const ry::result<void> slept = co_await ctx.sleep(static_cast<std::uint64_t>(us) / 1000 + 1);
  if (!slept || w->of == nullptr) co_return;
  w->of->waiter_.reset();
  w->of->notify_reader();
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
