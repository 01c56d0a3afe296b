#include "core/events/hub.hpp"

#include <algorithm>
#include <boost/asio/steady_timer.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <charconv>
#include <future>

#include "core/db/database.hpp"
#include "core/events/event.hpp"
#include "core/observe/log.hpp"

namespace ry::events {

namespace json = boost::json;

namespace {

constexpr auto live_channel = "core.live";
constexpr auto wakeup_delay = std::chrono::milliseconds(10);
constexpr std::size_t max_payload = 7800;  // NOTIFY rejects payloads of 8000 bytes and more
// Limits of a loop's inbox for messages from other nodes. Beyond them the topic's subscribers get only a wake-up.
constexpr std::size_t max_remote_messages = 8192;
constexpr std::size_t max_remote_bytes = 8 * 1024 * 1024;

// Merges wake-ups of one topic. Cursor 0 ("position unknown") overrides every other cursor.
void merge(std::unordered_map<std::string, std::uint64_t>& wakeups, std::string_view topic, std::uint64_t cursor) {
  const auto [at, fresh] = wakeups.try_emplace(std::string(topic), cursor);
  if (!fresh) at->second = at->second == 0 || cursor == 0 ? 0 : std::max(at->second, cursor);
}

std::string job_kind_of(const module::consumer& c) {
  return "event." + c.owner->name + "." + c.name;
}

ry_status run_consumer(const module::consumer& c, const ry_job_view* view, ry_job* job) {
  boost::system::error_code ec;
  const auto args = json::parse(core::sv(view->args_json), ec);
  const auto* o = ec ? nullptr : args.if_object();
  if (!o) return RY_DATA_LOSS;
  auto event = std::make_unique<ry_event>(job, module::hold(c.owner));
  event->kind = o->at("kind").as_string();
  event->key = o->at("key").as_string();
  event->payload = json::serialize(o->at("payload"));
  auto& v = event->view;
  v.struct_size = sizeof v;
  v.attempt = view->attempt;
  v.id = o->at("id").to_number<std::int64_t>();
  v.published_unix_us = o->at("at").to_number<std::int64_t>();
  v.kind = core::view(event->kind);
  v.key = core::view(event->key);
  v.payload_json = core::view(event->payload);
  v.exec = view->exec;
  auto* raw = event.release();
  const auto st =
      module::invoke(c.owner, "event consumer", c.handle, c.ctx, static_cast<const ry_event_view*>(&raw->view), raw);
  if (st != RY_OK) delete raw;
  return st;
}

}  // namespace

hub::hub(module::runtime& rt, std::chrono::seconds keep)
    : rt_(rt),
      keep_(keep),
      bus_(rt, {[this](std::string_view topic, std::uint64_t cursor, std::string_view bytes) {
                  deliver(topic, cursor, bytes, origin::remote);
                },
                [this] { wake_all(); },
                [this](std::string_view topic, std::uint64_t cursor) { notify_nodes(topic, cursor); }}) {
  for (std::size_t i = 0; i < rt.loops->size(); ++i) inboxes_.push_back(std::make_unique<loop_inbox>());
}

hub::~hub() = default;

std::string hub::add_consumers(const std::vector<module::consumer>& consumers) {
  if (consumers.empty()) return {};
  std::promise<std::string> registered;
  rt_.db->submit(
      [&](db::connection& c) {
        std::string error;
        try {
          for (const auto& k : consumers) {
            c.exec(
                "insert into core.event_consumer as e (module, name, kinds) "
                "values ($1, $2, $3) on conflict (module, name) do update "
                "set kinds = excluded.kinds, last_seen = now()",
                {db::value::text(k.owner->name), db::value::text(k.name), db::text_array(k.kinds).value()});
          }
        } catch (const db::failure& e) {
          error = std::string("registering event consumers: ") + e.what();
        }
        registered.set_value(std::move(error));
      },
      db::priority::high);
  auto error = registered.get_future().get();
  if (!error.empty()) return error;
  {
    std::lock_guard lock(owned_mutex_);
    for (const auto& c : consumers) consumers_.emplace(c.owner->name, c.name);
  }
  for (const auto& c : consumers) {
    module::job_kind kind;
    kind.owner = c.owner;
    kind.kind = job_kind_of(c);
    kind.queue = "events";
    kind.max_attempts = 25;
    kind.concurrency = 64;
    rt_.jobs->add(std::move(kind), [c](const ry_job_view* view, ry_job* job) {
      try {
        return run_consumer(c, view, job);
      } catch (const std::exception&) {  // the arguments were not written by event_publish
        return static_cast<ry_status>(RY_DATA_LOSS);
      }
    });
  }
  return {};
}

void hub::remove_consumers(const std::vector<module::consumer>& consumers) {
  for (const auto& c : consumers) {
    rt_.jobs->remove(job_kind_of(c));
    std::lock_guard lock(owned_mutex_);
    consumers_.erase({c.owner->name, c.name});
  }
}

// Deletes consumers of modules that have not run for 30 days, so that no more jobs are created for them.
void hub::trim_consumers(db::connection& c) {
  {
    std::lock_guard lock(owned_mutex_);
    for (const auto& [module, name] : consumers_)
      c.exec("update core.event_consumer set last_seen = now() where module = $1 and name = $2",
             {db::value::text(module), db::value::text(name)});
  }
  c.exec("delete from core.event_consumer where last_seen < now() - interval '30 days'");
}

void hub::start() {
  rt_.jobs->add_maintenance("core.trim_consumers", "17 * * * *", [this](db::connection& c) { trim_consumers(c); });
  rt_.jobs->add_maintenance("core.trim_events", "* * * * *", [keep = keep_.count()](db::connection& c) {
    std::string until;
    for (;;) {
      const auto made = c.exec(
          "select core.partitions_make('core.event', core.partition_width(make_interval(secs => $1::bigint)), 1)::text",
          {db::value::int64(keep)});
      if (made.is_null(0, 0) || made.text(0, 0) == until) break;
      until = made.text(0, 0);
    }
    c.exec("select core.partitions_trim('core.event', make_interval(secs => $1::bigint))", {db::value::int64(keep)});
  });
  listen_id_ = rt_.db->on_message(live_channel, [this](std::string_view payload) { on_notification(payload); });
  // Nothing is sent on this channel. Its callback fires after the listener has reconnected, when messages may have
  // been lost.
  reconnect_id_ = rt_.db->listen(
      "core.live.again", [this] { wake_all(); }, std::chrono::hours(1));
  bus_.start();
}

void hub::stop() {
  stopped_.store(true);
  bus_.stop();
  for (std::uint64_t* each : {&listen_id_, &reconnect_id_})
    if (*each) rt_.db->unlisten(std::exchange(*each, 0));
}

hub_stats hub::stats() const {
  hub_stats s{published_.load(), delivered_.load(), wakeups_sent_.load(), wakeups_received_.load(), lagged_.load(), 0,
              bus_.stats()};
  for (const auto& sh : shards_) {
    std::lock_guard lock(sh.mutex);
    for (const auto& [topic, loops] : sh.loops)
      for (const auto n : loops) s.subscriptions += n;
  }
  return s;
}

// ---- live topics ---------------------------------------------------------------------------------

ry_subscription* hub::subscribe(const ry_host* host, std::string_view topic, ry_exec* exec, ry_live_fn fn, void* ctx) {
  auto s = std::make_shared<ry_subscription>(module::hold(host), std::string(topic), exec, fn, ctx);
  {
    std::lock_guard lock(owned_mutex_);
    owned_.emplace(s.get(), s);
  }
  {
    auto& sh = shard_of(topic);
    std::lock_guard lock(sh.mutex);
    auto& loops = sh.loops[s->topic];
    if (loops.empty()) loops.resize(inboxes_.size());
    ++loops[exec->index];
  }
  // Posted, so that it runs before the drain() of any message published after subscribe().
  exec->post([this, s] {
    if (!s->closed.load(std::memory_order_relaxed)) inboxes_[s->exec->index]->topics[s->topic].push_back(s);
  });
  return s.get();
}

void hub::unsubscribe(ry_subscription* raw) {
  std::shared_ptr<ry_subscription> s;
  {
    std::lock_guard lock(owned_mutex_);
    auto it = owned_.find(raw);
    if (it == owned_.end()) return;
    s = std::move(it->second);
    owned_.erase(it);
  }
  s->closed.store(true, std::memory_order_release);
  {
    auto& sh = shard_of(s->topic);
    std::lock_guard lock(sh.mutex);
    auto it = sh.loops.find(s->topic);
    if (it != sh.loops.end()) {
      --it->second[s->exec->index];
      if (std::all_of(it->second.begin(), it->second.end(), [](auto n) { return n == 0; })) sh.loops.erase(it);
    }
  }
  s->exec->post([this, s] { forget(s); });
}

void hub::forget(const std::shared_ptr<ry_subscription>& s) {
  auto& topics = inboxes_[s->exec->index]->topics;
  auto it = topics.find(s->topic);
  if (it == topics.end()) return;
  std::erase(it->second, s);
  if (it->second.empty()) topics.erase(it);
}

ry_status hub::publish(std::string_view topic, std::uint64_t cursor, std::string_view bytes, std::uint32_t flags) {
  if (flags & RY_LIVE_AHEAD) return bytes.empty() ? RY_INVALID_ARGUMENT : bus_.publish(topic, cursor, bytes);
  published_.fetch_add(1, std::memory_order_relaxed);
  if (!(flags & RY_LIVE_WAKEUP)) deliver(topic, cursor, bytes, origin::local);
  if (flags & RY_LIVE_LOCAL) return RY_OK;
  const bool carried =
      bus_.carries() && bus_.publish(topic, cursor, flags & RY_LIVE_WAKEUP ? std::string_view() : bytes) == RY_OK;
  if (!carried || !bus_.received_by_all()) notify_nodes(topic, cursor);
  return RY_OK;
}

void hub::deliver(std::string_view topic, std::uint64_t cursor, std::string_view bytes, origin where) {
  std::vector<std::uint32_t> loops;
  {
    auto& sh = shard_of(topic);
    std::lock_guard lock(sh.mutex);
    auto it = sh.loops.find(std::string(topic));
    if (it == sh.loops.end()) return;
    loops = it->second;
  }
  const auto buffer = bytes.empty() ? exec::buffer_ref() : exec::buffer_ref(bytes);
  for (std::size_t i = 0; i < loops.size(); ++i) {
    if (loops[i] == 0) continue;
    auto& l = *inboxes_[i];
    bool wake;
    {
      std::lock_guard lock(l.mutex);
      wake = l.inbox.empty() && l.lagging.empty();
      if (where == origin::local) {
        l.inbox.push_back({std::string(topic), cursor, buffer});
      } else if (l.remote_messages < max_remote_messages && l.remote_bytes + bytes.size() <= max_remote_bytes) {
        l.inbox.push_back({std::string(topic), cursor, buffer});
        ++l.remote_messages;
        l.remote_bytes += bytes.size();
      } else {
        merge(l.lagging, topic, cursor);
        lagged_.fetch_add(1, std::memory_order_relaxed);
      }
    }
    if (wake) rt_.loops->at(i).post([this, i] { drain(i); });
  }
}

void hub::drain(std::size_t loop) {
  auto& l = *inboxes_[loop];
  std::vector<message> batch;
  std::unordered_map<std::string, std::uint64_t> lagging;
  {
    std::lock_guard lock(l.mutex);
    batch.swap(l.inbox);
    lagging.swap(l.lagging);
    l.remote_messages = l.remote_bytes = 0;
  }
  for (auto& [topic, cursor] : lagging) batch.push_back({topic, cursor, {}});
  for (const auto& m : batch) {
    auto it = l.topics.find(m.topic);
    if (it == l.topics.end()) continue;
    // A callback may subscribe or unsubscribe. `topics` changes only in posted handlers, so the list stays valid
    // here.
    for (const auto& s : it->second) call(s, m.topic, m.cursor, m.buffer);
  }
}

void hub::call(const std::shared_ptr<ry_subscription>& s, std::string_view topic, std::uint64_t cursor,
               const exec::buffer_ref& buffer) {
  if (s->closed.load(std::memory_order_acquire)) return;
  delivered_.fetch_add(1, std::memory_order_relaxed);
  module::invoke(s->owner.get(), "live topic", s->fn, s->ctx, core::view(topic), cursor, core::bytes(buffer.view()),
                 buffer.get());
}

void hub::wake_all() {
  for (std::size_t i = 0; i < inboxes_.size(); ++i)
    rt_.loops->at(i).post([this, i] {
      for (const auto& [topic, all] : inboxes_[i]->topics)
        for (const auto& s : all) call(s, topic, 0, {});
    });
}

// ---- other nodes ---------------------------------------------------------------------------------

void hub::notify_nodes(std::string_view topic, std::uint64_t cursor) {
  // A new node becomes visible with the next heartbeat; until then its subscribers poll.
  if (stopped_.load() || !rt_.jobs || rt_.jobs->other_nodes() == 0) return;
  bool arm;
  {
    std::lock_guard lock(wakeups_mutex_);
    merge(wakeups_, topic, cursor);
    arm = !wakeups_armed_;
    wakeups_armed_ = true;
  }
  if (!arm) return;
  auto& loop = rt_.loops->at(0);
  loop.post([this, &loop] {
    auto timer = std::make_shared<boost::asio::steady_timer>(loop.ctx, wakeup_delay);
    timer->async_wait([this, timer](const boost::system::error_code& ec) {
      if (!ec) flush_wakeups();
    });
  });
}

// Payload: "<node>\n", then as many "<cursor> <topic>\n" lines as fit.
void hub::flush_wakeups() {
  std::unordered_map<std::string, std::uint64_t> wakeups;
  {
    std::lock_guard lock(wakeups_mutex_);
    wakeups.swap(wakeups_);
    wakeups_armed_ = false;
  }
  const std::string head = rt_.jobs->node_id() + "\n";
  std::string payload = head;
  auto send = [&] {
    if (payload.size() == head.size()) return;
    wakeups_sent_.fetch_add(1, std::memory_order_relaxed);
    rt_.db->broadcast(live_channel, payload);
    payload = head;
  };
  for (const auto& [topic, cursor] : wakeups) {
    auto line = std::to_string(cursor) + " " + topic + "\n";
    if (payload.size() + line.size() > max_payload) send();
    payload += line;
  }
  send();
}

void hub::on_notification(std::string_view payload) {
  const auto eol = payload.find('\n');
  if (eol == payload.npos || payload.substr(0, eol) == rt_.jobs->node_id()) return;
  wakeups_received_.fetch_add(1, std::memory_order_relaxed);
  payload.remove_prefix(eol + 1);
  while (!payload.empty()) {
    const auto end = std::min(payload.find('\n'), payload.size());
    const auto line = payload.substr(0, end);
    payload.remove_prefix(std::min(end + 1, payload.size()));
    std::uint64_t cursor = 0;
    const auto [p, ec] = std::from_chars(line.data(), line.data() + line.size(), cursor);
    if (ec != std::errc() || p == line.data() + line.size() || *p != ' ') continue;
    deliver(line.substr(static_cast<std::size_t>(p - line.data()) + 1), cursor, {}, origin::remote);
  }
}

}  // namespace ry::events
