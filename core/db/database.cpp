#include "core/db/database.hpp"

#include "core/db/database_impl.hpp"
#include "core/observe/log.hpp"

namespace ry::db {

namespace {

class work_task final : public task {
 public:
  work_task(std::function<void(connection&)> work, repeat r) : work_(std::move(work)), repeat_(r) {}

  void run(connection& c) noexcept override {
    for (int left = repeat_ == repeat::after_loss ? 1 : 0;; --left) {
      try {
        c.use_schema("core");
        c.use_timeout({});
        work_(c);
      } catch (const failure& f) {
        if (left > 0 && f.connection_lost && reopened(c)) continue;
        log(f.what());
      } catch (const std::exception& e) {
        log(e.what());
      }
      work_ = nullptr;  // release its captures now; the queue may keep the task longer
      return;
    }
  }

 private:
  static bool reopened(connection& c) noexcept {
    try {
      c.open();
      return true;
    } catch (const std::exception&) {
      return false;
    }
  }
  static void log(const char* what) noexcept {
    observe::log(observe::level::error, "db", "work on the database failed", {{"error", what}});
  }
  std::function<void(connection&)> work_;
  const repeat repeat_;
};

}  // namespace

connect_settings settings::session() const {
  auto s = connect;
  if (direct_url.empty()) return s;
  s.url = direct_url;
  s.live = direct_live;
  s.at = endpoint::server;
  return s;
}

database::database(settings s) : impl_(std::make_unique<impl>(std::move(s))) {}
database::~database() {
  stop();
}

void database::submit(std::function<void(connection&)> work, priority l, repeat r) {
  auto t = std::make_shared<work_task>(std::move(work), r);
  auto& p = impl_->workers;
  const auto k = l == priority::high ? pool::kind::priority : pool::kind::normal;
  if (p.push(t, k)) return;
  // The pool rejected the task: run it here with a closed connection, as if the database were unavailable.
  connection closed(p.config().connect);
  t->run(closed);
}

bool database::healthy() const noexcept {
  return impl_->workers.healthy();
}
bool database::responsive(std::chrono::milliseconds limit) const {
  return impl_->alive.answers_within(limit);
}
bool database::wait_healthy(std::chrono::milliseconds timeout) const {
  return impl_->workers.wait_healthy(timeout);
}
bool database::short_of_resources() const {
  return impl_->workers.shortages().is_recent();
}
std::string database::last_error() const {
  return impl_->workers.last_error();
}
const connect_settings& database::connect() const noexcept {
  return impl_->workers.config().connect;
}

pool_stats database::stats() const {
  return impl_->workers.stats();
}

std::uint64_t database::listen(std::string_view channel, std::function<void()> fn, std::chrono::milliseconds poll) {
  return impl_->notifications.listen(channel, std::move(fn), poll);
}
void database::unlisten(std::uint64_t id) {
  impl_->notifications.unlisten(id);
}
std::uint64_t database::on_message(std::string_view channel, std::function<void(std::string_view)> fn) {
  return impl_->notifications.on_message(channel, std::move(fn));
}

void database::broadcast(std::string_view channel, std::string payload) {
  impl_->notifications.broadcast(channel, std::move(payload));
}

void database::notify(std::string_view channel) {
  impl_->notifications.notify(channel);
}

void database::stop() {
  impl_->workers.stop();
  impl_->notifications.stop();
  impl_->dog.stop();
}

}  // namespace ry::db
