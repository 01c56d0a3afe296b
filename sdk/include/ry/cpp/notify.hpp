// Drivers of notify.orchestrator/1 in C++.
//
//   #include <ry/ry.hpp>
//   #include <ry/cpp/notify.hpp>
//
//   class my_driver {
//    public:
//     static constexpr std::uint32_t capabilities = RY_NOTIFY_EMAIL | RY_NOTIFY_FOLLOWS;
//     explicit my_driver(ry::context& host) : host_(host) {}
//     const ry::context& host() const { return host_; }
//     // Validates a device token. Returns a stable device name, or an empty string to use the token itself. Throws
//     // ry::bad_request. Required only with RY_NOTIFY_PUSH.
//     std::string accepts(const ry::notify::token& t) const;
//     ry::task<ry::notify::results> trigger(ry::notify::notification n);
//     ry::task<bool> withdraw(std::string key);                               // RY_NOTIFY_WITHDRAWS
//     ry::task<void> put_subscriber(ry::notify::subscriber subscriber);       // RY_NOTIFY_STORES_SUBSCRIBERS
//     ry::task<void> forget(std::string account_id);                          // RY_NOTIFY_STORES_SUBSCRIBERS
//     ry::task<void> put_tokens(std::string account_id, std::string provider,
//                               std::vector<ry::notify::token> all);          // RY_NOTIFY_STORES_TOKENS
//     ry::task<ry::notify::results> follow(std::vector<ry::notify::sent> s);  // RY_NOTIFY_FOLLOWS
//     std::vector<ry::notify::report> read_report(std::string_view body);     // RY_NOTIFY_REPORTS
//     std::string web_push_key() const;                                       // optional; empty: no Web Push
//
//    private:
//     ry::context& host_;
//   };
//
//   class my_module {
//    public:
//     my_module(ry::context& ctx, ry::registrar& reg) : driver_(ctx) {
//       static constexpr auto table = ry::notify::orchestrator_table<my_driver>();
//       reg.contribute(RY_NOTIFY_ORCHESTRATOR_1, "my_driver", &table, &driver_);
//     }
//
//    private:
//     my_driver driver_;
//   };
//   RY_MODULE(my_module, "my_module", "1.0.0", .needs(RY_NOTIFY_ORCHESTRATOR_1));
//
// Exceptions thrown by a driver become the status and error message of the call. Cancelling a trigger cancels the
// cancel_token of its coroutine.
#pragma once

#include <ry/ext/notify_orchestrator.h>

#include <vector>

#include <ry/cpp/op.hpp>

namespace ry::notify {

// Each struct owns a copy of the data that its C counterpart borrows; view() returns a C struct that points into it.
struct subscriber {
  subscriber() = default;
  explicit subscriber(const ry_notify_subscriber& s)
      : account_id(text(s.account_id)),
        email(text(s.email)),
        name(text(s.name)),
        first_name(text(s.first_name)),
        phone(text(s.phone)),
        avatar(text(s.avatar)) {}
  ry_notify_subscriber view() const noexcept {
    return {sizeof(ry_notify_subscriber),
            0,
            str(account_id),
            str(email),
            str(name),
            str(first_name),
            str(phone),
            str(avatar)};
  }
  std::string account_id, email, name, first_name, phone, avatar;
};

struct token {
  token() = default;
  token(std::string provider, std::string value, std::string device_type)
      : provider(std::move(provider)), value(std::move(value)), device_type(std::move(device_type)) {}
  explicit token(const ry_notify_token& t)
      : provider(text(t.provider)), value(text(t.token)), device_type(text(t.device_type)) {}
  ry_notify_token view() const noexcept {
    return {sizeof(ry_notify_token), 0, str(provider), str(value), str(device_type)};
  }
  std::string provider, value, device_type;
};

struct content {
  content() = default;
  explicit content(const ry_notify_content& c)
      : title(text(c.title)),
        body(text(c.body)),
        mail_text(text(c.mail_text)),
        mail_html(text(c.mail_html)),
        action_url(text(c.action_url)) {}
  ry_notify_content view() const noexcept {
    return {sizeof(ry_notify_content), 0, str(title), str(body), str(mail_text), str(mail_html), str(action_url)};
  }
  std::string title, body, mail_text, mail_html, action_url;
};

struct result {
  std::uint32_t channels = 0;
  std::int32_t outcome = RY_NOTIFY_RETRY;
  std::uint32_t retry_after_s = 0;
  std::string provider, provider_id, token, detail;

  result() = default;
  result(std::uint32_t channels, std::int32_t outcome, std::string provider = {})
      : channels(channels), outcome(outcome), provider(std::move(provider)) {}
  explicit result(const ry_notify_result& r)
      : channels(r.channels),
        outcome(r.result),
        retry_after_s(r.retry_after_s),
        provider(text(r.provider)),
        provider_id(text(r.provider_id)),
        token(text(r.token)),
        detail(text(r.detail)) {}
  ry_notify_result view() const noexcept {
    return {sizeof(ry_notify_result), channels,   outcome,    retry_after_s, str(provider),
            str(provider_id),         str(token), str(detail)};
  }
};
using results = std::vector<result>;

struct sent {
  std::uint32_t channels = 0;
  std::string key, provider, provider_id, token;

  sent() = default;
  explicit sent(const ry_notify_sent& s)
      : channels(s.channels),
        key(text(s.key)),
        provider(text(s.provider)),
        provider_id(text(s.provider_id)),
        token(text(s.token)) {}
  ry_notify_sent view() const noexcept {
    return {sizeof(ry_notify_sent), channels, str(key), str(provider), str(provider_id), str(token)};
  }
};

struct report {
  std::uint32_t channels = 0;
  std::int32_t outcome = 0;
  std::string type, key, account_id, provider, provider_id, token, detail;

  report() = default;
  explicit report(const ry_notify_report& r)
      : channels(r.channels),
        outcome(r.result),
        type(text(r.type)),
        key(text(r.key)),
        account_id(text(r.account_id)),
        provider(text(r.provider)),
        provider_id(text(r.provider_id)),
        token(text(r.token)),
        detail(text(r.detail)) {}
  ry_notify_report view() const noexcept {
    return {sizeof(ry_notify_report), channels,      outcome,          0,          str(type),  str(key),
            str(account_id),          str(provider), str(provider_id), str(token), str(detail)};
  }
};

// The content of a notification, its channels and its recipient.
struct notification {
  explicit notification(const ry_notify_trigger& t)
      : channels(t.channels),
        epoch(t.epoch),
        attempt(t.attempt),
        workflow(text(t.workflow)),
        key(text(t.key)),
        payload_json(text(t.payload_json)),
        to(*t.to),
        texts(*t.content),
        expires_unix_us(t.expires_unix_us),
        timeout_ms(t.timeout_ms) {
    const auto* trigger = &t;
    if (RY_HAS(trigger, ry_notify_trigger, flags)) bulk = (t.flags & RY_NOTIFY_BULK) != 0;
    if (RY_HAS(trigger, ry_notify_trigger, broadcast)) broadcast = text(t.broadcast);
    const auto* position = reinterpret_cast<const unsigned char*>(t.tokens);
    for (std::size_t i = 0; i < t.n_tokens; ++i, position += t.token_stride) {
      tokens.emplace_back(*reinterpret_cast<const ry_notify_token*>(position));
    }
  }
  bool wants(std::uint32_t channel) const noexcept { return (channels & channel) != 0; }

  std::uint32_t channels, epoch, attempt;
  std::string workflow, key, payload_json;
  subscriber to;
  content texts;
  std::vector<token> tokens;
  std::int64_t expires_unix_us;
  std::uint64_t timeout_ms;
  bool bulk = false;
  std::string broadcast;  // empty: not part of a broadcast
};

namespace detail {

template <class Driver>
constexpr bool can(std::uint32_t capability) noexcept {
  return (Driver::capabilities & capability) != 0;
}

inline std::vector<ry_notify_result> views(const results& all) {
  std::vector<ry_notify_result> out;
  out.reserve(all.size());
  for (const auto& r : all) out.push_back(r.view());
  return out;
}

template <class T, class View>
std::vector<T> copy_all(const View* first, std::size_t n, std::size_t stride) {
  std::vector<T> out;
  out.reserve(n);
  const auto* position = reinterpret_cast<const unsigned char*>(first);
  for (std::size_t i = 0; i < n; ++i, position += stride) {
    out.emplace_back(*reinterpret_cast<const View*>(position));
  }
  return out;
}

inline ry::task<void> complete_with_results(task<results> work, ry_notify_results_fn fn, void* ctx) {
  std::optional<std::vector<ry_notify_result>> out;
  results all;
  error failure(RY_INTERNAL);
  try {
    all = co_await std::move(work);
    out = views(all);
  } catch (...) {
    failure = current_error();
  }
  if (out) {
    fn(ctx, RY_OK, out->data(), out->size(), sizeof(ry_notify_result), nullptr);
  } else {
    const ry_error_view v = failure.view();
    fn(ctx, failure.status() == RY_OK ? RY_INTERNAL : failure.status(), nullptr, 0, 0, &v);
  }
}

inline ry::task<void> complete_withdraw(task<bool> work, ry_notify_withdrawn_fn fn, void* ctx) {
  bool withdrawn = false;
  error failure(RY_OK);
  try {
    withdrawn = co_await std::move(work);
  } catch (...) {
    failure = current_error();
  }
  const ry_error_view v = failure.view();
  fn(ctx, failure.status(), withdrawn ? 1u : 0u, failure.status() == RY_OK ? nullptr : &v);
}

inline ry::task<void> complete(task<void> work, ry_done done) {
  error failure(RY_OK);
  try {
    co_await std::move(work);
  } catch (...) {
    failure = current_error();
  }
  const ry_error_view v = failure.view();
  done.fn(done.ctx, failure.status(), failure.status() == RY_OK ? nullptr : &v);
}

// Starts the task with a post, so that its completion is never called inside the call. If the module is already
// stopping and the task cannot be started, calls on_not_started() instead.
template <class OnNotStarted>
void spawn_later(const context& host, ry_exec* exec, ry::task<void> t, cancel_token token,
                 OnNotStarted on_not_started) {
  host.post(exec, [&host, t = std::move(t), exec, token = std::move(token),
                   on_not_started = std::move(on_not_started)]() mutable {
    if (!host.spawn(std::move(t), exec, std::move(token))) on_not_started();
  });
}

// State of a running trigger; destroyed after its completion.
struct running {
  explicit running(const context& host) : source(host.tasks().token()) {}
  cancel_source source;
};

inline ry::task<void> run_trigger(std::unique_ptr<running> call, task<results> work, ry_notify_results_fn fn,
                                  void* ctx) {
  co_await complete_with_results(std::move(work), fn, ctx);
  (void)call;  // a parameter only to keep the state alive until here
}

}  // namespace detail

// The table of a driver; its `self` is a Driver.
template <class Driver>
constexpr ry_notify_orchestrator_v1 orchestrator_table() noexcept {
  ry_notify_orchestrator_v1 t{};
  t.struct_size = sizeof t;
  t.capabilities = Driver::capabilities;
  t.accepts = [](void* self, const ry_notify_token* device, ry_take_fn name, void* ctx, ry_errbuf* err) noexcept {
    return guard(
        [&]() -> ry_status {
          if constexpr (detail::can<Driver>(RY_NOTIFY_PUSH)) {
            const std::string device_name = static_cast<Driver*>(self)->accepts(token(*device));
            if (!device_name.empty() && name != nullptr) name(ctx, raw(device_name));
            return RY_OK;
          } else {
            (void)self, (void)device, (void)name, (void)ctx;
            return RY_UNIMPLEMENTED;
          }
        },
        err);
  };
  t.trigger = [](void* self, const ry_notify_trigger* request, ry_exec* exec, ry_notify_results_fn fn, void* ctx,
                 void** call) noexcept {
    return guard([&] {
      auto* d = static_cast<Driver*>(self);
      const context& host = d->host();
      auto state = std::make_unique<detail::running>(host);
      auto token = state->source.token();
      *call = state.get();
      auto work = detail::run_trigger(std::move(state), d->trigger(notification(*request)), fn, ctx);
      detail::spawn_later(host, exec, std::move(work), std::move(token),
                          [fn, ctx] { fn(ctx, RY_CANCELLED, nullptr, 0, 0, nullptr); });
    });
  };
  t.cancel = [](void*, void* call) noexcept { static_cast<detail::running*>(call)->source.cancel(RY_REASON_USER); };
  t.withdraw = [](void* self, ry_str key, ry_exec* exec, ry_notify_withdrawn_fn fn, void* ctx) noexcept {
    return guard([&]() -> ry_status {
      if constexpr (detail::can<Driver>(RY_NOTIFY_WITHDRAWS)) {
        auto* d = static_cast<Driver*>(self);
        auto work = detail::complete_withdraw(d->withdraw(text(key)), fn, ctx);
        detail::spawn_later(d->host(), exec, std::move(work), {}, [fn, ctx] { fn(ctx, RY_CANCELLED, 0, nullptr); });
        return RY_OK;
      } else {
        (void)self, (void)key, (void)exec, (void)fn, (void)ctx;
        return RY_UNIMPLEMENTED;
      }
    });
  };
  t.put_subscriber = [](void* self, const ry_notify_subscriber* data, ry_exec* exec, ry_done done) noexcept {
    return guard([&]() -> ry_status {
      if constexpr (detail::can<Driver>(RY_NOTIFY_STORES_SUBSCRIBERS)) {
        auto* d = static_cast<Driver*>(self);
        auto work = detail::complete(d->put_subscriber(subscriber(*data)), done);
        detail::spawn_later(d->host(), exec, std::move(work), {}, [done] { done.fn(done.ctx, RY_CANCELLED, nullptr); });
        return RY_OK;
      } else {
        (void)self, (void)data, (void)exec, (void)done;
        return RY_UNIMPLEMENTED;
      }
    });
  };
  t.forget = [](void* self, ry_str account_id, ry_exec* exec, ry_done done) noexcept {
    return guard([&]() -> ry_status {
      if constexpr (detail::can<Driver>(RY_NOTIFY_STORES_SUBSCRIBERS)) {
        auto* d = static_cast<Driver*>(self);
        auto work = detail::complete(d->forget(text(account_id)), done);
        detail::spawn_later(d->host(), exec, std::move(work), {}, [done] { done.fn(done.ctx, RY_CANCELLED, nullptr); });
        return RY_OK;
      } else {
        (void)self, (void)account_id, (void)exec, (void)done;
        return RY_UNIMPLEMENTED;
      }
    });
  };
  t.put_tokens = [](void* self, ry_str account_id, ry_str provider, const ry_notify_token* tokens, std::size_t n,
                    std::size_t stride, ry_exec* exec, ry_done done) noexcept {
    return guard([&]() -> ry_status {
      if constexpr (detail::can<Driver>(RY_NOTIFY_STORES_TOKENS)) {
        auto* d = static_cast<Driver*>(self);
        auto all = detail::copy_all<token>(tokens, n, stride);
        auto work = detail::complete(d->put_tokens(text(account_id), text(provider), std::move(all)), done);
        detail::spawn_later(d->host(), exec, std::move(work), {}, [done] { done.fn(done.ctx, RY_CANCELLED, nullptr); });
        return RY_OK;
      } else {
        (void)self, (void)account_id, (void)provider, (void)tokens, (void)n, (void)stride;
        (void)exec, (void)done;
        return RY_UNIMPLEMENTED;
      }
    });
  };
  t.follow = [](void* self, const ry_notify_sent* all, std::size_t n, std::size_t stride, ry_exec* exec,
                ry_notify_results_fn fn, void* ctx) noexcept {
    return guard([&]() -> ry_status {
      if constexpr (detail::can<Driver>(RY_NOTIFY_FOLLOWS)) {
        auto* d = static_cast<Driver*>(self);
        auto work = detail::complete_with_results(d->follow(detail::copy_all<sent>(all, n, stride)), fn, ctx);
        detail::spawn_later(d->host(), exec, std::move(work), {},
                            [fn, ctx] { fn(ctx, RY_CANCELLED, nullptr, 0, 0, nullptr); });
        return RY_OK;
      } else {
        (void)self, (void)all, (void)n, (void)stride, (void)exec, (void)fn, (void)ctx;
        return RY_UNIMPLEMENTED;
      }
    });
  };
  t.read_report = [](void* self, ry_bytes body, ry_notify_report_fn fn, void* ctx) noexcept {
    return guard([&]() -> ry_status {
      if constexpr (detail::can<Driver>(RY_NOTIFY_REPORTS)) {
        for (const report& r : static_cast<Driver*>(self)->read_report(ry::view(body))) {
          const ry_notify_report v = r.view();
          fn(ctx, &v);
        }
        return RY_OK;
      } else {
        (void)self, (void)body, (void)fn, (void)ctx;
        return RY_UNIMPLEMENTED;
      }
    });
  };
  t.web_push_key = [](void* self, ry_take_fn take, void* ctx) noexcept {
    return guard([&]() -> ry_status {
      if constexpr (requires(const Driver& d) { d.web_push_key(); }) {
        const std::string key = static_cast<const Driver*>(self)->web_push_key();
        if (key.empty()) return RY_NOT_FOUND;
        take(ctx, raw(key));
        return RY_OK;
      } else {
        (void)self, (void)take, (void)ctx;
        return RY_NOT_FOUND;
      }
    });
  };
  return t;
}

}  // namespace ry::notify
