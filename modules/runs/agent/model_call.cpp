#include "agent/model_call.hpp"

#include <algorithm>
#include <utility>

#include "agent/answer_outcome.hpp"
#include "agent/checkpoint.hpp"
#include "models/driver_values.hpp"
#include "text.hpp"

namespace runs {

namespace {

// Limit for the text, reasoning and arguments of one answer. Far above real answers; several copies are in memory.
constexpr std::size_t max_answer_bytes = 16 * 1024 * 1024;
// Each chunk becomes an event. Far above the token count of the longest answers, but limits the event log.
constexpr std::size_t max_chunks = 500'000;
// Time for a driver to end a cancelled answer.
constexpr std::uint64_t grace_ms = 10'000;

ry::task<void> plain_sleep(const ry::context& ctx, std::uint64_t ms) {
  (void)co_await ctx.sleep(ms);
}

}  // namespace

model_call::model_call(const ry::context& ctx, const run_metrics& metrics, sink_guards& sinks,
                       event_log_writers& writers, std::shared_ptr<live_run> run, provider_set::handle provider,
                       audience shown_to)
    : ctx_(ctx),
      metrics_(metrics),
      sinks_(sinks),
      run_(std::move(run)),
      provider_(std::move(provider)),
      writer_(writers.of(run_->exec)),
      shown_to_(shown_to) {}

ry_status model_call::start(std::string_view request_json) {
  ry_llm_sink sink{};
  sink.struct_size = sizeof sink;
  sink.on_text = [](void* ctx, ry_str text) noexcept {
    auto* self = static_cast<model_call*>(ctx);
    if (!self->fits(text.len)) return;
    (void)ry::guard([&] {
      self->text_ += ry::view(text);
      self->add("llm_response_chunk", ry::view(text));
    });
  };
  sink.on_reasoning = [](void* ctx, ry_str text) noexcept {
    auto* self = static_cast<model_call*>(ctx);
    if (!self->fits(text.len)) return;
    (void)ry::guard([&] { self->add("reasoning_chunk", ry::view(text)); });
  };
  sink.on_tool_call = [](void* ctx, ry_str id, ry_str name, ry_str arguments) noexcept {
    auto* self = static_cast<model_call*>(ctx);
    if (!self->fits(id.len + name.len + arguments.len)) return;
    (void)ry::guard([&] {
      self->calls_.push_back(read_tool_call(ry::view(id), ry::view(name), ry::view(arguments), self->calls_));
    });
  };
  sink.on_reasoning_block = [](void* ctx, ry_str block) noexcept {
    auto* self = static_cast<model_call*>(ctx);
    if (!self->fits_reasoning(block.len)) return;
    (void)ry::guard([&] {
      self->reasoning_ += self->reasoning_.empty() ? '[' : ',';
      self->reasoning_ += ry::view(block);
    });
  };
  sink.on_end = [](void* ctx, ry_status st, const ry_llm_end* end, const ry_error_view* err) noexcept {
    auto* self = static_cast<model_call*>(ctx);
    self->status_ = st;
    if (end != nullptr) {
      self->usage_ = read_usage(end->usage);
      self->finish_ = end->finish;
    }
    if (err != nullptr) {
      self->retry_after_s_ = err->retry_after_s;
      (void)ry::guard([&] { self->message_ = plain_sentence(ry::view(err->message)); });
      if (st != RY_CANCELLED) (void)ry::guard([&] { self->log_failure(*err); });
    }
    if (st == RY_OK) {
      self->status_ = status_of_answer(self->finish_, !self->calls_.empty());
      if (self->status_ != RY_OK)
        (void)ry::guard([&] {
          self->message_ = self->finish_ == RY_LLM_FINISH_ERROR ? "The provider reported that the answer failed"
                                                                : "The model announced tool calls but made none";
        });
    }
    if (self->too_long_) {
      self->status_ = RY_FAILED_PRECONDITION;
      (void)ry::guard([&] {
        self->message_ = "The model's answer " + (self->chunks_ > max_chunks
                                                      ? "has more than " + std::to_string(max_chunks) + " pieces"
                                                      : "is longer than " + size_text(max_answer_bytes));
      });
    }
    self->count_metrics(self->status_);
    self->ended_ = true;
    self->done_.set();
    if (self->grace_) self->grace_->cancel(RY_REASON_USER);
  };
  sink.on_notice = [](void* ctx, ry_str code, ry_str message) noexcept {
    auto* self = static_cast<model_call*>(ctx);
    if (!self->fits(message.len)) return;
    (void)ry::guard([&] { self->report_notice(ry::view(code), plain_sentence(ry::view(message))); });
  };
  started_us_ = ctx_.mono_us();
  sink_ = sinks_.open(provider_, run_->exec, sink, this);
  const ry_status start_status = provider_->of->table->complete(
      provider_->of->self, provider_->instance, ry::str(request_json), run_->exec, &sink_guards::sink(), sink_, &call_);
  sinks_.returned(sink_, start_status);
  if (start_status != RY_OK && !ended_) count_metrics(start_status);
  return start_status;
}

// Logs the causes that clients must not see.
void model_call::log_failure(const ry_error_view& err) const {
  const std::string cause = cause_of(err);
  run_->note_cause("provider " + provider_->name + ": " + message_ + (cause.empty() ? "" : " (" + cause + ")"));
  ctx_.warn("a model request failed", {{"run", run_->who.run.to_string()},
                                       {"account", run_->who.account.to_string()},
                                       {"driver", provider_->of->name},
                                       {"provider", provider_->name},
                                       {"reason", ry::view(err.reason)},
                                       {"error", message_},
                                       {"cause", cause}});
}

void model_call::count_metrics(ry_status st) const {
  const provider_metrics& metrics = metrics_.provider(provider_->name);
  metrics.requests.add(provider_metrics::outcome_of(st));
  metrics.seconds.observe(static_cast<double>(ctx_.mono_us() - started_us_) / 1e6);
  metrics.input.add(static_cast<double>(usage_.input));
  metrics.output.add(static_cast<double>(usage_.output));
  metrics.cached.add(static_cast<double>(usage_.cached));
}

bool model_call::fits(std::size_t bytes) {
  bytes_ += bytes;
  if (bytes_ <= max_answer_bytes && ++chunks_ <= max_chunks) return true;
  return stop_too_long();
}

// Blocks repeat the reasoning text, so they are counted separately.
bool model_call::fits_reasoning(std::size_t bytes) {
  if (bytes <= max_answer_bytes - std::min(max_answer_bytes, reasoning_.size())) return true;
  return stop_too_long();
}

bool model_call::stop_too_long() {
  if (!std::exchange(too_long_, true)) abort();
  return false;
}

void model_call::add(std::string_view type, std::string_view text) {
  if (text.empty() || shown_to_ == audience::none) return;
  if (!std::exchange(run_->progress.text_shown, true)) {
    run_->progress.first_token_ms = run_->age_ms();
    metrics_.first_token.observe(static_cast<double>(*run_->progress.first_token_ms) / 1e3);
  }
  run_->events.buffer.append(type).text("content", text);
  run_->events.deliver_soon();
  writer_.touch(run_);
}

void model_call::report_notice(std::string_view code, std::string_view message) {
  ctx_.warn("part of a model request was omitted", {{"run", run_->who.run.to_string()},
                                                    {"provider", provider_->name},
                                                    {"code", std::string(code)},
                                                    {"message", std::string(message)}});
  if (shown_to_ == audience::none) return;
  append_notice(*run_, code, message);
  run_->events.deliver_soon();
  writer_.touch(run_);
}

ry::task<void> model_call::finished() {
  stop_state::working busy(run_->stop, *this);
  if (too_long_) abort();  // the limit was exceeded before the call handle was known
  while (!ended_ && !aborted_) (void)co_await done_.wait();
  if (ended_) co_return;
  grace_.emplace();
  co_await ry::with_cancel(grace_->token(), plain_sleep(ctx_, grace_ms));
  if (!ended_) abandon();
}

void model_call::abort() noexcept {
  if (ended_) return;
  aborted_ = true;
  done_.set();
  if (call_ != nullptr) provider_->of->table->cancel(provider_->of->self, call_);
}

void model_call::abandon() {
  sinks_.abandon(sink_, "it did not call on_end within ten seconds after cancel()");
  status_ = too_long_ ? RY_FAILED_PRECONDITION : RY_DEADLINE_EXCEEDED;
  message_ = "The model provider did not finish its answer";
  run_->note_cause("provider " + provider_->name + ": its driver did not end a cancelled answer");
  count_metrics(status_);
  ended_ = true;
}

std::string model_call::take_reasoning() {
  if (!reasoning_.empty()) reasoning_ += ']';
  return std::move(reasoning_);
}

std::string model_call::error_text(ry_status st) const {
  if (!message_.empty()) return message_;
  return std::string("The request to the model could not be sent: ") + ry::status_name(st);
}

}  // namespace runs
