// Domain events and live topics: ry.events/1.
#pragma once

#include <ry/cpp/db.hpp>

namespace ry {

namespace detail {

struct event_state {
  event_state(const context& ctx, const ry_event_view* view, ry_event* handle)
      : events(*ctx.try_interface<ry_events_v1>()), view(view), handle(handle) {}
  event_state(const event_state&) = delete;
  event_state& operator=(const event_state&) = delete;
  ~event_state() {
    const error dropped(RY_INTERNAL);
    ack(dropped);
  }
  void ack(const error& e) noexcept {
    ry_event* event = handle.exchange(nullptr, std::memory_order_acq_rel);
    if (event == nullptr) return;
    const ry_error_view v = e.view();
    events.ack(event, e.status(), e.status() == RY_OK ? nullptr : &v);
  }
  const ry_events_v1& events;
  const ry_event_view* view;
  std::atomic<ry_event*> handle;
};

}  // namespace detail

// A domain event for a handler; acknowledged when the handler returns, delivered again if it throws. It may arrive
// twice: id() is stable.
class event {
 public:
  explicit event(std::shared_ptr<detail::event_state> s) noexcept : state_(std::move(s)) {}
  std::int64_t id() const noexcept { return state_->view->id; }
  std::uint32_t attempt() const noexcept { return state_->view->attempt; }
  std::string_view kind() const noexcept { return view(state_->view->kind); }
  std::string_view key() const noexcept { return view(state_->view->key); }
  std::string_view payload() const noexcept { return view(state_->view->payload_json); }  // JSON
  std::int64_t published_unix_us() const noexcept { return state_->view->published_unix_us; }
  ry_exec* exec() const noexcept { return state_->view->exec; }

 private:
  std::shared_ptr<detail::event_state> state_;
};

// A message of a live topic; valid during the call. bytes empty: read your log up to cursor.
struct live_message {
  std::string_view topic;
  std::uint64_t cursor = 0;
  std::string_view bytes;
  ry_buffer* buffer = nullptr;  // the same bytes, for stream::write_buffer; may be nullptr
};

class event_bus {
  // Defined before its users, because its return type is deduced.
  auto send(ry_tx* in, std::string_view kind, std::string_view key, std::string_view json) const {
    return call_done([t = table_, host = ctx_->host(), in, kind, key, json](ry_exec* exec, ry_done done) {
      return t->publish(host, in, str(kind), str(key), str(json), exec, done);
    });
  }

 public:
  explicit event_bus(const context& ctx) : ctx_(&ctx), table_(&ctx.interface<ry_events_v1>()) {}

  // Publishes a domain event -> result<void>.
  auto publish(std::string_view kind, std::string_view key, std::string_view payload_json) const {
    return send(nullptr, kind, key, payload_json);
  }
  auto publish(const tx& in, std::string_view kind, std::string_view key, std::string_view payload_json) const {
    return send(in.handle(), kind, key, payload_json);
  }
  // flags: RY_LIVE_*
  ry_status live_publish(std::string_view topic, std::uint64_t cursor, std::string_view bytes,
                         std::uint32_t flags = 0) const noexcept {
    return table_->live_publish(ctx_->host(), str(topic), cursor, raw(bytes), flags);
  }
  // Whether a driver currently uses RY_LIVE_AHEAD.
  bool live_carries() const noexcept {
    return RY_HAS(table_, ry_events_v1, live_carries) && table_->live_carries(ctx_->host()) != 0;
  }
  // Calls f(const live_message&) on exec until the subscription ends.
  template <class F>
  subscription live_subscribe(std::string_view topic, ry_exec* exec, F f) const {
    using block = detail::subscription_block<ry_subscription, F>;
    auto b = std::make_unique<block>(std::move(f));
    b->ctx = ctx_;
    b->exec = exec;
    b->end = [](const context& ctx, ry_subscription* s) noexcept {
      ctx.try_interface<ry_events_v1>()->live_unsubscribe(s);
    };
    check(table_->live_subscribe(
              ctx_->host(), str(topic), exec,
              [](void* p, ry_str t, std::uint64_t cursor, ry_bytes bytes, ry_buffer* shared) noexcept {
                const live_message m{view(t), cursor, view(bytes), shared};
                static_cast<block*>(p)->run("a live subscriber failed", m);
              },
              b.get(), &b->handle),
          "events.live_subscribe");
    return subscription(b.release(), &block::close);
  }

 private:
  const context* ctx_;
  const ry_events_v1* table_;
};
inline event_bus context::events() const {
  return event_bus(*this);
}

}  // namespace ry
