// Registers what a module serves: routes, migrations, jobs, event consumers, services, extension points, drivers.
//
// Use it only inside the module's constructor. Handlers live until the module is destroyed. A rejection throws; the
// host has already added the message to its report.
#pragma once

#include <ry/cpp/auth.hpp>
#include <ry/cpp/events.hpp>
#include <ry/cpp/http.hpp>
#include <ry/cpp/http_client.hpp>
#include <ry/cpp/jobs.hpp>
#include <ry/cpp/metrics.hpp>
#include <ry/cpp/process.hpp>
#include <ry/cpp/secrets.hpp>
#include <ry/cpp/services.hpp>

namespace ry {

struct route_options {
  std::uint64_t max_body = 0;  // bytes; 0 = the host's default
  std::uint64_t timeout_ms = 0;  // 0 = the host's default
  std::string_view openapi_json = {};
};
struct job_options {
  std::string_view queue = {};
  std::string_view cron = {};
  std::uint32_t max_attempts = 0;
  std::uint32_t concurrency = 0;
  std::uint64_t timeout_ms = 0;
  std::uint64_t backoff_ms = 0;
};

namespace detail {

template <class T>
inline constexpr bool is_task = false;
template <class T>
inline constexpr bool is_task<task<T>> = true;

// Turns (object, &T::member) into a handler.
template <class T, class R, class... A>
auto bound(T* object, R (T::*member)(A...)) {
  return [object, member](A... a) -> R { return (object->*member)(std::move(a)...); };
}
template <class T, class R, class... A>
auto bound(const T* object, R (T::*member)(A...) const) {
  return [object, member](A... a) -> R { return (object->*member)(std::move(a)...); };
}

template <class F>
struct route_handler {
  const context& ctx;
  F f;
  using answer = std::invoke_result_t<F&, request>;

  static ry_status serve(void* p, const ry_request_view* view, ry_request* handle) noexcept {
    auto* self = static_cast<route_handler*>(p);
    std::shared_ptr<request_state> state;
    const ry_status made = guard([&] { state = std::make_shared<request_state>(self->ctx, view, handle); });
    if (made != RY_OK) return made;
    try {
      if constexpr (is_task<answer>) {
        state->cancel.follow(self->ctx.tasks().token().state());
        if (state->http.on_cancel(handle, &request::cancelled, &state->cancel) != RY_OK) {
          state->cancel.cancel(RY_REASON_GONE);
        }
        // A copy of the shared state keeps the token's owner alive for the duration of the chain.
        cancel_token token(std::shared_ptr<cancel_state>(state, &state->cancel));
        if (!self->ctx.spawn(run(self, state), view->exec, std::move(token))) {
          state->fail(unavailable("module.stopping", "The module is stopping"));
        }
      } else {
        finish(*state, self->f(request(state)));
      }
    } catch (...) {
      self->failed(*state, current_error());
    }
    return RY_OK;
  }

 private:
  static task<void> run(route_handler* self, std::shared_ptr<request_state> state) {
    try {
      if constexpr (std::is_void_v<typename answer::value_type>) {
        co_await self->f(request(state));
      } else {
        auto out = co_await self->f(request(state));
        finish(*state, std::move(out));
      }
    } catch (...) {
      self->failed(*state, current_error());
    }
  }
  static void finish(request_state& state, const response& r) {
    if (state.handle.load(std::memory_order_acquire) != nullptr) state.respond(r);
  }
  static void finish(request_state& state, const result<response>& r) {
    if (r.ok()) return finish(state, *r);
    state.fail(r.error());
  }
  void failed(request_state& state, const error& e) noexcept {
    // Internal errors go to the log only; the client gets a general message.
    if (e.status() == RY_INTERNAL || e.status() == RY_UNKNOWN) {
      ctx.log_error("a request handler failed", e);
      state.fail(error(RY_INTERNAL, "internal", "Internal server error"));
      return;
    }
    state.fail(e);
  }
};

template <class F>
struct job_handler {
  const context& ctx;
  F f;

  static ry_status serve(void* p, const ry_job_view* view, ry_job* handle) noexcept {
    auto* self = static_cast<job_handler*>(p);
    std::shared_ptr<job_state> state;
    return guard([&] {
      state = std::make_shared<job_state>(self->ctx, view, handle);
      state->cancel.follow(self->ctx.tasks().token().state());
      state->jobs.on_cancel(handle, &job_state::cancelled, state.get());
      cancel_token token(std::shared_ptr<cancel_state>(state, &state->cancel));
      if (!self->ctx.spawn(run(self, state), view->exec, std::move(token))) {
        state->finish(job_outcome::release());
      }
    });
  }

 private:
  static task<void> run(job_handler* self, std::shared_ptr<job_state> state) {
    try {
      job_outcome out = co_await self->f(job(state));
      state->finish(out);
    } catch (...) {
      const error e = current_error();
      const std::int32_t why = state->cancel.why();
      if (e.status() == RY_CANCELLED && (why == RY_REASON_SHUTDOWN || why == RY_REASON_LEASE_LOST)) {
        state->finish(job_outcome::release());
      } else if (e.status() == RY_CANCELLED && why == RY_REASON_USER) {
        state->finish(job_outcome::dead(e));
      } else {
        self->ctx.log_error("a job failed", e);
        state->finish(job_outcome::retry(e));
      }
    }
  }
};

template <class F>
struct event_handler {
  const context& ctx;
  F f;

  static ry_status serve(void* p, const ry_event_view* view, ry_event* handle) noexcept {
    auto* self = static_cast<event_handler*>(p);
    return guard([&] {
      auto state = std::make_shared<event_state>(self->ctx, view, handle);
      if (!self->ctx.spawn(run(self, state), view->exec)) state->ack(error(RY_UNAVAILABLE));
    });
  }

 private:
  static task<void> run(event_handler* self, std::shared_ptr<event_state> state) {
    error out(RY_OK);
    try {
      co_await self->f(event(state));
    } catch (...) {
      out = current_error();
      self->ctx.log_error("an event handler failed", out);
    }
    state->ack(out);
  }
};

}  // namespace detail

// Drivers of an extension point that this module owns. Any thread. A removed driver is returned to the host when its
// last `entry` is destroyed.
template <class Table>
class drivers {
 public:
  struct driver {
    std::string name;
    const Table* table;
    void* self;
    ry_done removed{};
    ~driver() {
      if (removed.fn != nullptr) removed.fn(removed.ctx, RY_OK, nullptr);
    }
  };
  using entry = std::shared_ptr<const driver>;

  // The driver with this name; an empty pointer if there is none.
  entry find(std::string_view name) const {
    std::lock_guard lock(mutex_);
    for (const auto& d : all_) {
      if (d->name == name) return d;
    }
    return nullptr;
  }
  std::vector<entry> all() const {
    std::lock_guard lock(mutex_);
    return {all_.begin(), all_.end()};
  }

  static void on_added(void* p, ry_str name, const void* table, void* self) noexcept {
    auto* me = static_cast<drivers*>(p);
    (void)guard([&] {
      auto d = made(name, table, self);
      std::lock_guard lock(me->mutex_);
      me->all_.push_back(std::move(d));
    });
  }
  static void on_removed(void* p, ry_str name, ry_done done) noexcept {
    static_cast<drivers*>(p)->exchange(name, nullptr, done);
  }
  static void on_replaced(void* p, ry_str name, const void* table, void* self, ry_done done) noexcept {
    std::shared_ptr<driver> next;
    (void)guard([&] { next = made(name, table, self); });
    static_cast<drivers*>(p)->exchange(name, std::move(next), done);
  }

 private:
  static std::shared_ptr<driver> made(ry_str name, const void* table, void* self) {
    auto d = std::make_shared<driver>();
    d->name = text(name);
    d->table = static_cast<const Table*>(table);
    d->self = self;
    return d;
  }
  // An empty `next`: the driver is not replaced.
  void exchange(ry_str name, std::shared_ptr<driver> next, ry_done done) noexcept {
    std::shared_ptr<driver> gone;  // its last reference is destroyed after the lock
    {
      std::lock_guard lock(mutex_);
      for (auto it = all_.begin(); it != all_.end(); ++it) {
        if ((*it)->name != view(name)) continue;
        gone = std::move(*it);
        gone->removed = done;
        if (next)
          *it = std::move(next);
        else
          all_.erase(it);
        break;
      }
    }
    if (!gone) done.fn(done.ctx, RY_OK, nullptr);
  }

  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<driver>> all_;
};

class registrar {
 public:
  // `kept` outlives the registrar: it holds the handlers until the module is destroyed.
  using storage = std::vector<std::shared_ptr<void>>;
  registrar(const context& ctx, ry_registrar* r, storage& kept)
      : ctx_(ctx), table_(ctx.interface<ry_registrar_v1>()), handle_(r), kept_(kept) {}
  registrar(const registrar&) = delete;
  registrar& operator=(const registrar&) = delete;

  // f(request) -> task<response> | task<result<response>> | task<void> (it ends the request itself)
  // | response | result<response> (immediately, without a coroutine).
  template <class F>
  void route(std::string_view method, std::string_view pattern, std::uint32_t flags, F f, const route_options& o = {}) {
    using handler = detail::route_handler<F>;
    ctx_.interface<ry_http_v1>();
    ry_route r{};
    r.struct_size = sizeof r;
    r.flags = flags;
    r.method = str(method);
    r.pattern = str(pattern);
    r.handle = &handler::serve;
    r.ctx = keep(std::shared_ptr<handler>(new handler{ctx_, std::move(f)}));
    r.max_body = o.max_body;
    r.timeout_ms = o.timeout_ms;
    r.openapi_json = str(o.openapi_json);
    registered(table_.route(handle_, &r), "route", pattern);
  }
  template <class T, class M>
  requires std::is_member_function_pointer_v<M>
  void route(std::string_view method, std::string_view pattern, std::uint32_t flags, T* object, M member,
             const route_options& o = {}) {
    route(method, pattern, flags, detail::bound(object, member), o);
  }

  void migration(std::string_view id, std::string_view up_sql, std::uint32_t flags = 0) {
    ry_migration m{};
    m.struct_size = sizeof m;
    m.flags = flags;
    m.id = str(id);
    m.up_sql = str(up_sql);
    registered(table_.migration(handle_, &m), "migration", id);
  }
  // All files of the module's migrations folder: `reg.migrations(ry_migrations::all)` from the
  // generated header migrations.hpp.
  template <class Files>
  void migrations(const Files& files) {
    for (const auto& f : files) migration(f.id, f.sql, f.flags);
  }

  // f(job) -> task<job_outcome>. An exception is a failed attempt; cancellation by the host releases the job.
  template <class F>
  void job(std::string_view kind, F f, const job_options& o = {}) {
    using handler = detail::job_handler<F>;
    ctx_.interface<ry_jobs_v1>();
    ry_job_kind k{};
    k.struct_size = sizeof k;
    k.kind = str(kind);
    k.queue = str(o.queue);
    k.cron = str(o.cron);
    k.run = &handler::serve;
    k.ctx = keep(std::shared_ptr<handler>(new handler{ctx_, std::move(f)}));
    k.max_attempts = o.max_attempts;
    k.concurrency = o.concurrency;
    k.timeout_ms = o.timeout_ms;
    k.backoff_ms = o.backoff_ms;
    registered(table_.job(handle_, &k), "job", kind);
  }
  template <class T, class M>
  requires std::is_member_function_pointer_v<M>
  void job(std::string_view kind, T* object, M member, const job_options& o = {}) {
    job(kind, detail::bound(object, member), o);
  }

  // f(event) -> task<void>. kinds: "run.completed,payment.*"
  template <class F>
  void subscribe(std::string_view name, std::string_view kinds, F f) {
    using handler = detail::event_handler<F>;
    ctx_.interface<ry_events_v1>();
    ry_event_consumer c{};
    c.struct_size = sizeof c;
    c.name = str(name);
    c.kinds = str(kinds);
    c.handle = &handler::serve;
    c.ctx = keep(std::shared_ptr<handler>(new handler{ctx_, std::move(f)}));
    registered(table_.subscribe(handle_, &c), "consumer", name);
  }
  template <class T, class M>
  requires std::is_member_function_pointer_v<M>
  void subscribe(std::string_view name, std::string_view kinds, T* object, M member) {
    subscribe(name, kinds, detail::bound(object, member));
  }

  // table: constant, with struct_size first.
  template <class Table>
  void provide(std::string_view id, const Table* table, void* self) {
    registered(table_.provide(handle_, str(id), table, self), "service", id);
  }
  template <class Table>
  void define_point(std::string_view id, drivers<Table>* to) {
    ry_point p{};
    p.struct_size = sizeof p;
    p.min_size = sizeof(Table);
    p.id = str(id);
    p.added = &drivers<Table>::on_added;
    p.removed = &drivers<Table>::on_removed;
    p.ctx = to;
    p.replaced = &drivers<Table>::on_replaced;
    registered(table_.define_point(handle_, &p), "extension point", id);
  }
  template <class Table>
  void contribute(std::string_view point, std::string_view name, const Table* table, void* self) {
    registered(table_.contribute(handle_, str(point), str(name), table, self), "driver", name);
  }

  // See ry_registrar_v1::describe. `reg.describe(ry_openapi::login)` for the file openapi/login.json of
  // the module, from the generated header openapi.hpp.
  void describe(std::string_view openapi_json) {
    registered(table_.describe(handle_, str(openapi_json)), "description", "openapi");
  }

  const ry_registrar_v1& table() const noexcept { return table_; }
  ry_registrar* handle() const noexcept { return handle_; }

 private:
  template <class H>
  void* keep(std::shared_ptr<H> h) {
    kept_.push_back(h);
    return h.get();
  }
  static void registered(ry_status st, const char* what, std::string_view which) {
    if (st == RY_OK) return;
    throw error(st, "registrar.refused",
                std::string("the host refused the ") + what + " \"" + std::string(which) + "\": " + status_name(st));
  }
  const context& ctx_;
  const ry_registrar_v1& table_;
  ry_registrar* handle_;
  storage& kept_;
};

}  // namespace ry
