#include "core/jobs/queue.hpp"

#include <algorithm>

#include "core/db/database.hpp"
#include "core/observe/log.hpp"
#include "core/observe/tracer.hpp"

namespace ry::jobs {

namespace {

using clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr auto wake_channel = "core.jobs";
constexpr auto cancel_channel = "core.jobs.cancel";
constexpr auto min_wake_interval = milliseconds(20);
// Grace period after a cancellation at the deadline: the job's own time limit, within these bounds.
constexpr auto least_grace = milliseconds(5'000), max_grace = milliseconds(30'000);
constexpr std::ptrdiff_t max_abandoned = 16;  // per kind
constexpr auto first_heartbeat_patience = std::chrono::seconds(5);
// A job that is leased to this node but unknown to it was created leased by a commit whose answer was lost.
constexpr auto reconcile_every = std::chrono::seconds(15);

std::int64_t unix_us(std::chrono::system_clock::time_point t) {
  return std::chrono::duration_cast<std::chrono::microseconds>(t.time_since_epoch()).count();
}

}  // namespace

std::string queue::check(const module::job_kind& kind) {
  if (kind.cron.empty()) return {};
  std::string why;
  if (cron::parse(kind.cron, why)) return {};
  return "job " + kind.kind + ": cron \"" + kind.cron + "\": " + why;
}

queue::queue(module::runtime& rt, queue_settings settings)
    : rt_(rt),
      settings_(std::move(settings)),
      loop_(rt.loops->at(0)),
      timer_(loop_.ctx),
      flush_timer_(loop_.ctx),
      wake_timer_(loop_.ctx) {}

queue::~queue() = default;

void queue::add(module::job_kind kind, runner run) {
  kind_entry entry;
  std::string why;
  if (!kind.cron.empty()) entry.schedule = cron::parse(kind.cron, why);
  if (!run) {
    run = [owner = kind.owner, fn = kind.run, ctx = kind.ctx](const ry_job_view* v, ry_job* j) {
      return module::invoke(owner, "job", fn, ctx, v, j);
    };
  }
  entry.run = std::move(run);
  entry.spec = std::move(kind);
  std::lock_guard lock(mutex_);
  auto& slot = kinds_[entry.spec.kind];
  stats_.kinds.try_emplace(entry.spec.kind);
  entry.running = slot.running;
  entry.adopted = slot.adopted;
  slot = std::move(entry);
}

void queue::remove(std::string_view kind) {
  std::lock_guard lock(mutex_);
  if (auto it = kinds_.find(kind); it != kinds_.end()) kinds_.erase(it);
}

bool queue::end_jobs_of(const std::vector<ry_host*>& owners, clock::time_point ask_at,
                        const std::function<bool()>& time_is_up) {
  const auto theirs = [&] {
    std::vector<std::shared_ptr<ry_job>> out;
    const auto look = [&](const std::shared_ptr<ry_job>& job) {
      if (std::find(owners.begin(), owners.end(), job->owner.get()) != owners.end()) out.push_back(job);
    };
    std::lock_guard lock(mutex_);
    for (const auto& [id, job] : running_) look(job);
    for (const auto& job : outlived_) look(job);
    return out;
  };
  for (;;) {
    const auto left = theirs();
    if (left.empty()) return true;
    if (time_is_up()) return false;
    if (clock::now() >= ask_at)
      for (const auto& job : left) notify_cancelled(job, RY_REASON_SHUTDOWN);
    std::this_thread::sleep_for(milliseconds(10));
  }
}

std::optional<module::job_kind> queue::find(std::string_view kind) const {
  std::lock_guard lock(mutex_);
  auto it = kinds_.find(kind);
  if (it == kinds_.end()) return std::nullopt;
  return it->second.spec;
}

queue_stats queue::stats() const {
  std::lock_guard lock(mutex_);
  auto s = stats_;
  s.running = running_.size() + outlived_.size();
  return s;
}

void queue::submit(std::function<void(db::connection&)> work, const char* what, std::function<void()> after) {
  {
    std::lock_guard lock(mutex_);
    ++in_flight_;
  }
  // `after` runs on the loop in any case; once it has run, the queue may be destroyed.
  auto end = [this, after = std::move(after)] {
    loop_.post([this, after] {
      if (after) after();
      std::lock_guard lock(mutex_);
      --in_flight_;
      idle_.notify_all();
    });
  };
  rt_.db->submit(
      [work = std::move(work), what, end](db::connection& c) {
        try {
          c.use_schema("core");
          work(c);
        } catch (const db::failure& e) {
          observe::log(observe::level::warn, "jobs", std::string(what) + " failed", {{"error", e.what()}});
        }
        end();
      },
      db::priority::high);
}

void queue::add_maintenance(const char* kind, const char* cron, std::function<void(db::connection&)> work) {
  module::job_kind k;
  k.kind = kind;
  k.queue = "core";
  k.cron = cron;
  add(std::move(k), [this, work = std::move(work)](const ry_job_view*, ry_job* job) {
    rt_.db->submit(
        [this, job, work](db::connection& c) {
          try {
            work(c);
            finish(job, RY_JOB_DONE, 0, nullptr);
          } catch (const db::failure& f) {
            const auto v = f.error.view();
            finish(job, RY_JOB_RETRY, 0, &v);
          }
        },
        db::priority::high);
    return RY_OK;
  });
}

void queue::add_trim() {
  add_maintenance("core.trim", "17 * * * *", [](db::connection& c) {
    // The 90 days count from when the job became ready or was dead-lettered, not from when it was created.
    c.exec("delete from core.job where state = 0 and run_at < now() - interval '90 days'");
    c.exec("select core.partitions_make('core.dead_job', interval '15 days')");
    c.exec("select core.partitions_trim('core.dead_job', interval '90 days')");
  });
}

void queue::start() {
  {
    std::lock_guard lock(mutex_);
    started_ = true;
    const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
    for (auto& [name, k] : kinds_)
      if (k.schedule) k.next_tick = k.schedule->next(now);
  }
  subscriptions_.push_back(rt_.db->listen(
      wake_channel, [this] { wake(); }, std::chrono::hours(1)));
  subscriptions_.push_back(rt_.db->listen(
      cancel_channel,
      [this] { submit([this](db::connection& c) { look_for_cancels(c); }, "reading cancellation requests"); },
      std::chrono::hours(1)));
  loop_.post([this] { tick(); });
  // Wait for the first heartbeat: a job created already leased to a node without a node lease would be reclaimed at
  // once.
  std::unique_lock lock(mutex_);
  idle_.wait_for(lock, first_heartbeat_patience, [this] { return last_heartbeat_ok_ != clock::time_point{}; });
}

void queue::arm(milliseconds delay) {
  timer_.expires_after(delay);
  timer_.async_wait([this](const boost::system::error_code& ec) {
    if (!ec) tick();
  });
}

// All periodic work runs on this one timer.
void queue::tick() {
  {
    std::lock_guard lock(mutex_);
    if (stopping_) return;
  }
  const auto now = clock::now();
  if (now - last_heartbeat_ >= settings_.heartbeat) heartbeat();
  if (now - last_reconcile_ >= reconcile_every) {
    last_reconcile_ = now;
    reconcile();
  }
  if (now - last_sample_ >= settings_.sample) sample();
  check_deadlines();
  run_crons();
  fetch();
  arm(std::min(settings_.poll, settings_.heartbeat));
}

void queue::wake() {
  loop_.post([this] {
    if (wake_armed_) return;
    const auto now = clock::now();
    const auto next = last_wake_ + min_wake_interval;
    last_wake_ = std::max(now, next);
    if (now >= next) return fetch();
    wake_armed_ = true;
    wake_timer_.expires_at(next);
    wake_timer_.async_wait([this](const boost::system::error_code& ec) {
      wake_armed_ = false;
      if (!ec) fetch();
    });
  });
}

void queue::notify_nodes() {
  if (other_nodes() > 0) rt_.db->notify(wake_channel);
}

// ---- claiming and running ------------------------------------------------------------------------

void queue::fetch() {
  std::vector<std::string> kinds;
  std::vector<std::int64_t> slots;
  {
    std::lock_guard lock(mutex_);
    if (!started_ || stopping_ || draining()) return;
    if (fetching_) {
      fetch_again_ = true;
      return;
    }
    for (auto& [name, k] : kinds_) {
      const auto free = free_places(k);
      if (free <= 0) continue;
      kinds.push_back(name);
      slots.push_back(std::min(free, at_once()));
    }
    if (kinds.empty()) return;
    fetching_ = true;
    fetch_again_ = false;
  }
  auto got = std::make_shared<std::vector<claimed>>();
  submit([this, kinds, slots, got](db::connection& c) { *got = fetch_on(c, kinds, slots); }, "claiming jobs",
         [this, kinds, slots, got] {
           bool again;
           {
             std::lock_guard lock(mutex_);
             fetching_ = false;
             for (std::size_t i = 0; i < kinds.size(); ++i) {
               const auto k = kinds_.find(kinds[i]);
               if (k == kinds_.end()) continue;
               k->second.more = std::count_if(got->begin(), got->end(),
                                              [&](const claimed& c) { return c.kind == kinds[i]; }) >= slots[i];
             }
             again = fetch_again_ || static_cast<std::int64_t>(got->size()) >= at_once();
           }
           for (auto& j : *got) launch(std::move(j));
           if (again) fetch();
         });
}

std::vector<queue::claimed> queue::fetch_on(db::connection& c, const std::vector<std::string>& kinds,
                                            const std::vector<std::int64_t>& slots) {
  // Enough that no job waits long for this; later polls promote the rest.
  c.exec(
      "with due as materialized (select id from core.job where state = 3 and run_at <= now() "
      "  order by run_at limit 1000 for update skip locked) "
      "update core.job set state = 0 where id = any (array(select id from due))",
      {});
  auto rows = c.exec(
      "with picked as materialized ("
      "  select p.id from unnest($1::text[], $2::bigint[]) w(kind, n) cross join lateral ("
      "    select j.id from core.job j where j.state = 0 and j.kind = w.kind "
      "    order by j.priority, j.turn, j.run_at, j.id limit w.n for update skip locked) p "
      // Checked here too: draining takes effect with its commit, not with the next heartbeat.
      "  where not exists (select 1 from core.node n where n.id = $3::uuid and n.draining)) "
      "update core.job j set state = 1, node = $3::uuid, fence = j.fence + 1, "
      "  attempt = j.attempt + 1, started_at = now() from picked where j.id = picked.id "
      "returning j.id, j.fence, j.kind, j.args::text, j.attempt, j.max_attempts, j.crashes, "
      "  (extract(epoch from j.enqueued_at) * 1000000)::bigint, coalesce(j.trace, '')",
      {db::text_array(kinds).value(), db::value::ints(slots), db::value::text(settings_.node_id)});
  std::vector<claimed> out;
  out.reserve(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    out.push_back({std::string(rows.text(i, 2)), std::string(rows.text(i, 3)), rows.int64(i, 0), rows.int64(i, 1),
                   rows.int64(i, 7), static_cast<std::uint32_t>(rows.int64(i, 4)),
                   static_cast<std::uint32_t>(rows.int64(i, 5)), static_cast<std::uint32_t>(rows.int64(i, 6)),
                   std::string(rows.text(i, 8))});
  }
  return out;
}

ry_status queue::adopt(std::string_view kind, std::int64_t id, std::int64_t fence, std::string_view args,
                       const ry_host* caller) {
  std::uint32_t max_attempts = 0;
  {
    std::lock_guard lock(mutex_);
    if (stopping_) return RY_UNAVAILABLE;  // stop() releases the lease
    const auto k = kinds_.find(kind);
    if (k == kinds_.end()) return RY_NOT_FOUND;
    if (running_.contains(id)) return RY_ALREADY_EXISTS;
    max_attempts = k->second.spec.max_attempts;
  }
  claimed c{std::string(kind),
            std::string(args),
            id,
            fence,
            unix_us(std::chrono::system_clock::now()),
            1,
            max_attempts,
            0,
            observe::kept_text(observe::current_trace()),
            true};
  const auto owner = launch(std::move(c));
  if (!owner) return RY_UNAVAILABLE;
  return caller != nullptr && *owner != caller ? RY_CANCELLED : RY_OK;
}

// Continues the trace that the job was created in, or begins a new one if there is none.
void queue::begin_trace(ry_job& job, const std::string& text) {
  if (!rt_.tracer) return;
  const auto [parent, state] = observe::parse_kept(text);
  job.trace = rt_.tracer->begin(parent, state);
  job.trace_text = parent ? text : observe::kept_text(job.trace);
  job.span = observe::open_span::of(job.trace, observe::span_kind::consumer);
  if (!job.span) return;
  job.span.name("job " + job.kind);
  job.span.set("runyard.module", job.owner.get() ? job.owner.get()->name : std::string());
  job.span.set("runyard.job.id", job.view.id);
  job.span.set("runyard.job.attempt", std::int64_t{job.view.attempt});
}

std::optional<const ry_host*> queue::launch(claimed c) {
  std::shared_ptr<ry_job> job, before;
  runner run;
  const ry_host* owner = nullptr;
  {
    std::lock_guard lock(mutex_);
    auto it = kinds_.find(c.kind);
    if (it == kinds_.end() || stopping_) return std::nullopt;  // stop() or reconcile() releases the job
    auto& k = it->second;
    owner = k.spec.owner;
    job = std::make_shared<ry_job>(*this, module::hold(k.spec.owner));
    job->kind = std::move(c.kind);
    job->args = std::move(c.args);
    job->backoff_ms = k.spec.backoff_ms;
    auto& v = job->view;
    v.struct_size = sizeof v;
    v.attempt = c.attempt;
    v.max_attempts = c.max_attempts;
    v.crashes = c.crashes;
    v.id = c.id;
    v.fence = c.fence;
    v.kind = core::view(job->kind);
    v.args_json = core::view(job->args);
    v.enqueued_unix_us = c.enqueued_us;
    if (k.spec.timeout_ms != UINT64_MAX) {
      const auto timeout = milliseconds(k.spec.timeout_ms);
      job->deadline = clock::now() + timeout;
      job->timeout = timeout;
      v.deadline_unix_us = unix_us(std::chrono::system_clock::now() + timeout);
    }
    v.exec = &rt_.loops->pick();
    begin_trace(*job, c.trace);
    job->trace_kept = !c.adopted || c.trace.empty();
    run = k.run;
    job->adopted = c.adopted;
    ++k.running;
    if (c.adopted) ++k.adopted;
    ++stats_.started;
    before = std::exchange(running_[c.id], job);
    if (before) outlived_.insert(before);
  }
  if (before) notify_cancelled(before, RY_REASON_LEASE_LOST);
  job->view.exec->post([job, run = std::move(run)] {
    const observe::trace_scope scope(job->trace);
    const auto st = run(&job->view, job.get());
    if (st == RY_OK) return;
    core::error e{st, "", "the job could not be started", "", 0, 0};
    const auto v = e.view();
    job->q.finish(job.get(), RY_JOB_RETRY, 0, &v);
  });
  return owner;
}

// ---- cancellation --------------------------------------------------------------------------------

ry_status queue::on_cancel(ry_job* raw, ry_cancel_fn fn, void* ctx) {
  auto job = raw->shared_from_this();
  std::int32_t why = 0;
  {
    std::lock_guard lock(job->mutex);
    if (job->finished) return RY_FAILED_PRECONDITION;
    job->on_cancel = fn;
    job->on_cancel_ctx = ctx;
    why = job->why;
    job->cancel_notified = false;
  }
  if (why) notify_cancelled(job, why);
  return RY_OK;
}

void queue::notify_cancelled(const std::shared_ptr<ry_job>& job, std::int32_t why) {
  {
    std::lock_guard lock(job->mutex);
    if (job->finished || job->cancel_notified) return;
    // A lost lease overrides every other reason, because the job must not write anything any more.
    if (!job->why || why == RY_REASON_LEASE_LOST) job->why = why;
  }
  job->view.exec->post([job] {
    ry_cancel_fn fn;
    void* ctx;
    std::int32_t why;
    {
      std::lock_guard lock(job->mutex);
      if (job->finished || job->cancel_notified || !job->on_cancel) return;
      job->cancel_notified = true;
      fn = job->on_cancel;
      ctx = job->on_cancel_ctx;
      why = job->why;
    }
    const observe::trace_scope scope(job->trace);
    module::invoke(job->owner.get(), "job cancel", fn, ctx, why);
  });
}

void queue::cancel_all(std::int32_t why) {
  std::vector<std::shared_ptr<ry_job>> all;
  {
    std::lock_guard lock(mutex_);
    all.reserve(running_.size());
    for (auto& [id, job] : running_) all.push_back(job);
  }
  for (auto& job : all) notify_cancelled(job, why);
}

void queue::check_deadlines() {
  std::vector<std::shared_ptr<ry_job>> late;
  const auto now = clock::now();
  {
    std::lock_guard lock(mutex_);
    for (auto& [id, job] : running_)
      if (job->deadline <= now) late.push_back(job);
  }
  for (auto& job : late) {
    if (std::exchange(job->late, true)) {
      job->deadline = clock::time_point::max();
      abandon(job);
    } else {
      job->deadline = now + std::clamp<milliseconds>(job->timeout, least_grace, max_grace);
      notify_cancelled(job, RY_REASON_DEADLINE);
    }
  }
}

void queue::abandon(const std::shared_ptr<ry_job>& job) {
  const auto* owner = job->owner.get();
  const std::string what = "job " + job->kind + " " + std::to_string(job->view.id);
  if (owner)
    module::report_violation(job->owner.get(), "a job that ignores its deadline", what,
                             "the module did not finish it in time after cancellation; the queue continues without it");
  else
    observe::log(observe::level::error, "jobs", "a job ignores its deadline", {{"job", what}});
  {
    std::lock_guard lock(mutex_);
    const auto same = [&](const auto& other) { return other->kind == job->kind; };
    // Each abandoned job occupies memory and perhaps a thread of its module. Jobs over the limit keep their slots,
    // which bounds their number.
    if (std::count_if(abandoned_.begin(), abandoned_.end(), same) >= max_abandoned) return;
    abandoned_.insert(job);
  }
  const core::error e{RY_DEADLINE_EXCEEDED, "jobs.deadline_ignored", "The job did not end at its deadline.", {}, 0, 0};
  const auto v = e.view();
  finish(job.get(), RY_JOB_RETRY, 0, &v);
}

void queue::cancel(std::int64_t id, std::function<void(ry_status)> done) {
  std::shared_ptr<ry_job> job;
  {
    std::lock_guard lock(mutex_);
    if (auto it = running_.find(id); it != running_.end()) job = it->second;
  }
  if (job) {
    notify_cancelled(job, RY_REASON_USER);
    loop_.post([done = std::move(done)] { done(RY_OK); });
    return;
  }
  auto status = std::make_shared<ry_status>(RY_UNAVAILABLE);
  submit(
      [this, id, status](db::connection& c) {
        auto waiting = c.exec(
            "with waits as (delete from core.job where id = $1 and state in (0, 3) returning id), "
            "  died as (delete from core.dead_job where id = $1 returning id) "
            "select id from waits union all select id from died",
            {db::value::int64(id)});
        if (waiting.size() > 0) {
          *status = RY_OK;
          return;
        }
        auto elsewhere = c.exec("update core.job set cancel_requested = true where id = $1 and state = 1 returning id",
                                {db::value::int64(id)});
        *status = elsewhere.size() > 0 ? RY_OK : RY_NOT_FOUND;
        if (elsewhere.size() > 0) rt_.db->notify(cancel_channel);
      },
      "cancelling a job", [done = std::move(done), status] { done(*status); });
}

// ---- cron ----------------------------------------------------------------------------------------

void queue::run_crons() {
  struct due_tick {
    module::job_kind spec;
    cron::time tick;
  };
  auto due = std::make_shared<std::vector<due_tick>>();
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  {
    std::lock_guard lock(mutex_);
    for (auto& [name, k] : kinds_) {
      if (!k.schedule) continue;
      const auto next = k.schedule->next(now);
      // The system clock may have been set back meanwhile.
      if (!k.next_tick || (next && *k.next_tick > *next)) k.next_tick = next;
      if (!k.next_tick || *k.next_tick > now) continue;
      due->push_back({k.spec, *k.next_tick});
      k.next_tick = next;
    }
  }
  if (due->empty()) return;
  submit(
      [due](db::connection& c) {
        for (const auto& d : *due) {
          c.exec("select core.cron_tick($1, to_timestamp($2), $3, $4::int)",
                 {db::value::text(d.spec.kind), db::value::int64(d.tick.time_since_epoch().count()),
                  db::value::text(d.spec.queue), db::value::int64(d.spec.max_attempts)});
        }
      },
      "periodic jobs", [this] { fetch(); });
}

// ---- stop ----------------------------------------------------------------------------------------

void queue::stop(clock::time_point deadline) {
  {
    std::lock_guard lock(mutex_);
    if (!started_ || stopping_) return;
    stopping_ = true;
  }
  for (const auto id : subscriptions_) rt_.db->unlisten(id);
  subscriptions_.clear();
  cancel_all(RY_REASON_SHUTDOWN);
  {
    // Keep renewing the lease while jobs finish.
    std::unique_lock lock(mutex_);
    const auto count = [this] { return running_.size() + outlived_.size(); };
    while (count() > 0 && clock::now() < deadline) {
      idle_.wait_until(lock, std::min(deadline, clock::now() + settings_.heartbeat));
      lock.unlock();
      loop_.post([this] {
        if (clock::now() - last_heartbeat_ >= settings_.heartbeat) heartbeat();
      });
      lock.lock();
    }
    if (count() > 0) {
      observe::log(observe::level::warn, "jobs", "jobs did not end in time; releasing them",
                   {{"jobs", std::to_string(count())}});
    }
  }
  loop_.post([this] {
    timer_.cancel();
    flush();
  });
  {
    std::unique_lock lock(mutex_);
    const auto limit = std::max(deadline, clock::now() + std::chrono::seconds(2));
    idle_.wait_until(lock, limit, [this] { return ended_.empty() && !flushing_ && !fetching_; });
    // Wait for a heartbeat in flight, which would insert the node's row again after its deletion.
    leaving_ = true;
    idle_.wait_until(lock, limit, [this] { return in_flight_ == 0; });
  }
  submit(
      [this](db::connection& c) {
        c.exec(
            "select core.jobs_return(array(select id from core.job where node = $1::uuid "
            "  and state = 1 for update), false)",
            {db::value::text(settings_.node_id)});
        c.exec("delete from core.node where id = $1::uuid", {db::value::text(settings_.node_id)});
      },
      "releasing the leases");
  std::unique_lock lock(mutex_);
  idle_.wait_for(lock, std::chrono::seconds(5), [this] { return in_flight_ == 0; });
}

}  // namespace ry::jobs
