// Job completion: writes the outcomes of jobs to their rows, in batches.
#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "core/db/database.hpp"
#include "core/jobs/queue.hpp"
#include "core/observe/log.hpp"
#include "core/observe/tracer.hpp"

namespace ry::jobs {

namespace {

using std::chrono::milliseconds;

constexpr auto flush_delay = milliseconds(10);
constexpr std::size_t flush_batch = 1000;

enum job_state { ready = 0, running = 1, dead = 2, scheduled = 3 };

std::uint64_t backoff(std::uint64_t base_ms, std::uint32_t attempt) {
  constexpr std::uint64_t top = 3'600'000;
  const auto shift = std::min<std::uint32_t>(attempt > 0 ? attempt - 1 : 0, 20);
  const auto delay = std::min(top, std::max<std::uint64_t>(base_ms, 1) << shift);
  thread_local std::minstd_rand random{std::random_device{}()};
  return delay / 2 + std::uniform_int_distribution<std::uint64_t>(0, delay / 2)(random);
}

}  // namespace

void queue::finish(ry_job* raw, std::int32_t outcome, std::uint64_t delay_ms, const ry_error_view* error) {
  auto job = raw->shared_from_this();
  {
    std::unique_lock lock(job->mutex);
    if (job->finished) {
      lock.unlock();
      std::lock_guard all(mutex_);
      abandoned_.erase(job);  // the module has finished the job after its deadline
      return;
    }
    job->finished = true;
    job->on_cancel = nullptr;
    if (outcome == RY_JOB_RETRY || outcome == RY_JOB_DEAD)
      job->span.fail(error && error->reason.len ? core::str(error->reason) : "failed");
    job->span.set("runyard.job.outcome", std::int64_t{outcome});
    job->span.end();
  }
  ended e{job->view.id, job->view.fence, outcome, delay_ms, {}, job->trace_text};
  if (job->trace) job->trace->end();
  if (error) {
    e.error = core::str(error->reason);
    if (error->message.len) e.error += (e.error.empty() ? "" : ": ") + core::str(error->message);
  }
  // flush_on() decides by the row's max_attempts; for an adopted job this node has only the default of its kind.
  const bool last = outcome == RY_JOB_RETRY && job->view.attempt >= job->view.max_attempts;
  if (outcome == RY_JOB_RETRY) {
    if (delay_ms == 0) e.delay_ms = backoff(job->backoff_ms, job->view.attempt);
    observe::log(observe::level::warn, "jobs", "a job failed",
                 {{"kind", job->kind},
                  {"id", std::to_string(e.id)},
                  {"attempt", std::to_string(job->view.attempt)},
                  {"error", e.error},
                  {"next", last ? "dead" : std::to_string(e.delay_ms) + " ms"}});
  }
  bool arm_flush = false, more = false;
  {
    std::lock_guard lock(mutex_);
    const auto it = running_.find(e.id);
    const bool is_present = it != running_.end() && it->second == job;
    if (is_present) running_.erase(it);
    if (is_present || outlived_.erase(job) > 0) {
      if (auto k = kinds_.find(job->kind); k != kinds_.end() && k->second.running > 0) {
        more = k->second.more || free_places(k->second) <= 0;
        --k->second.running;
        if (job->adopted && k->second.adopted > 0) --k->second.adopted;
      }
    }
    switch (last ? RY_JOB_DEAD : e.outcome) {
      case RY_JOB_DONE:
      case RY_JOB_DONE_IN_TX:
        ++stats_.done, ++stats_.kinds[job->kind].done;
        break;
      case RY_JOB_RETRY:
        ++stats_.retried, ++stats_.kinds[job->kind].retried;
        break;
      case RY_JOB_DEAD:
        ++stats_.dead, ++stats_.kinds[job->kind].dead;
        break;
      default:
        break;
    }
    if (e.outcome != RY_JOB_DONE_IN_TX) {
      writing_[e.id] = e.fence;
      ended_.push_back(std::move(e));
      arm_flush = !flush_armed_;
      flush_armed_ = true;
    }
    idle_.notify_all();
  }
  if (arm_flush) {
    loop_.post([this] {
      flush_timer_.expires_after(flush_delay);
      flush_timer_.async_wait([this](const boost::system::error_code& ec) {
        if (!ec) flush();
      });
    });
  }
  if (more) wake();
}

void queue::flush() {
  auto batch = std::make_shared<std::vector<ended>>();
  {
    std::lock_guard lock(mutex_);
    flush_armed_ = false;
    if (flushing_ || ended_.empty()) return;
    flushing_ = true;
    const auto n = std::min(ended_.size(), flush_batch);
    batch->assign(std::make_move_iterator(ended_.begin()),
                  std::make_move_iterator(ended_.begin() + static_cast<std::ptrdiff_t>(n)));
    ended_.erase(ended_.begin(), ended_.begin() + static_cast<std::ptrdiff_t>(n));
  }
  auto written = std::make_shared<bool>(false);
  submit(
      [this, batch, written](db::connection& c) {
        flush_on(c, *batch);
        *written = true;
      },
      "storing the ends of jobs",
      [this, batch, written] {
        bool more;
        std::uint64_t soonest = UINT64_MAX;
        {
          std::lock_guard lock(mutex_);
          flushing_ = false;
          for (auto& e : *batch) {
            if (!*written) {
              ended_.push_back(std::move(e));
              continue;
            }
            writing_.erase(e.id);
            if (e.outcome == RY_JOB_RETRY || e.outcome == RY_JOB_SNOOZE) soonest = std::min(soonest, e.delay_ms);
            if (e.outcome == RY_JOB_RELEASE) soonest = 0;
          }
          more = !ended_.empty();
          if (more) flush_armed_ = true;
          idle_.notify_all();
        }
        if (more) {
          flush_timer_.expires_after(*written ? milliseconds(0) : milliseconds(250));
          flush_timer_.async_wait([this](const boost::system::error_code& ec) {
            if (!ec) flush();
          });
        }
        if (soonest < static_cast<std::uint64_t>(settings_.poll.count())) {
          auto timer = std::make_shared<boost::asio::steady_timer>(loop_.ctx, milliseconds(soonest + 1));
          timer->async_wait([this, timer](const boost::system::error_code& ec) {
            if (!ec) fetch();
          });
        }
      });
}

void queue::flush_on(db::connection& c, const std::vector<ended>& batch) {
  std::vector<std::int64_t> done_ids, done_fences, ids, fences, states, delays, undo;
  std::vector<std::string> errors, traces;
  for (const auto& e : batch) {
    if (e.outcome == RY_JOB_DONE) {
      done_ids.push_back(e.id);
      done_fences.push_back(e.fence);
      continue;
    }
    ids.push_back(e.id);
    fences.push_back(e.fence);
    states.push_back(e.outcome == RY_JOB_DEAD ? dead : e.outcome == RY_JOB_RELEASE ? ready : scheduled);
    delays.push_back(static_cast<std::int64_t>(std::min<std::uint64_t>(e.delay_ms, 31'536'000'000)));
    undo.push_back(e.outcome == RY_JOB_SNOOZE || e.outcome == RY_JOB_RELEASE ? 1 : 0);
    errors.push_back(e.error);
    traces.push_back(e.trace);
  }
  if (!done_ids.empty()) {
    c.exec(
        "delete from core.job j using unnest($1::bigint[], $2::bigint[]) d(id, fence) "
        "where j.id = d.id and j.fence = d.fence and j.state = 1",
        {db::value::ints(done_ids), db::value::ints(done_fences)});
  }
  if (!ids.empty()) {
    c.exec(
        "update core.job j set node = null, cancel_requested = false, "
        "  state = case when d.undo = 0 and j.attempt >= j.max_attempts then 2 else d.state end, "
        "  attempt = greatest(j.attempt - d.undo, 0), "
        "  run_at = now() + d.delay * interval '1 ms', "
        "  last_error = coalesce(nullif(d.error, ''), j.last_error), "
        "  trace = coalesce(j.trace, nullif(d.trace, '')) "
        "from unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], "
        "  $6::text[], $7::text[]) d(id, fence, state, delay, undo, error, trace) "
        "where j.id = d.id and j.fence = d.fence and j.state = 1",
        {db::value::ints(ids), db::value::ints(fences), db::value::ints(states), db::value::ints(delays),
         db::value::ints(undo), db::text_array(errors).value(), db::text_array(traces).value()});
  }
}

}  // namespace ry::jobs
