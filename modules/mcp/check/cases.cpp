// The test cases, in the order in which an author of a transport is likely to need them.
#include "probe.hpp"

namespace mcp_check {
namespace {

constexpr std::uint64_t time_limit_ms = 10'000;
constexpr std::uint64_t a_while = 400;

using what = callback::what;

ry::task<void> rest(const subject& s, std::uint64_t ms) {
  ry::result<void> slept = co_await s.ctx.sleep(ms);
  slept.value();
}
void in_order(const probe& p) {
  if (!p.fault().empty()) wrong(p.fault());
}

ry::task<void> table(const subject& s, ry_exec* exec) {
  const auto& t = *s.table;
  if (t.struct_size < sizeof t) wrong("struct_size of the table is shorter than mcp.transport/1");
  if (t.check == nullptr || t.open == nullptr || t.send == nullptr || t.finish == nullptr || t.resume == nullptr ||
      t.close == nullptr || t.resolve == nullptr || t.authorize == nullptr) {
    wrong("a slot of the table is NULL: what it cannot do answers RY_UNIMPLEMENTED");
  }
  const auto target = target_of(s, s.config_json.empty() ? "{}" : s.config_json);
  const ry_mcp_resolved_fn never = [](void*, ry_status, ry_str, ry_str, const ry_error_view*) noexcept {};
  if ((t.capabilities & RY_MCP_RESOLVES) == 0 && t.resolve(s.self, &target, exec, never, nullptr) != RY_UNIMPLEMENTED) {
    wrong("resolve() of a driver without RY_MCP_RESOLVES must answer RY_UNIMPLEMENTED");
  }
  ry_mcp_refusal refusal{};
  refusal.struct_size = sizeof refusal;
  if ((t.capabilities & RY_MCP_AUTHORIZES) == 0 &&
      t.authorize(s.self, &target, &refusal, exec, never, nullptr) != RY_UNIMPLEMENTED) {
    wrong("authorize() of a driver without RY_MCP_AUTHORIZES must answer RY_UNIMPLEMENTED");
  }
  co_return;
}

ry::task<void> nonsense(const subject& s, ry_exec*) {
  for (const char* config : {"{}", "{\"url\":7}", "{\"url\":\"\"}", "{\"url\":\"\\u0000\"}", "[]", "null",
                             "{\"url\":\"nonsense://nowhere\",\"headers\":[],\"command\":{}}"}) {
    const auto t = target_of(s, config);
    char text[512];
    ry_errbuf err{text, sizeof text, 0};
    const auto st = s.table->check(s.self, &t, &err);
    if (st != RY_INVALID_ARGUMENT && st != RY_PERMISSION_DENIED) {
      wrong(std::string("check() must refuse the configuration ") + config +
            " with RY_INVALID_ARGUMENT or RY_PERMISSION_DENIED, not " + ry::status_name(st));
    }
    if (err.len == 0) wrong(std::string("check() refuses ") + config + " without a sentence in err");
    if (err.len > err.cap) wrong("check() sets err->len beyond err->cap");
    ry_errbuf tiny{text, 3, 0};
    (void)s.table->check(s.self, &t, &tiny);
    if (tiny.len > tiny.cap) wrong("check() sets err->len beyond err->cap");
  }
  co_return;
}

ry::task<void> exchange(const subject& s, ry_exec* exec) {
  const auto t = target_of(s, s.config_json);
  char text[512];
  ry_errbuf err{text, sizeof text, 0};
  if (s.table->check(s.self, &t, &err) != RY_OK) {
    wrong("check() refuses the server given: " + std::string(text, err.len));
  }
  probe p(s, exec);
  co_await p.greet();
  for (std::uint64_t id = 3; id < 6; ++id) {
    if (p.request(id, "tools/list") != RY_OK) wrong("send() refused a request");
    const bool came =
        co_await p.until([id](probe& q) { return q.answered(id) && q.find(what::sent, id) != nullptr; }, time_limit_ms);
    if (!came) wrong("tools/list was not answered, or its on_sent() did not come, within 10 seconds");
    p.finish(id, 0);
  }
  if (!s.exchanges()) {
    for (const auto& h : p.log) {
      if (h.is == what::message && h.token != 0) {
        wrong("on_message() names a token though the driver has no exchanges (RY_MCP_EXCHANGES): it must be 0");
      }
    }
  }
  co_await rest(s, a_while);
  in_order(p);
}

ry::task<void> burst(const subject& s, ry_exec* exec) {
  probe p(s, exec);
  co_await p.greet();
  // A driver must accept at least 16 messages at a time.
  for (std::uint64_t id = 10; id < 26; ++id) {
    if (p.request(id, "tools/list") != RY_OK) {
      wrong("send() refused message " + std::to_string(id - 9) + " of 16 that wait for their on_sent()");
    }
  }
  const auto all = [](probe& q) {
    for (std::uint64_t id = 10; id < 26; ++id) {
      if (!q.answered(id) || q.find(what::sent, id) == nullptr) return false;
    }
    return true;
  };
  const bool came = co_await p.until(all, time_limit_ms);
  if (!came) wrong("of 16 requests at once not all were answered and told by on_sent()");
  co_await rest(s, a_while);
  in_order(p);
}

ry::task<void> cancel(const subject& s, ry_exec* exec) {
  probe p(s, exec);
  co_await p.greet();
  if (p.request(10, "tools/list") != RY_OK) wrong("send() refused a request");
  p.finish(10, RY_REASON_USER);
  p.finish(10, RY_REASON_USER);
  p.finish(987654321, RY_REASON_USER);  // unknown tokens have no effect
  co_await rest(s, a_while);
  in_order(p);
  if (p.request(11, "tools/list") != RY_OK) wrong("after finish() of one message send() refuses another");
  const bool came = co_await p.until([](probe& q) { return q.answered(11); }, time_limit_ms);
  if (!came) wrong("after finish() of one message another is not answered");
}

ry::task<void> close_at_once(const subject& s, ry_exec* exec) {
  // Closes a session as soon as it is open, and with messages in flight.
  probe first(s, exec);
  first.close();
  probe second(s, exec);
  (void)second.request(1, "initialize");
  second.close();
  probe third(s, exec);
  co_await third.greet();
  for (std::uint64_t id = 10; id < 14; ++id) (void)third.request(id, "tools/list");
  co_await rest(s, 2);
  third.close();
  co_await rest(s, 1500);
  in_order(first);
  in_order(second);
  in_order(third);
}

ry::task<void> back_pressure(const subject& s, ry_exec* exec) {
  constexpr std::size_t n = 6;
  probe p(s, exec);
  co_await p.greet();
  const auto before = p.messages();
  p.answer_to_messages = RY_RESOURCE_EXHAUSTED;
  for (std::uint64_t id = 10; id < 10 + n; ++id) {
    if (p.request(id, "tools/list") != RY_OK) wrong("send() refused a request");
  }
  for (std::size_t i = 1; i <= n; ++i) {
    const bool came = co_await p.until([&](probe& q) { return q.messages() >= before + i; }, time_limit_ms);
    if (!came) wrong(i == 1 ? "a request was not answered" : "after resume() no further message came");
    co_await rest(s, a_while / 2);
    // With exchanges, responses that have already arrived may still be delivered; a shared channel must deliver
    // nothing.
    if (!s.exchanges() && p.messages() > before + i) {
      wrong("on_message() came after the sink had answered RY_RESOURCE_EXHAUSTED and before resume()");
    }
    p.resume();
  }
  p.answer_to_messages = RY_OK;
  p.resume();
  p.resume();  // without a pause: no effect
  if (p.request(90, "tools/list") != RY_OK) wrong("send() refused a request");
  const bool came = co_await p.until([](probe& q) { return q.answered(90); }, time_limit_ms);
  if (!came) wrong("after back-pressure a request is not answered");
  in_order(p);
}

ry::task<void> refused_message(const subject& s, ry_exec* exec) {
  probe p(s, exec);
  p.answer_to_messages = RY_INTERNAL;
  if (p.request(1, "initialize") != RY_OK) wrong("send() refused a request");
  const bool came = co_await p.until(
      [](probe& q) {
        const auto* sent = q.find(what::sent, 1);
        return q.count(what::closed) != 0 || (sent != nullptr && sent->status != RY_OK);
      },
      time_limit_ms);
  if (!came) wrong("a status other than RY_RESOURCE_EXHAUSTED from on_message() must end the session");
  co_await rest(s, a_while);
  in_order(p);
  if (p.count(what::closed) != 0 && p.request(2, "tools/list") == RY_OK) {
    wrong("send() takes messages of a session that is over: it must answer RY_CANCELLED");
  }
}

ry::task<void> too_large(const subject& s, ry_exec* exec) {
  probe p(s, exec, 40);
  if (p.request(1, "initialize") != RY_OK) wrong("send() refused a request");
  const auto limited = [](probe& q) {
    for (const auto& h : q.log) {
      if (h.is != what::message && h.status == RY_RESOURCE_EXHAUSTED) return true;
    }
    return false;
  };
  const bool came = co_await p.until(
      [&](probe& q) { return limited(q) || q.answered(1) || q.count(what::closed) != 0; }, time_limit_ms);
  if (!came || !limited(p)) {
    wrong("an answer larger than max_message_bytes must end in RY_RESOURCE_EXHAUSTED");
  }
  co_await rest(s, a_while);
  in_order(p);
}

ry::task<void> many(const subject& s, ry_exec* exec) {
  // `runyard module check` counts the resources that the sessions leave behind.
  for (int i = 0; i < 20; ++i) {
    probe p(s, exec);
    co_await p.greet();
  }
  co_await rest(s, 3000);
}

}  // namespace

const std::vector<test_case>& cases() {
  static const std::vector<test_case> all = {
      {"table", &table},
      {"nonsense", &nonsense},
      {"exchange", &exchange},
      {"burst", &burst},
      {"cancel", &cancel},
      {"close", &close_at_once},
      {"back_pressure", &back_pressure},
      {"refused_message", &refused_message},
      {"too_large", &too_large},
      {"many", &many},
  };
  return all;
}

}  // namespace mcp_check
