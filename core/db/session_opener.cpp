#include "core/db/session_opener.hpp"

#include <libpq-fe.h>
#include <soci/postgresql/soci-postgresql.h>
#include <soci/session.h>

#include <chrono>
#include <condition_variable>
#include <thread>
#include <utility>

#include "core/db/failure.hpp"

#if defined(__SANITIZE_ADDRESS__)
// SOCI leaks connections that fail to open, see probe().
extern "C" __attribute__((visibility("default"))) const char* __lsan_default_suppressions() {
  return "leak:libsoci_postgresql\n";
}
#endif

namespace ry::db {

namespace {

constexpr auto open_limit = std::chrono::seconds(15);

}  // namespace

struct session_opener::attempt {
  std::mutex mutex;  // guards the rest
  std::condition_variable changed;
  std::unique_ptr<soci::session> made;
  std::string error;
  bool ended = false, abandoned = false;

  void run(const std::string& conninfo) {
    std::unique_ptr<soci::session> s;
    std::string why;
    try {
      s = std::make_unique<soci::session>(soci::postgresql, conninfo);
    } catch (const soci::soci_error& e) {
      why = e.get_error_message();
    } catch (const std::exception& e) {
      why = e.what();
    }
    std::lock_guard lock(mutex);
    if (!abandoned) made = std::move(s);
    error = std::move(why);
    ended = true;
    changed.notify_all();
  }
};

namespace {

// SOCI 4.0.3 leaks a connection that cannot be established, about 20 KB each time. After a failure, libpq therefore
// tries the server first.
void probe(const std::string& conninfo) {
  const std::unique_ptr<PGconn, decltype(&PQfinish)> c(PQconnectdb(conninfo.c_str()), PQfinish);
  if (PQstatus(c.get()) != CONNECTION_OK) throw unavailable(PQerrorMessage(c.get()));
}

}  // namespace

std::unique_ptr<soci::session> session_opener::open(const std::string& conninfo) {
  if (failed_before_) probe(conninfo);
  failed_before_ = true;
  const auto a = std::make_shared<attempt>();
  {
    std::lock_guard lock(mutex_);
    now_ = a;
  }
  std::thread([a, conninfo] { a->run(conninfo); }).detach();
  std::unique_lock lock(a->mutex);
  a->changed.wait_for(lock, open_limit, [&] { return a->ended || a->abandoned; });
  a->abandoned = true;
  if (!a->made) throw unavailable(a->ended ? a->error : "the server does not respond");
  failed_before_ = false;
  return std::move(a->made);
}

void session_opener::abandon() noexcept {
  std::lock_guard lock(mutex_);
  const auto a = now_.lock();
  if (!a) return;
  std::lock_guard inner(a->mutex);
  a->abandoned = true;
  a->changed.notify_all();
}

}  // namespace ry::db
