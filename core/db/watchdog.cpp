#include "core/db/watchdog.hpp"

#include <libpq-fe.h>

#include <algorithm>
#include <map>

#include "core/db/clock.hpp"
#include "core/observe/log.hpp"

namespace ry::db {

namespace {

using namespace std::chrono_literals;

}  // namespace

watchdog::watchdog(const connect_settings& s, std::vector<connection*> watched, std::function<bool()> answers)
    // libpq uses the last of two equal keys.
    : ping_(conninfo(s) + "connect_timeout='" + std::to_string(ping_limit.count()) + "' "),
      watched_(std::move(watched)),
      answers_(std::move(answers)),
      thread_([this] { loop(); }) {}

watchdog::~watchdog() {
  stop();
}

void watchdog::stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

std::vector<std::string> watchdog::silent() const {
  struct server_state {
    std::int64_t waiting_since = 0, answered = 0;
  };
  std::map<std::string, server_state> servers;
  for (const auto* c : watched_) {
    const auto a = c->now_doing();
    auto& h = servers[a.server];
    h.answered = std::max(h.answered, a.answered);
    if (a.busy_since && (!h.waiting_since || a.busy_since < h.waiting_since)) h.waiting_since = a.busy_since;
  }
  std::vector<std::string> out;
  for (const auto& [server, h] : servers)
    if (h.waiting_since && now_ms() - std::max(h.waiting_since, h.answered) > silence.count()) out.push_back(server);
  return out;
}

void watchdog::look() {
  for (auto* c : watched_) {
    const auto a = c->now_doing();
    if (!a.busy_since || !a.due || now_ms() - a.due < overtime.count()) continue;
    observe::log(observe::level::warn, "db", "closed a connection: the server did not end its statement");
    c->sever();
  }
  if (std::chrono::steady_clock::now() - asked_ < ping_pause) return;
  for (const auto& server : silent()) {
    // Appended keys override the earlier ones: probe exactly this host, because another one might answer.
    const auto sign = PQping((ping_ + server).c_str());
    asked_ = std::chrono::steady_clock::now();
    if (sign != PQPING_NO_RESPONSE && answers_()) continue;
    const auto still = silent();
    if (std::find(still.begin(), still.end(), server) == still.end()) continue;
    observe::log(observe::level::error, "db", "the database does not respond; closed its connections");
    for (auto* c : watched_)
      if (c->now_doing().server == server) c->sever();
  }
}

void watchdog::loop() {
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, 500ms, [this] { return stopping_; })) {
    lock.unlock();
    look();
    lock.lock();
  }
}

}  // namespace ry::db
