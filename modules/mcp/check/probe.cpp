#include "probe.hpp"

#include <algorithm>
#include <boost/json/parse.hpp>

namespace mcp_check {

void fail(std::string message) {
  throw ry::error(RY_FAILED_PRECONDITION, "check", std::move(message));
}

ry_mcp_target target_of(const subject&, std::string_view config_json) {
  ry_mcp_target t{};
  t.struct_size = sizeof t;
  t.flags = RY_MCP_OPERATOR | RY_MCP_UNSANDBOXED;
  t.server = ry::str("the server");
  t.config_json = ry::str(config_json);
  t.identity = ry::str("check");
  t.max_message_bytes = 16u << 20;
  return t;
}

probe::probe(const subject& s, ry_exec* exec, std::uint64_t max_message_bytes)
    : subject_(s), sink_(new sink_state{this, &s.ctx, exec}) {
  auto t = target_of(s, s.config_json);
  if (max_message_bytes != 0) t.max_message_bytes = max_message_bytes;
  const ry_mcp_sink sink{sizeof sink, 0, &on_message, &on_sent, &on_closed};
  char text[512];
  ry_errbuf err{text, sizeof text, 0};
  ry_status st = RY_OK;
  {
    driver_call call(*sink_);
    st = s.table->open(s.self, &t, exec, &sink, sink_, &session_, &err);
  }
  if (!sink_->violation.empty()) fail(sink_->violation);
  if (st != RY_OK) {
    fail("open() refused the given server (status " + std::string(ry::status_name(st)) +
         "): " + std::string(text, err.len));
  }
  if (session_ == nullptr) fail("open() returned RY_OK but no session");
}

probe::~probe() {
  close();
  sink_->owner = nullptr;
}

ry_status probe::send(std::uint32_t kind, std::uint64_t token, const std::string& json) {
  static const ry_header revision{ry::str("MCP-Protocol-Version"), ry::str("2025-11-25")};
  ry_mcp_message m{};
  m.struct_size = sizeof m;
  m.kind = kind;
  m.token = token;
  // The text is sent from memory that is wiped right after the call, because the driver must have copied it.
  std::string buffer = json;
  m.json = ry::str(buffer);
  m.headers = &revision;
  m.n_headers = token == 1 ? 0 : 1;
  ry_status st = RY_OK;
  {
    driver_call call(*sink_);
    st = subject_.table->send(subject_.self, session_, &m);
  }
  std::fill(buffer.begin(), buffer.end(), '#');
  return st;
}

ry_status probe::request(std::uint64_t id, std::string_view method) {
  std::string params = "{}";
  if (method == "initialize") {
    params = R"({"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"check","version":"1"}})";
  }
  return send(RY_MCP_REQUEST, id,
              "{\"jsonrpc\":\"2.0\",\"id\":" + std::to_string(id) + ",\"method\":" + ry::json_string(method) +
                  ",\"params\":" + params + "}");
}
ry_status probe::notify(std::uint64_t token, std::string_view method) {
  return send(RY_MCP_NOTIFICATION, token, "{\"jsonrpc\":\"2.0\",\"method\":" + ry::json_string(method) + "}");
}
void probe::finish(std::uint64_t token, std::int32_t reason) {
  finished_.push_back(token);
  driver_call call(*sink_);
  subject_.table->finish(subject_.self, session_, token, reason);
}
void probe::resume() {
  driver_call call(*sink_);
  subject_.table->resume(subject_.self, session_);
}
void probe::close() {
  if (session_ == nullptr) return;
  {
    driver_call call(*sink_);
    subject_.table->close(subject_.self, std::exchange(session_, nullptr));
  }
  sink_->ended = true;
}

void probe::record(callback c) {
  auto& state = *sink_;
  const char* name = c.type == callback::kind::message ? "on_message"
                     : c.type == callback::kind::sent  ? "on_sent"
                                                       : "on_closed";
  const auto report = [&](const std::string& violation) {
    if (violation_.empty()) violation_ = std::string(name) + "() " + violation;
  };
  if (!state.ctx->on_exec(state.exec)) report("came on a thread other than the session's executor: post it there");
  if (state.in_driver) report("came inside a call of the driver: post it, so that it comes later");
  if (state.ended) {
    report(session_ == nullptr ? "came after close() had returned: keep a flag that close() sets"
                               : "came after on_closed(), which must be the last call");
  }
  if (c.type == callback::kind::sent) {
    if (find(c.type, c.token) != nullptr) report("came twice for one message: each message has one completion");
    if (std::find(finished_.begin(), finished_.end(), c.token) != finished_.end()) {
      report("came for a message after finish(): forget its token there");
    }
  }
  if (c.type == callback::kind::closed) state.ended = true;
  log.push_back(std::move(c));
}

ry_status probe::on_message(void* p, std::uint64_t token, ry_str json) noexcept {
  auto* e = static_cast<sink_state*>(p);
  if (e->owner == nullptr) return RY_CANCELLED;
  (void)ry::guard([&] { e->owner->record({callback::kind::message, token, RY_OK, ry::text(json)}); });
  return e->owner->on_message_result;
}
void probe::on_sent(void* p, std::uint64_t token, ry_status st, const ry_mcp_outcome* o,
                    const ry_error_view* err) noexcept {
  auto* e = static_cast<sink_state*>(p);
  if (e->owner == nullptr) return;
  (void)ry::guard([&] {
    e->owner->record({callback::kind::sent, token, st, err != nullptr ? ry::text(err->message) : ""});
    if (o == nullptr) e->owner->violation_ = "on_sent() came without an outcome, which is never NULL";
  });
}
void probe::on_closed(void* p, ry_status st, const ry_error_view* err) noexcept {
  auto* e = static_cast<sink_state*>(p);
  if (e->owner == nullptr) return;
  (void)ry::guard([&] {
    e->owner->record({callback::kind::closed, 0, st, err != nullptr ? ry::text(err->message) : ""});
  });
}

std::size_t probe::count(callback::kind type) const noexcept {
  return static_cast<std::size_t>(
      std::count_if(log.begin(), log.end(), [type](const callback& c) { return c.type == type; }));
}
const callback* probe::find(callback::kind type, std::uint64_t token) const noexcept {
  for (const auto& c : log) {
    if (c.type == type && c.token == token) return &c;
  }
  return nullptr;
}
bool probe::answered(std::uint64_t id) const {
  for (const auto& c : log) {
    if (c.type != callback::kind::message) continue;
    boost::json::error_code ec;
    const auto v = boost::json::parse(boost::json::string_view(c.text.data(), c.text.size()), ec);
    const auto* o = v.if_object();
    const auto* found = o != nullptr ? o->if_contains("id") : nullptr;
    if (found != nullptr && found->is_number() && found->to_number<std::uint64_t>(ec) == id) return true;
  }
  return false;
}

ry::task<void> probe::initialize() {
  constexpr std::uint64_t time_limit_ms = 10'000;
  if (request(1, "initialize") != RY_OK) fail("send() refused the first message of a new session");
  bool arrived = co_await wait_until([](probe& p) { return p.answered(1) || p.count(callback::kind::closed) != 0; },
                                     time_limit_ms);
  if (!arrived) fail("initialize was not answered within 10 seconds");
  if (!answered(1)) fail("the session ended instead of answering initialize: " + log.back().text);
  arrived = co_await wait_until([](probe& p) { return p.find(callback::kind::sent, 1) != nullptr; }, time_limit_ms);
  if (!arrived) fail("on_sent() was not called for a message that was answered");
  if (notify(2, "notifications/initialized") != RY_OK) fail("send() refused a notification");
  arrived = co_await wait_until([](probe& p) { return p.find(callback::kind::sent, 2) != nullptr; }, time_limit_ms);
  if (!arrived) fail("on_sent() was not called for a notification within 10 seconds");
}

}  // namespace mcp_check
