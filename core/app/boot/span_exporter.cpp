#include "core/app/boot/span_exporter.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <random>

#include "core/observe/log.hpp"

namespace ry::app {

using clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

namespace {

// Retryable failures according to the OTLP specification; a retry does not help for any other.
bool worth_a_retry(const http::fetch_result& r) {
  if (r.error.status != RY_OK)
    return r.error.status == RY_UNAVAILABLE || r.error.status == RY_DEADLINE_EXCEEDED || r.error.status == RY_DATA_LOSS;
  return r.status == 429 || r.status == 502 || r.status == 503 || r.status == 504;
}

std::string reason_of(const http::fetch_result& r) {
  return r.error.status != RY_OK ? r.error.message : "it responded with status " + std::to_string(r.status);
}

}  // namespace

// Used on its loop only, except for `mutex` and the members that it guards.
struct span_exporter::state : std::enable_shared_from_this<state> {
  state(observe::tracer& tracer, http::client& egress, exec::loop& loop, exporter_settings settings)
      : tracer(tracer), egress(egress), loop(loop), s(std::move(settings)), timer(loop.ctx) {}

  observe::tracer& tracer;
  http::client& egress;
  exec::loop& loop;
  const exporter_settings s;
  boost::asio::steady_timer timer;
  std::string body;  // of the batch in flight
  std::size_t spans = 0;  // in that batch; 0: none is in flight
  int tries = 0;
  bool sending = false, stopping = false;
  clock::time_point complained{};
  std::minstd_rand random{std::random_device{}()};

  std::mutex mutex;
  std::condition_variable ended;
  bool over = false;  // guarded by the mutex

  void wait(milliseconds time) {
    timer.expires_after(time);
    timer.async_wait([weak = weak_from_this()](const boost::system::error_code& ec) {
      if (const auto self = weak.lock(); self && !ec) self->work();
    });
  }

  void work() {
    if (sending) return;
    if (spans == 0) {
      const auto batch = tracer.take(tracer.settings().batch);
      if (batch.empty()) {
        if (stopping) return end();
        return wait(s.interval);
      }
      body = observe::otlp_request(s.resource, RY_VERSION, batch);
      spans = batch.size();
      tries = 0;
    }
    send();
  }

  void send() {
    sending = true;
    ++tries;
    http::fetch_request request;
    request.method = "POST";
    request.url = s.url;
    request.headers = s.headers;
    request.headers.emplace_back("Content-Type", "application/json");
    request.body = body;
    request.flags = RY_CLIENT_OPERATOR_URL;
    request.timeout = s.timeout;
    egress.fetch(&loop, request, [weak = weak_from_this()](const http::fetch_result& r) {
      if (const auto self = weak.lock()) self->sent(r);
    });
  }

  void sent(const http::fetch_result& r) {
    sending = false;
    if (r.error.status == RY_OK && r.status >= 200 && r.status < 300) {
      const auto refused = observe::otlp_refused(r.body);
      const auto lost = std::min<std::size_t>(refused.spans, spans);
      tracer.note_exported(spans - lost);
      tracer.note_failed(lost);
      if (lost != 0) log_error("the trace collector rejected spans", refused.why);
      return next();
    }
    tracer.note_failed_request();
    log_error("spans could not be exported", reason_of(r));
    if (stopping || tries >= s.attempts || !worth_a_retry(r)) {
      tracer.note_failed(spans);
      return next();
    }
    auto pause = std::min(s.last_retry, s.first_retry * (1 << std::min(tries - 1, 16)));
    pause = pause / 2 + milliseconds(std::uniform_int_distribution<std::int64_t>(0, pause.count() / 2)(random));
    wait(std::max(pause, milliseconds(1000) * std::min<std::uint32_t>(r.retry_after_s, 600)));
  }

  void next() {
    body.clear();
    spans = 0;
    const bool more = stopping || tracer.stats().waiting >= tracer.settings().batch;
    if (more) return work();
    wait(s.interval);
  }

  void end() {
    std::lock_guard lock(mutex);
    over = true;
    ended.notify_all();
  }

  void log_error(const char* what, const std::string& why) {
    const auto now = clock::now();
    if (complained != clock::time_point{} && now - complained < std::chrono::minutes(1)) return;
    complained = now;
    observe::log(observe::level::warn, "tracing", what, {{"reason", why}});
  }
};

span_exporter::span_exporter(observe::tracer& tracer, http::client& egress, exec::loop& loop,
                             exporter_settings settings)
    : state_(std::make_shared<state>(tracer, egress, loop, std::move(settings))) {}

span_exporter::~span_exporter() = default;

void span_exporter::start() {
  if (state_->s.url.empty()) return;
  state_->tracer.on_batch([weak = std::weak_ptr(state_)] {
    const auto self = weak.lock();
    if (!self) return;
    self->loop.post([self] {
      // Other batches wait while one is retried.
      if (self->spans == 0 && !self->stopping) self->work();
    });
  });
  state_->loop.post([self = state_] { self->wait(self->s.interval); });
}

void span_exporter::stop(clock::time_point deadline) {
  if (state_->s.url.empty()) return;
  state_->loop.post([self = state_] {
    self->stopping = true;
    self->timer.cancel();
    self->work();
  });
  std::unique_lock lock(state_->mutex);
  state_->ended.wait_until(lock, deadline, [&] { return state_->over; });
}

}  // namespace ry::app
