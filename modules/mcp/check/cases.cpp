// The test cases, in the order in which the author of a transport is likely to need them.
#include "probe.hpp"

namespace mcp_check {
namespace {

constexpr std::uint64_t time_limit_ms = 10'000;
constexpr std::uint64_t settle_ms = 400;

using kind = callback::kind;

ry::task<void> sleep_ms(const subject& s, std::uint64_t ms) {
  ry::result<void> slept = co_await s.ctx.sleep(ms);
  slept.value();
}
void check_violations(const probe& p) {
  if (!p.violation().empty()) fail(p.violation());
}

ry::task<void> table(const subject& s, ry_exec* exec) {
  const auto& t = *s.table;
  if (t.struct_size < sizeof t) fail("struct_size of the table is shorter than mcp.transport/1");
  if (t.check == nullptr || t.open == nullptr || t.send == nullptr || t.finish == nullptr || t.resume == nullptr ||
      t.close == nullptr || t.resolve == nullptr || t.authorize == nullptr) {
    fail("a slot of the table is NULL: an unsupported function must return RY_UNIMPLEMENTED");
  }
  const auto target = target_of(s, s.config_json.empty() ? "{}" : s.config_json);
  const ry_mcp_resolved_fn unexpected = [](void*, ry_status, ry_str, ry_str, const ry_error_view*) noexcept {};
  if ((t.capabilities & RY_MCP_RESOLVES) == 0 &&
      t.resolve(s.self, &target, exec, unexpected, nullptr) != RY_UNIMPLEMENTED) {
    fail("resolve() of a driver without RY_MCP_RESOLVES must return RY_UNIMPLEMENTED");
  }
  ry_mcp_refusal refusal{};
  refusal.struct_size = sizeof refusal;
  if ((t.capabilities & RY_MCP_AUTHORIZES) == 0 &&
      t.authorize(s.self, &target, &refusal, exec, unexpected, nullptr) != RY_UNIMPLEMENTED) {
    fail("authorize() of a driver without RY_MCP_AUTHORIZES must return RY_UNIMPLEMENTED");
  }
  co_return;
}

ry::task<void> invalid_configurations(const subject& s, ry_exec*) {
  for (const char* config : {"{}", "{\"url\":7}", "{\"url\":\"\"}", "{\"url\":\"\\u0000\"}", "[]", "null",
                             "{\"url\":\"nonsense://nowhere\",\"headers\":[],\"command\":{}}"}) {
    const auto t = target_of(s, config);
    char text[512];
    ry_errbuf err{text, sizeof text, 0};
    const auto st = s.table->check(s.self, &t, &err);
    if (st != RY_INVALID_ARGUMENT && st != RY_PERMISSION_DENIED) {
      fail(std::string("check() must refuse the configuration ") + config +
           " with RY_INVALID_ARGUMENT or RY_PERMISSION_DENIED, not " + ry::status_name(st));
    }
    if (err.len == 0) fail(std::string("check() refuses ") + config + " without a message in err");
    if (err.len > err.cap) fail("check() sets err->len beyond err->cap");
    ry_errbuf small{text, 3, 0};
    (void)s.table->check(s.self, &t, &small);
    if (small.len > small.cap) fail("check() sets err->len beyond err->cap");
  }
  co_return;
}

ry::task<void> exchange(const subject& s, ry_exec* exec) {
  const auto t = target_of(s, s.config_json);
  char text[512];
  ry_errbuf err{text, sizeof text, 0};
  if (s.table->check(s.self, &t, &err) != RY_OK) {
    fail("check() refuses the given server: " + std::string(text, err.len));
  }
  probe p(s, exec);
  co_await p.initialize();
  for (std::uint64_t id = 3; id < 6; ++id) {
    if (p.request(id, "tools/list") != RY_OK) fail("send() refused a request");
    const bool arrived = co_await p.wait_until(
        [id](probe& q) { return q.answered(id) && q.find(kind::sent, id) != nullptr; }, time_limit_ms);
    if (!arrived) fail("tools/list was not answered, or its on_sent() was not called, within 10 seconds");
    p.finish(id, 0);
  }
  if (!s.has_exchanges()) {
    for (const auto& c : p.log) {
      if (c.type == kind::message && c.token != 0) {
        fail("on_message() names a token though the driver has no exchanges (RY_MCP_EXCHANGES): it must be 0");
      }
    }
  }
  co_await sleep_ms(s, settle_ms);
  check_violations(p);
}

ry::task<void> burst(const subject& s, ry_exec* exec) {
  probe p(s, exec);
  co_await p.initialize();
  // A driver must accept at least 16 messages at a time.
  for (std::uint64_t id = 10; id < 26; ++id) {
    if (p.request(id, "tools/list") != RY_OK) {
      fail("send() refused message " + std::to_string(id - 9) + " of 16 that wait for their on_sent()");
    }
  }
  const auto all = [](probe& q) {
    for (std::uint64_t id = 10; id < 26; ++id) {
      if (!q.answered(id) || q.find(kind::sent, id) == nullptr) return false;
    }
    return true;
  };
  const bool arrived = co_await p.wait_until(all, time_limit_ms);
  if (!arrived) fail("not all of 16 concurrent requests were answered and completed by on_sent()");
  co_await sleep_ms(s, settle_ms);
  check_violations(p);
}

ry::task<void> cancel(const subject& s, ry_exec* exec) {
  probe p(s, exec);
  co_await p.initialize();
  if (p.request(10, "tools/list") != RY_OK) fail("send() refused a request");
  p.finish(10, RY_REASON_USER);
  p.finish(10, RY_REASON_USER);
  p.finish(987654321, RY_REASON_USER);  // unknown tokens have no effect
  co_await sleep_ms(s, settle_ms);
  check_violations(p);
  if (p.request(11, "tools/list") != RY_OK) fail("after finish() of one message, send() refuses another");
  const bool arrived = co_await p.wait_until([](probe& q) { return q.answered(11); }, time_limit_ms);
  if (!arrived) fail("after finish() of one message, another is not answered");
}

ry::task<void> close_early(const subject& s, ry_exec* exec) {
  // Closes a session as soon as it is open, and with messages in flight.
  probe first(s, exec);
  first.close();
  probe second(s, exec);
  (void)second.request(1, "initialize");
  second.close();
  probe third(s, exec);
  co_await third.initialize();
  for (std::uint64_t id = 10; id < 14; ++id) (void)third.request(id, "tools/list");
  co_await sleep_ms(s, 2);
  third.close();
  co_await sleep_ms(s, 1500);
  check_violations(first);
  check_violations(second);
  check_violations(third);
}

ry::task<void> back_pressure(const subject& s, ry_exec* exec) {
  constexpr std::size_t n = 6;
  probe p(s, exec);
  co_await p.initialize();
  const auto before = p.message_count();
  p.on_message_result = RY_RESOURCE_EXHAUSTED;
  for (std::uint64_t id = 10; id < 10 + n; ++id) {
    if (p.request(id, "tools/list") != RY_OK) fail("send() refused a request");
  }
  for (std::size_t i = 1; i <= n; ++i) {
    const bool arrived =
        co_await p.wait_until([&](probe& q) { return q.message_count() >= before + i; }, time_limit_ms);
    if (!arrived) fail(i == 1 ? "a request was not answered" : "no further message came after resume()");
    co_await sleep_ms(s, settle_ms / 2);
    // With exchanges, responses that have already arrived may still be delivered; a shared channel must deliver
    // nothing.
    if (!s.has_exchanges() && p.message_count() > before + i) {
      fail("on_message() came after the sink had answered RY_RESOURCE_EXHAUSTED and before resume()");
    }
    p.resume();
  }
  p.on_message_result = RY_OK;
  p.resume();
  p.resume();  // without a pause: no effect
  if (p.request(90, "tools/list") != RY_OK) fail("send() refused a request");
  const bool arrived = co_await p.wait_until([](probe& q) { return q.answered(90); }, time_limit_ms);
  if (!arrived) fail("after backpressure, a request is not answered");
  check_violations(p);
}

ry::task<void> refused_message(const subject& s, ry_exec* exec) {
  probe p(s, exec);
  p.on_message_result = RY_INTERNAL;
  if (p.request(1, "initialize") != RY_OK) fail("send() refused a request");
  const bool arrived = co_await p.wait_until(
      [](probe& q) {
        const auto* sent = q.find(kind::sent, 1);
        return q.count(kind::closed) != 0 || (sent != nullptr && sent->status != RY_OK);
      },
      time_limit_ms);
  if (!arrived) fail("a status other than RY_RESOURCE_EXHAUSTED from on_message() must end the session");
  co_await sleep_ms(s, settle_ms);
  check_violations(p);
  if (p.count(kind::closed) != 0 && p.request(2, "tools/list") == RY_OK) {
    fail("send() accepts messages after the session has ended: it must return RY_CANCELLED");
  }
}

ry::task<void> too_large(const subject& s, ry_exec* exec) {
  probe p(s, exec, 40);
  if (p.request(1, "initialize") != RY_OK) fail("send() refused a request");
  const auto limit_reported = [](probe& q) {
    for (const auto& c : q.log) {
      if (c.type != kind::message && c.status == RY_RESOURCE_EXHAUSTED) return true;
    }
    return false;
  };
  const bool arrived = co_await p.wait_until(
      [&](probe& q) { return limit_reported(q) || q.answered(1) || q.count(kind::closed) != 0; }, time_limit_ms);
  if (!arrived || !limit_reported(p)) {
    fail("an answer larger than max_message_bytes must end with RY_RESOURCE_EXHAUSTED");
  }
  co_await sleep_ms(s, settle_ms);
  check_violations(p);
}

ry::task<void> sessions_are_released(const subject& s, ry_exec* exec) {
  // `runyard module check` counts the resources that the sessions leave behind.
  for (int i = 0; i < 20; ++i) {
    probe p(s, exec);
    co_await p.initialize();
  }
  co_await sleep_ms(s, 3000);
}

}  // namespace

const std::vector<test_case>& cases() {
  static const std::vector<test_case> all = {
      {"table", &table},
      {"nonsense", &invalid_configurations},
      {"exchange", &exchange},
      {"burst", &burst},
      {"cancel", &cancel},
      {"close", &close_early},
      {"back_pressure", &back_pressure},
      {"refused_message", &refused_message},
      {"too_large", &too_large},
      {"many", &sessions_are_released},
  };
  return all;
}

}  // namespace mcp_check
