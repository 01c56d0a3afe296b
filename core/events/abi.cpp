#include "core/events/abi.hpp"

#include <memory>

#include "core/db/database.hpp"
#include "core/events/event.hpp"
#include "core/events/hub.hpp"

namespace ry::events {

namespace {

struct publish_call {
  module::hold owner;
  ry_done done;
};

void published(void* raw, ry_status st, ry_db_result* const* results, size_t n, const ry_error_view* err) noexcept {
  std::unique_ptr<publish_call> call(static_cast<publish_call*>(raw));
  for (size_t i = 0; i < n; ++i) db::db_v1().result_release(results[i]);
  if (st == RY_OK && call->owner.get()->rt.jobs) call->owner.get()->rt.jobs->wake();
  if (call->done.fn) module::invoke(call->owner.get(), "event published", call->done.fn, call->done.ctx, st, err);
}

ry_status publish(const ry_host* host, ry_tx* tx, ry_str kind, ry_str key, ry_str payload_json, ry_exec* exec,
                  ry_done done) noexcept {
  if (!exec || kind.len == 0) return RY_INVALID_ARGUMENT;
  auto text = [](std::string_view s) {
    ry_value v{};
    v.kind = RY_V_TEXT;
    v.u.s = core::view(s);
    return v;
  };
  const ry_value params[] = {text(core::sv(kind)), text(core::sv(key)),
                             text(payload_json.len ? core::sv(payload_json) : "{}")};
  static constexpr std::string_view sql = "select core.event_publish($1::text, $2::text, $3::jsonb)";
  const ry_db_call call{sizeof(ry_db_call), 0, core::view(sql), params, std::size(params), 0};
  auto state = std::make_unique<publish_call>(publish_call{module::hold(host), done});
  const auto st = db::db_v1().run(host, tx, &call, 1, exec, published, state.get(), nullptr);
  if (st == RY_OK) state.release();
  return st;
}

void ack(ry_event* raw, ry_status st, const ry_error_view* err) noexcept {
  const std::unique_ptr<ry_event> event(raw);
  event->job->q.finish(event->job, st == RY_OK ? RY_JOB_DONE : RY_JOB_RETRY, 0, err);
}

ry_status live_subscribe(const ry_host* host, ry_str topic, ry_exec* exec, ry_live_fn fn, void* ctx,
                         ry_subscription** out) noexcept {
  if (!host->rt.events) return RY_UNAVAILABLE;
  if (!exec || !fn || !out || topic.len == 0 || topic.len > 200) return RY_INVALID_ARGUMENT;
  *out = host->rt.events->subscribe(host, core::sv(topic), exec, fn, ctx);
  return RY_OK;
}

void live_unsubscribe(ry_subscription* s) noexcept {
  if (s) s->owner.get()->rt.events->unsubscribe(s);
}

ry_status live_publish(const ry_host* host, ry_str topic, uint64_t cursor, ry_bytes bytes, uint32_t flags) noexcept {
  if (!host->rt.events) return RY_UNAVAILABLE;
  if (topic.len == 0 || topic.len > 200) return RY_INVALID_ARGUMENT;
  return host->rt.events->publish(core::sv(topic), cursor, core::sv(bytes), flags);
}

std::uint32_t live_carries(const ry_host* host) noexcept {
  return host->rt.events && host->rt.events->bus().carries() ? 1 : 0;
}

}  // namespace

const ry_events_v1& events_v1() noexcept {
  static constexpr ry_events_v1 t{sizeof(ry_events_v1), 0,           publish, ack, live_subscribe, live_unsubscribe,
                                  live_publish,         live_carries};
  return t;
}

}  // namespace ry::events
