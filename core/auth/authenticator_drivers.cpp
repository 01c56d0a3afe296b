#include "core/auth/authenticator_drivers.hpp"

#include <algorithm>
#include <boost/json/parse.hpp>
#include <utility>

#include "core/auth/jwt.hpp"
#include "core/module/host.hpp"
#include "core/observe/log.hpp"

namespace ry::auth {

struct authenticator_drivers::entry {
  explicit entry(authenticator_driver c) : c(std::move(c)), alive(this->c.owner) {}
  entry(const entry&) = delete;
  entry& operator=(const entry&) = delete;
  ~entry() {
    alive = module::hold();
    if (on_removed) on_removed();
  }
  const authenticator_driver c;
  module::hold alive;
  std::function<void()> on_removed;  // set when it was removed
};

struct authenticator_drivers::walk {
  std::shared_ptr<const authenticator_drivers> all;
  std::shared_ptr<entry> at;  // the driver being asked
  std::string bearer;
  ry_exec* exec;
  std::function<void(verdict)> later;
};

void authenticator_drivers::add(authenticator_driver c) {
  auto e = std::make_shared<entry>(std::move(c));
  std::lock_guard lock(mutex_);
  const auto at = std::upper_bound(entries_.begin(), entries_.end(), e,
                                   [](const auto& a, const auto& b) { return a->c.name < b->c.name; });
  entries_.insert(at, std::move(e));
}

void authenticator_drivers::remove(std::string_view name, std::function<void()> on_removed) {
  std::shared_ptr<entry> removed;  // its last reference is released after the lock
  {
    std::lock_guard lock(mutex_);
    const auto at = std::find_if(entries_.begin(), entries_.end(), [name](const auto& e) { return e->c.name == name; });
    if (at != entries_.end()) {
      removed = std::move(*at);
      removed->on_removed = std::move(on_removed);
      entries_.erase(at);
      return;
    }
  }
  if (on_removed) on_removed();
}

bool authenticator_drivers::empty() const {
  std::lock_guard lock(mutex_);
  return entries_.empty();
}

std::shared_ptr<authenticator_drivers::entry> authenticator_drivers::next_after(
    const std::shared_ptr<entry>& last) const {
  std::lock_guard lock(mutex_);
  if (!last) return entries_.empty() ? nullptr : entries_.front();
  const auto at =
      std::find_if(entries_.begin(), entries_.end(), [&](const auto& e) { return e->c.name > last->c.name; });
  return at == entries_.end() ? nullptr : *at;
}

void authenticator_drivers::ask(std::string bearer, ry_exec* exec, std::function<void(verdict)> later) {
  auto w = std::make_unique<walk>(walk{shared_from_this(), nullptr, std::move(bearer), exec, std::move(later)});
  exec->post([w = std::move(w)]() mutable { step(std::move(w)); });
}

// Runs on the walk's executor.
void authenticator_drivers::step(std::unique_ptr<walk> w) {
  w->at = w->all->next_after(w->at);
  if (!w->at) {
    w->later({RY_UNAUTHENTICATED, nullptr, "no authenticator supports this kind of token"});
    return;
  }
  const auto entry = w->at;
  const auto bearer = core::view(w->bearer);
  walk* raw = w.release();  // on_answer takes it back
  const auto st = module::invoke(entry->c.owner, "authenticator", entry->c.table->authenticate, entry->c.self, bearer,
                                 raw->exec, &authenticator_drivers::on_answer, static_cast<void*>(raw));
  if (st != RY_OK) on_answer(raw, st, nullptr);
}

void authenticator_drivers::on_answer(void* ctx, ry_status st, const ry_principal* who) noexcept {
  std::unique_ptr<walk> w(static_cast<walk*>(ctx));
  ry_exec* exec = w->exec;
  if (st == RY_NOT_FOUND) {
    exec->post([w = std::move(w)]() mutable { step(std::move(w)); });
    return;
  }
  verdict v{RY_UNAVAILABLE, nullptr, "an authenticator could not decide"};
  if (st == RY_OK && who && who->struct_size >= sizeof(ry_principal) && who->subject.len > 0 &&
      who->role <= RY_ROLE_SUPER_ADMIN) {
    auto p = std::make_shared<principal>();
    p->role = static_cast<role>(who->role);
    p->subject = core::str(who->subject);
    p->issuer = core::str(who->issuer);
    p->email = core::str(who->email);
    p->auth_kind = core::str(who->auth_kind);
    if (who->claims_json.len > 0) p->claims_json = core::str(who->claims_json);
    p->expires_unix_us = who->expires_unix_us;
    boost::system::error_code ec;
    const auto claims = boost::json::parse(p->claims_json, ec);
    if (!ec && claims.is_object()) p->session = session_of(claims.get_object());
    v = {RY_OK, std::move(p), ""};
  } else if (st == RY_OK) {
    observe::log(observe::level::error, "auth", "an authenticator answered without a principal",
                 {{"authenticator", w->at->c.name}});
  } else if (st == RY_UNAUTHENTICATED) {
    v = {RY_UNAUTHENTICATED, nullptr, "refused by an authenticator"};
  }
  exec->post([w = std::move(w), v = std::move(v)]() mutable {
    auto later = std::move(w->later);
    w.reset();
    later(std::move(v));
  });
}

}  // namespace ry::auth
