#include "client_pool.hpp"

#include <algorithm>
#include <utility>

namespace mcp {

std::unique_ptr<client> client_pool::take(const server& s, ry_exec* exec) {
  std::unique_ptr<client> found;
  const auto key = pool_key(s);
  while (true) {
    ry_op_id timer = 0;
    {
      std::lock_guard lock(mutex_);
      for (auto it = idle_.rbegin(); it != idle_.rend() && timer == 0; ++it) {
        auto& e = **it;
        if (e.closing || e.c->executor() != exec || pool_key(e.c->target()) != key || e.c->target().name != s.name)
          continue;
        found = std::move(e.c);
        timer = e.timer;
        idle_.erase(std::next(it).base());
        break;
      }
    }
    if (!found) return nullptr;
    ctx_.core().op_cancel(ctx_.host(), timer);
    if (found->usable()) return found;
    found.reset();
  }
}

ry_exec* client_pool::executor_of(const std::string& key) const {
  std::lock_guard lock(mutex_);
  for (const auto* e : idle_) {
    if (!e->closing && pool_key(e->c->target()) == key) return e->c->executor();
  }
  return nullptr;
}

void client_pool::put(std::unique_ptr<client> c) noexcept {
  const auto now = ctx_.now_unix_us();
  const bool in_session = !c->target().session.empty();
  const bool pooling_enabled =
      (in_session || limits_.idle_ms != 0) && limits_.max_clients != 0 && limits_.max_per_account != 0;
  const bool too_old = !in_session && now - c->created_us() > limits_.max_age_us;
  if (!pooling_enabled || !c->usable() || too_old) return;
  const auto idle_ms = in_session ? limits_.session_idle_ms : limits_.idle_ms;
  (void)ry::guard([&] {
    auto e = std::make_unique<entry>();
    e->pool = this;
    std::lock_guard lock(mutex_);
    evict_for(c->target().account_id);
    idle_.push_back(e.get());
    const auto st =
        ctx_.core().sleep_ms(ctx_.host(), c->executor(), idle_ms, {&client_pool::on_timer, e.get()}, &e->timer);
    if (st != RY_OK) {
      idle_.pop_back();
      return;
    }
    e->c = std::move(c);
    e.release();
  });
}

void client_pool::on_timer(void* p, ry_status, const ry_error_view*) noexcept {
  const std::unique_ptr<entry> owned(static_cast<entry*>(p));
  std::lock_guard lock(owned->pool->mutex_);
  owned->pool->idle_.remove(owned.get());
}

void client_pool::evict_for(const std::string& account) {
  std::size_t total = 0, of_account = 0;
  for (const auto* e : idle_) {
    if (e->closing) continue;
    ++total;
    of_account += e->c->target().account_id == account ? 1 : 0;
  }
  for (auto* e : idle_) {
    const bool same_account = e->c->target().account_id == account;
    const bool too_many = total >= limits_.max_clients || (same_account && of_account >= limits_.max_per_account);
    if (e->closing || !too_many) continue;
    e->closing = true;
    --total;
    of_account -= same_account ? 1 : 0;
    ctx_.core().op_cancel(ctx_.host(), e->timer);
  }
}

void client_pool::close_idle(entry& e) noexcept {
  if (!std::exchange(e.closing, true)) ctx_.core().op_cancel(ctx_.host(), e.timer);
}

bool client_pool::close_idle(const std::string& account) noexcept {
  std::lock_guard lock(mutex_);
  const auto at = std::find_if(idle_.begin(), idle_.end(),
                               [&](const auto* e) { return !e->closing && e->c->target().account_id == account; });
  if (at != idle_.end()) close_idle(**at);
  return at != idle_.end();
}

void client_pool::close_any_idle() noexcept {
  std::lock_guard lock(mutex_);
  const auto at = std::find_if(idle_.begin(), idle_.end(), [](const auto* e) { return !e->closing; });
  if (at != idle_.end()) close_idle(**at);
}

void client_pool::close_session(const std::string& session) noexcept {
  std::lock_guard lock(mutex_);
  for (auto* e : idle_) {
    if (!e->closing && e->c->target().session == session) close_idle(*e);
  }
}

void client_pool::clear() noexcept {
  std::lock_guard lock(mutex_);
  for (auto* e : idle_) close_idle(*e);
}

std::size_t client_pool::size() const {
  std::lock_guard lock(mutex_);
  return idle_.size();
}

}  // namespace mcp
