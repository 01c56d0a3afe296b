#include "client_pool.hpp"

#include <algorithm>
#include <utility>

namespace mcp {

std::unique_ptr<client> client_pool::take(const server& s, ry_exec* exec) {
  std::unique_ptr<client> found;
  const auto key = waiting_key(s);
  while (true) {
    ry_op_id timer = 0;
    {
      std::lock_guard lock(mutex_);
      for (auto it = waiting_.rbegin(); it != waiting_.rend() && timer == 0; ++it) {
        auto& e = **it;
        if (e.leaving || e.c->executor() != exec || waiting_key(e.c->to()) != key || e.c->to().name != s.name) continue;
        found = std::move(e.c);
        timer = e.timer;
        waiting_.erase(std::next(it).base());
        break;
      }
    }
    if (!found) return nullptr;
    ctx_.core().op_cancel(ctx_.host(), timer);
    if (found->usable()) return found;
    found.reset();
  }
}

ry_exec* client_pool::home_of(const std::string& key) const {
  std::lock_guard lock(mutex_);
  for (const auto* e : waiting_) {
    if (!e->leaving && waiting_key(e->c->to()) == key) return e->c->executor();
  }
  return nullptr;
}

void client_pool::give(std::unique_ptr<client> c) noexcept {
  const auto now = ctx_.now_unix_us();
  const bool shared = !c->to().session.empty();  // it is kept for its state
  const bool keeps_any = (shared || limits_.idle_ms != 0) && limits_.clients != 0 && limits_.per_account != 0;
  const bool old = !shared && now - c->born_us() > limits_.life_us;
  if (!keeps_any || !c->usable() || old) return;
  const auto idle_ms = shared ? limits_.session_idle_ms : limits_.idle_ms;
  (void)ry::guard([&] {
    auto e = std::make_unique<entry>();
    e->of = this;
    e->since_us = now;
    std::lock_guard lock(mutex_);
    make_room(c->to().account_id);
    waiting_.push_back(e.get());
    const auto st = ctx_.core().sleep_ms(ctx_.host(), c->executor(), idle_ms, {&client_pool::rang, e.get()}, &e->timer);
    if (st != RY_OK) {
      waiting_.pop_back();
      return;
    }
    e->c = std::move(c);
    e.release();
  });
}

void client_pool::rang(void* p, ry_status, const ry_error_view*) noexcept {
  const std::unique_ptr<entry> own(static_cast<entry*>(p));
  std::lock_guard lock(own->of->mutex_);
  own->of->waiting_.remove(own.get());
}

void client_pool::make_room(const std::string& account) {
  std::size_t all = 0, theirs = 0;
  for (const auto* e : waiting_) {
    if (e->leaving) continue;
    ++all;
    theirs += e->c->to().account_id == account ? 1 : 0;
  }
  for (auto* e : waiting_) {
    const bool is_theirs = e->c->to().account_id == account;
    const bool too_many = all >= limits_.clients || (is_theirs && theirs >= limits_.per_account);
    if (e->leaving || !too_many) continue;
    e->leaving = true;
    --all;
    theirs -= is_theirs ? 1 : 0;
    ctx_.core().op_cancel(ctx_.host(), e->timer);
  }
}

void client_pool::close_idle(entry& e) noexcept {
  if (!std::exchange(e.leaving, true)) ctx_.core().op_cancel(ctx_.host(), e.timer);
}

bool client_pool::close_idle(const std::string& account) noexcept {
  std::lock_guard lock(mutex_);
  const auto at = std::find_if(waiting_.begin(), waiting_.end(),
                               [&](const auto* e) { return !e->leaving && e->c->to().account_id == account; });
  if (at != waiting_.end()) close_idle(**at);
  return at != waiting_.end();
}

void client_pool::close_any_idle() noexcept {
  std::lock_guard lock(mutex_);
  const auto at = std::find_if(waiting_.begin(), waiting_.end(), [](const auto* e) { return !e->leaving; });
  if (at != waiting_.end()) close_idle(**at);
}

void client_pool::end_session(const std::string& session) noexcept {
  std::lock_guard lock(mutex_);
  for (auto* e : waiting_) {
    if (!e->leaving && e->c->to().session == session) close_idle(*e);
  }
}

void client_pool::clear() noexcept {
  std::lock_guard lock(mutex_);
  for (auto* e : waiting_) close_idle(*e);
}

std::size_t client_pool::size() const {
  std::lock_guard lock(mutex_);
  return waiting_.size();
}

}  // namespace mcp
