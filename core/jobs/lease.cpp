// Leases of the queue: heartbeat, claiming the jobs of vanished nodes, detection of lost jobs, and queue depths.
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "core/db/database.hpp"
#include "core/jobs/queue.hpp"
#include "core/observe/log.hpp"

namespace ry::jobs {

using clock = std::chrono::steady_clock;

void queue::heartbeat() {
  {
    std::lock_guard lock(mutex_);
    if (beating_ || leaving_) return;
    beating_ = true;
    ++in_flight_;  // count it from here on, not only from submit() on
  }
  last_heartbeat_ = clock::now();
  submit([this](db::connection& c) { heartbeat_on(c); }, "lease renewal",
         [this] {
           bool lost = false;
           {
             std::lock_guard lock(mutex_);
             beating_ = false;
             --in_flight_;
             const auto silent = clock::now() - last_heartbeat_ok_;
             stats_.connected = silent < settings_.lease;
             lost =
                 silent >= settings_.lease + settings_.hold && last_heartbeat_ok_ != clock::time_point{} && !gave_up_;
             if (lost) gave_up_ = true, stats_.leases_lost += running_.size();
           }
           // Other nodes may or may not have taken the jobs. If the database is unavailable to all nodes, no node has,
           // and the work continues when it is back. Until then the fence keeps the data consistent.
           if (lost) cancel_all(RY_REASON_LEASE_LOST);
         });
}

std::vector<std::string> queue::peers() const {
  std::lock_guard lock(mutex_);
  return peers_;
}

queue::held queue::held_jobs() const {
  held out;
  std::lock_guard lock(mutex_);
  for (const auto& [id, job] : running_) {
    if (std::lock_guard of_job(job->mutex); job->why == RY_REASON_LEASE_LOST) continue;
    out.ids.push_back(id);
    out.fences.push_back(job->view.fence);
  }
  return out;
}

void queue::note_draining(bool wanted) {
  if (draining_.exchange(wanted) == wanted) return;
  observe::log(observe::level::info, "jobs",
               wanted ? "this node is draining: it claims no more jobs" : "this node claims jobs again");
  if (!wanted) wake();
}

void queue::heartbeat_on(db::connection& c) {
  const auto lease_ms = static_cast<std::int64_t>(settings_.lease.count());
  const auto sent = clock::now();
  auto mine = c.exec(
      // If another node deleted the row with the lease, the insert restores the draining flag that this node
      // remembers.
      "insert into core.node as n (id, lease_until, name, weight, running, draining) "
      "values ($1::uuid, now() + $2 * interval '1 ms', $3, $4, $5, $6::boolean) on conflict (id) do update "
      "set lease_until = excluded.lease_until, running = excluded.running "
      "returning (xmax = 0)::int, draining",
      {db::value::text(settings_.node_id), db::value::int64(lease_ms), db::value::text(settings_.node_name),
       db::value::int64(settings_.weight), db::value::int64(static_cast<std::int64_t>(stats().running)),
       db::value::boolean(draining())});
  const auto now = clock::now();
  const bool fresh = mine.int64(0, 0) != 0;
  note_draining(mine.boolean(0, 1));
  bool first, may_rescue;
  {
    std::lock_guard lock(mutex_);
    first = last_heartbeat_ok_ == clock::time_point{};
    // If this node nearly lost its own lease, other nodes probably did too, because the database was unavailable or
    // slow. Give them time to renew their leases: as long as the outage lasted, within limits, because the backlog
    // slows everything down. A node that has just started does not know of outages, so it waits for one lease.
    const auto away = std::chrono::duration_cast<std::chrono::milliseconds>(now - last_heartbeat_ok_);
    if (first)
      rescue_from_ = now + settings_.lease;
    else if (away >= settings_.lease * 3 / 4)
      rescue_from_ = now + std::clamp<std::chrono::milliseconds>(away, settings_.lease, 3 * settings_.lease);
    may_rescue = now >= rescue_from_;
    last_heartbeat_ok_ = sent;
    gave_up_ = false;
  }
  if (fresh && !first) {
    // Another node saw this lease expire and took all jobs.
    const held taken = held_jobs();
    {
      std::lock_guard lock(mutex_);
      stats_.leases_lost += taken.ids.size();
    }
    cancel_all(RY_REASON_LEASE_LOST);
    c.exec("select core.jobs_outlived($1::bigint[], $2::bigint[])",
           {db::value::ints(taken.ids), db::value::ints(taken.fences)});
  }
  // Take the jobs of nodes whose lease expired and of the previous process in this data directory. Jobs whose node
  // has no row belong to an interrupted takeover. The query finds the job holders with a loose index scan: there may
  // be a million running jobs but only a few nodes.
  auto rescued = c.exec(
      "with recursive gone as (delete from core.node where (lease_until < now() and id <> $1::uuid and $3) "
      "  or id = nullif($2, '')::uuid returning id), "
      "holder as ((select node from core.job where state = 1 order by node limit 1) union all "
      "  select (select j.node from core.job j where j.state = 1 and j.node > h.node order by j.node limit 1) "
      "  from holder h where h.node is not null), "
      "vacant as (select id from gone union all select h.node from holder h "
      "  where h.node is not null and not exists (select 1 from core.node n where n.id = h.node)), "
      "lost as (select j.id from core.job j where j.state = 1 and j.node = any (array(select id from vacant)) "
      "  for update skip locked) "
      "select core.jobs_return(array(select id from lost), true)",
      {db::value::text(settings_.node_id), db::value::text(first ? settings_.previous_node_id : ""),
       db::value::boolean(may_rescue)});
  const auto others = c.exec("select id from core.node where id <> $1::uuid", {db::value::text(settings_.node_id)});
  std::vector<std::string> peers;
  for (std::size_t i = 0; i < others.size(); ++i) peers.emplace_back(others.text(i, 0));
  other_nodes_.store(static_cast<int>(peers.size()), std::memory_order_relaxed);
  {
    std::lock_guard lock(mutex_);
    peers_ = std::move(peers);
  }
  if (const auto taken = rescued.int64(0, 0); taken > 0) {
    observe::log(observe::level::warn, "jobs", "claimed jobs of a node that vanished",
                 {{"jobs", std::to_string(taken)}});
    {
      std::lock_guard lock(mutex_);
      stats_.rescued += static_cast<std::uint64_t>(taken);
    }
    wake();
  }
  look_for_cancels(c);
  look_for_lost(c);
  keep_traces(c);
}

// Detects jobs that another node ended or took over while this node could not renew its lease. A job that ends in its
// own transaction has no row for a moment while it still runs, so it counts as lost only after two heartbeats.
void queue::look_for_lost(db::connection& c) {
  const auto [ids, fences] = held_jobs();
  if (ids.empty()) return;
  const auto gone = c.exec("select id from core.jobs_lost($1::uuid, $2::bigint[], $3::bigint[])",
                           {db::value::text(settings_.node_id), db::value::ints(ids), db::value::ints(fences)});
  std::unordered_set<std::int64_t> missing;
  for (std::size_t i = 0; i < gone.size(); ++i) missing.insert(gone.int64(i, 0));
  std::vector<std::shared_ptr<ry_job>> lost;
  {
    std::lock_guard lock(mutex_);
    for (const auto id : ids) {
      const auto it = running_.find(id);
      if (it == running_.end()) continue;
      auto& job = it->second;
      job->missed = missing.contains(id) ? job->missed + 1 : 0;
      if (job->missed == 2) lost.push_back(job);
    }
    stats_.leases_lost += lost.size();
  }
  for (const auto& job : lost) {
    observe::log(
        observe::level::warn, "jobs", "a running job was ended or claimed by another node",
        {{"kind", job->kind}, {"job", std::to_string(job->view.id)}, {"fence", std::to_string(job->view.fence)}});
    notify_cancelled(job, RY_REASON_LEASE_LOST);
  }
}

// Stores the traces of jobs that were created leased to this node, so that a node that takes one over continues its
// trace.
void queue::keep_traces(db::connection& c) {
  std::vector<std::int64_t> ids, fences;
  std::vector<std::string> traces;
  {
    std::lock_guard lock(mutex_);
    for (const auto& [id, job] : running_) {
      if (std::exchange(job->trace_kept, true)) continue;
      ids.push_back(id);
      fences.push_back(job->view.fence);
      traces.push_back(job->trace_text);
    }
  }
  if (ids.empty()) return;
  c.exec(
      "update core.job j set trace = d.trace "
      "from unnest($1::bigint[], $2::bigint[], $3::text[]) d(id, fence, trace) "
      "where j.id = d.id and j.fence = d.fence and j.state = 1 and j.trace is null",
      {db::value::ints(ids), db::value::ints(fences), db::text_array(traces).value()});
}

void queue::look_for_cancels(db::connection& c) {
  auto calls = c.exec("select id from core.job where node = $1::uuid and state = 1 and cancel_requested",
                      {db::value::text(settings_.node_id)});
  for (std::size_t i = 0; i < calls.size(); ++i) {
    std::shared_ptr<ry_job> job;
    {
      std::lock_guard lock(mutex_);
      if (auto it = running_.find(calls.int64(i, 0)); it != running_.end()) job = it->second;
    }
    if (job) notify_cancelled(job, RY_REASON_USER);
  }
}

void queue::reconcile() {
  if (reconciling_) return;
  reconciling_ = true;
  submit(
      [this](db::connection& c) {
        auto mine = c.exec(
            "select id, fence from core.job where node = $1::uuid and state = 1 "
            "and started_at < now() - interval '15 s'",
            {db::value::text(settings_.node_id)});
        std::vector<std::int64_t> ids, fences;
        {
          std::lock_guard lock(mutex_);
          for (std::size_t i = 0; i < mine.size(); ++i) {
            const auto id = mine.int64(i, 0);
            if (running_.contains(id) || writing_.contains(id)) continue;
            ids.push_back(id);
            fences.push_back(mine.int64(i, 1));
          }
        }
        if (ids.empty()) return;
        c.exec(
            "update core.job j set state = 0, node = null, attempt = greatest(j.attempt - 1, 0) "
            "from unnest($1::bigint[], $2::bigint[]) d(id, fence) "
            "where j.id = d.id and j.fence = d.fence and j.state = 1",
            {db::value::ints(ids), db::value::ints(fences)});
        wake();
      },
      "reconciliation of leases", [this] { reconciling_ = false; });
}

void queue::sample() {
  if (sampling_) return;
  sampling_ = true;
  last_sample_ = clock::now();
  submit(
      [this](db::connection& c) {
        std::map<std::string, queue_depth> all;
        std::map<std::string, job_counts> kinds;
        {
          std::lock_guard lock(mutex_);
          for (const auto& [name, k] : kinds_) all[k.spec.queue] = {}, kinds[name] = {};
        }
        const auto found = c.exec(
            "select queue, kind, ready, scheduled, running, dead, oldest_ready_seconds from core.job_kind_depths()");
        for (std::size_t i = 0; i < found.size(); ++i) {
          queue_depth& of_queue = all[std::string(found.text(i, 0))];
          for (job_counts* to : {static_cast<job_counts*>(&of_queue), &kinds[std::string(found.text(i, 1))]}) {
            to->ready += found.int64(i, 2);
            to->scheduled += found.int64(i, 3);
            to->running += found.int64(i, 4);
            to->dead += found.int64(i, 5);
          }
          of_queue.oldest_ready_seconds = std::max(of_queue.oldest_ready_seconds, found.number(i, 6));
        }
        std::vector<queue_depth> depths;
        for (auto& [name, depth] : all) {
          depth.queue = name;
          depths.push_back(std::move(depth));
        }
        std::lock_guard lock(mutex_);
        stats_.depths = std::move(depths);
        stats_.kind_depths = std::move(kinds);
      },
      "reading the queue lengths", [this] { sampling_ = false; });
}

}  // namespace ry::jobs
