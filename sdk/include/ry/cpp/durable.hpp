// Durable work: jobs, domain events, and the live topics that accompany them.
#pragma once

#include <ry/cpp/db.hpp>

namespace ry {

// ---- jobs -------------------------------------------------------------------------------------

// The outcome of a job.
class job_outcome {
 public:
  static job_outcome done() noexcept { return job_outcome(RY_JOB_DONE); }
  // The handler has committed core.job_complete.
  static job_outcome done_in_tx() noexcept { return job_outcome(RY_JOB_DONE_IN_TX); }
  // A failed attempt; 0: the kind's backoff.
  static job_outcome retry(error why, std::uint64_t delay_ms = 0) noexcept {
    return job_outcome(RY_JOB_RETRY, delay_ms, std::move(why));
  }
  static job_outcome snooze(std::uint64_t delay_ms) noexcept { return job_outcome(RY_JOB_SNOOZE, delay_ms); }
  // Releases the job: another worker may claim it immediately.
  static job_outcome release() noexcept { return job_outcome(RY_JOB_RELEASE); }
  static job_outcome dead(error why) noexcept { return job_outcome(RY_JOB_DEAD, 0, std::move(why)); }

  std::int32_t kind() const noexcept { return kind_; }
  std::uint64_t delay_ms() const noexcept { return delay_ms_; }
  const error& why() const noexcept { return why_; }  // status RY_OK: none

 private:
  explicit job_outcome(std::int32_t kind, std::uint64_t delay = 0, error why = error(RY_OK)) noexcept
      : kind_(kind), delay_ms_(delay), why_(std::move(why)) {}
  std::int32_t kind_;
  std::uint64_t delay_ms_;
  error why_;
};

namespace detail {

struct job_state {
  job_state(const context& ctx, const ry_job_view* view, ry_job* handle)
      : ctx(ctx), jobs(*ctx.try_interface<ry_jobs_v1>()), view(view), handle(handle) {}
  job_state(const job_state&) = delete;
  job_state& operator=(const job_state&) = delete;
  ~job_state() {
    const error dropped(RY_INTERNAL);
    finish(job_outcome::retry(dropped));
  }
  void finish(const job_outcome& out) noexcept {
    ry_job* job = handle.exchange(nullptr, std::memory_order_acq_rel);
    if (job == nullptr) return;
    const ry_error_view v = out.why().view();
    jobs.finish(job, out.kind(), out.delay_ms(), out.why().status() == RY_OK ? nullptr : &v);
  }
  static void cancelled(void* p, std::int32_t why) noexcept { static_cast<job_state*>(p)->cancel.cancel(why); }

  const context& ctx;
  const ry_jobs_v1& jobs;
  const ry_job_view* view;
  std::atomic<ry_job*> handle;
  cancel_state cancel;
};

}  // namespace detail

// A running job, which ends with its handler's result. Views are valid until then.
class job {
 public:
  explicit job(std::shared_ptr<detail::job_state> s) noexcept : state_(std::move(s)) {}
  std::int64_t id() const noexcept { return state_->view->id; }
  std::int64_t fence() const noexcept { return state_->view->fence; }
  std::uint32_t attempt() const noexcept { return state_->view->attempt; }
  std::uint32_t max_attempts() const noexcept { return state_->view->max_attempts; }
  std::uint32_t crashes() const noexcept { return state_->view->crashes; }
  std::string_view kind() const noexcept { return view(state_->view->kind); }
  std::string_view args() const noexcept { return view(state_->view->args_json); }  // JSON
  std::int64_t enqueued_unix_us() const noexcept { return state_->view->enqueued_unix_us; }
  std::int64_t deadline_unix_us() const noexcept { return state_->view->deadline_unix_us; }
  ry_exec* exec() const noexcept { return state_->view->exec; }
  // why(): RY_REASON_USER, _DEADLINE, _SHUTDOWN, _LEASE_LOST.
  cancel_token cancel() const noexcept {
    return cancel_token(std::shared_ptr<detail::cancel_state>(state_, &state_->cancel));
  }

 private:
  std::shared_ptr<detail::job_state> state_;
};

// A job to be added; owns its texts.
class job_request {
 public:
  job_request(std::string kind, std::string args_json) : kind_(std::move(kind)), args_(std::move(args_json)) {}
  job_request& queue(std::string name) {
    queue_ = std::move(name);
    return *this;
  }
  job_request& unique(std::string key) {
    unique_ = std::move(key);
    return *this;
  }
  job_request& priority(std::int32_t p) noexcept {
    priority_ = p;
    return *this;
  }
  job_request& run_at(std::int64_t unix_us) noexcept {
    run_at_ = unix_us;
    return *this;
  }
  job_request& max_attempts(std::uint32_t n) noexcept {
    max_attempts_ = n;
    return *this;
  }
  ry_job_request c_form() const noexcept {
    ry_job_request r{};
    r.struct_size = sizeof r;
    r.priority = priority_;
    r.kind = str(kind_);
    r.args_json = str(args_);
    r.queue = str(queue_);
    r.unique_key = str(unique_);
    r.run_at_unix_us = run_at_;
    r.max_attempts = max_attempts_;
    return r;
  }

 private:
  std::string kind_, args_, queue_, unique_;
  std::int32_t priority_ = 0;
  std::int64_t run_at_ = 0;
  std::uint32_t max_attempts_ = 0;
};

class job_queue {
  // Before its users: its return type is deduced.
  auto add(ry_tx* in, job_request request) const {
    return call<std::int64_t, std::int64_t>(
        [t = table_, host = ctx_->host(), in, request = std::move(request)](ry_exec* exec, ry_enqueued_fn fn, void* p) {
          const ry_job_request r = request.c_form();
          return t->enqueue(host, in, &r, exec, fn, p);
        },
        [](std::int64_t id) { return id; });
  }

 public:
  explicit job_queue(const context& ctx) : ctx_(&ctx), table_(&ctx.interface<ry_jobs_v1>()) {}

  // -> result<std::int64_t>, the id. RY_ALREADY_EXISTS: an unfinished job has the unique key.
  auto enqueue(job_request request) const { return add(nullptr, std::move(request)); }
  auto enqueue(const tx& in, job_request request) const { return add(in.handle(), std::move(request)); }
  // Starts a job here that was created already leased to this node, after its commit.
  ry_status adopt(std::string_view kind, std::int64_t id, std::int64_t fence,
                  std::string_view args_json) const noexcept {
    return table_->adopt(ctx_->host(), str(kind), id, fence, str(args_json));
  }
  void wake(std::string_view queue = {}) const noexcept { table_->wake(ctx_->host(), str(queue)); }
  // Cancels a job on whatever node runs it -> result<void>.
  auto cancel(std::int64_t id) const {
    return call_done(
        [t = table_, host = ctx_->host(), id](ry_exec* exec, ry_done done) { return t->cancel(host, id, exec, done); });
  }

 private:
  const context* ctx_;
  const ry_jobs_v1* table_;
};
inline job_queue context::jobs() const {
  return job_queue(*this);
}

// ---- events -----------------------------------------------------------------------------------

namespace detail {

struct event_state {
  event_state(const context& ctx, const ry_event_view* view, ry_event* handle)
      : events(*ctx.try_interface<ry_events_v1>()), view(view), handle(handle) {}
  event_state(const event_state&) = delete;
  event_state& operator=(const event_state&) = delete;
  ~event_state() {
    const error dropped(RY_INTERNAL);
    ack(dropped);
  }
  void ack(const error& e) noexcept {
    ry_event* event = handle.exchange(nullptr, std::memory_order_acq_rel);
    if (event == nullptr) return;
    const ry_error_view v = e.view();
    events.ack(event, e.status(), e.status() == RY_OK ? nullptr : &v);
  }
  const ry_events_v1& events;
  const ry_event_view* view;
  std::atomic<ry_event*> handle;
};

}  // namespace detail

// A domain event for a handler; acknowledged when the handler returns, delivered again if it throws. It may arrive
// twice: id() is stable.
class event {
 public:
  explicit event(std::shared_ptr<detail::event_state> s) noexcept : state_(std::move(s)) {}
  std::int64_t id() const noexcept { return state_->view->id; }
  std::uint32_t attempt() const noexcept { return state_->view->attempt; }
  std::string_view kind() const noexcept { return view(state_->view->kind); }
  std::string_view key() const noexcept { return view(state_->view->key); }
  std::string_view payload() const noexcept { return view(state_->view->payload_json); }  // JSON
  std::int64_t published_unix_us() const noexcept { return state_->view->published_unix_us; }
  ry_exec* exec() const noexcept { return state_->view->exec; }

 private:
  std::shared_ptr<detail::event_state> state_;
};

// A message of a live topic; valid during the call. bytes empty: read your log up to cursor.
struct live_message {
  std::string_view topic;
  std::uint64_t cursor = 0;
  std::string_view bytes;
  ry_buffer* buffer = nullptr;  // the same bytes, for stream::write_buffer; may be nullptr
};

class event_bus {
  // Before its users: its return type is deduced.
  auto send(ry_tx* in, std::string_view kind, std::string_view key, std::string_view json) const {
    return call_done([t = table_, host = ctx_->host(), in, kind, key, json](ry_exec* exec, ry_done done) {
      return t->publish(host, in, str(kind), str(key), str(json), exec, done);
    });
  }

 public:
  explicit event_bus(const context& ctx) : ctx_(&ctx), table_(&ctx.interface<ry_events_v1>()) {}

  // Publishes a domain event -> result<void>.
  auto publish(std::string_view kind, std::string_view key, std::string_view payload_json) const {
    return send(nullptr, kind, key, payload_json);
  }
  auto publish(const tx& in, std::string_view kind, std::string_view key, std::string_view payload_json) const {
    return send(in.handle(), kind, key, payload_json);
  }
  // flags: RY_LIVE_*
  ry_status live_publish(std::string_view topic, std::uint64_t cursor, std::string_view bytes,
                         std::uint32_t flags = 0) const noexcept {
    return table_->live_publish(ctx_->host(), str(topic), cursor, raw(bytes), flags);
  }
  // Whether a driver currently uses RY_LIVE_AHEAD.
  bool live_carries() const noexcept {
    return RY_HAS(table_, ry_events_v1, live_carries) && table_->live_carries(ctx_->host()) != 0;
  }
  // Calls f(const live_message&) on exec until the subscription ends.
  template <class F>
  subscription live_subscribe(std::string_view topic, ry_exec* exec, F f) const {
    using block = detail::subscription_block<ry_subscription, F>;
    auto b = std::make_unique<block>(std::move(f));
    b->ctx = ctx_;
    b->exec = exec;
    b->end = [](const context& ctx, ry_subscription* s) noexcept {
      ctx.try_interface<ry_events_v1>()->live_unsubscribe(s);
    };
    check(table_->live_subscribe(
              ctx_->host(), str(topic), exec,
              [](void* p, ry_str t, std::uint64_t cursor, ry_bytes bytes, ry_buffer* shared) noexcept {
                const live_message m{view(t), cursor, view(bytes), shared};
                static_cast<block*>(p)->run("a live subscriber failed", m);
              },
              b.get(), &b->handle),
          "events.live_subscribe");
    return subscription(b.release(), &block::close);
  }

 private:
  const context* ctx_;
  const ry_events_v1* table_;
};
inline event_bus context::events() const {
  return event_bus(*this);
}

}  // namespace ry
