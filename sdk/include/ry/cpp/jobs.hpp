// Durable background work: ry.jobs/1.
#pragma once

#include <ry/cpp/db.hpp>

namespace ry {

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

// A job to be added; owns its strings.
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
  // Defined before its users, because its return type is deduced.
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
  // Cancels a job on the node that runs it -> result<void>.
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

}  // namespace ry
