#include "connection.hpp"

#include "text.hpp"

namespace mcp {

namespace {
constexpr std::size_t max_id_bytes = 256;
constexpr std::size_t max_cause = 4096;
}  // namespace

ry::error trouble_with(const server& s, ry_status st, std::string_view reason, std::string_view what) {
  return ry::error(st, std::string(reason), "MCP server \"" + s.name + "\": " + without_hidden(clean(what, max_cause)));
}

ry::error unauthorized_by(const server& s, std::uint32_t http_status, std::string_view authenticate) {
  const json::object how{{"status", http_status}, {"authenticate", jv(authenticate)}};
  // Servers also use this status to reject a Host, an Origin or a network.
  const bool plain_refusal = http_status == 403 && authenticate.empty();
  auto what = (plain_refusal ? "the server denies access or rejects the credentials: HTTP status "
                             : "the server rejects the credentials: HTTP status ") +
              std::to_string(http_status);
  const bool oauth = authenticate.find("resource_metadata") != std::string_view::npos;
  if (oauth && !s.asked) what += " (it requires OAuth: create a profile with POST /mcp/profiles)";
  return trouble_with(s, RY_UNAUTHENTICATED, "mcp.unauthorized", what).with_detail(json::serialize(how));
}

ry::error with_cause(ry::error e, std::string_view cause) {
  if (cause.empty()) return e;
  return e.with_detail(json::serialize(json::object{{"cause", jv(clean(cause, max_cause))}}));
}

std::string cause_of(const ry::error& e) {
  const auto detail = e.detail_json();
  // The detail of a JSON-RPC error is the error itself.
  if (detail.empty() || e.is("mcp.rpc")) return clean(detail, max_cause);
  json::value v;
  (void)ry::guard([&] { v = parse(detail); });
  const auto* o = v.if_object();
  return o != nullptr ? clean(text_of(*o, "cause"), max_cause) : std::string();
}

void log_cause(const ry::context& ctx, const server& s, const ry::error& why) {
  const auto cause = cause_of(why);
  if (cause.empty()) return;
  ctx.warn("a request to an MCP server failed", {{"server", s.name},
                                                 {s.asker_kind.empty() ? "asker" : s.asker_kind, s.asker},
                                                 {"account", s.account_id},
                                                 {"error", why.message()},
                                                 {"cause", cause}});
}

connection::connection(const ry::context& ctx, transport driver, server_ptr to, ry_exec* exec,
                       std::size_t max_message_bytes)
    : ctx_(ctx), driver_(std::move(driver)), to_(std::move(to)) {
  ry_mcp_target target{};
  target.struct_size = sizeof target;
  target.flags = to_->flags;
  target.server = ry::str(to_->name);
  target.config_json = ry::str(to_->config_json);
  target.account_id = ry::str(to_->account_id);
  target.identity = ry::str(to_->identity);
  target.max_message_bytes = max_message_bytes;
  const ry_mcp_sink sink{sizeof sink, 0, &on_message, &on_sent, &on_closed};
  char text[512];
  ry_errbuf err{text, sizeof text, 0};
  const auto st = driver_->table->open(driver_->self, &target, exec, &sink, this, &session_, &err);
  if (st != RY_OK) {
    session_ = nullptr;
    const bool refused = st == RY_PERMISSION_DENIED || st == RY_INVALID_ARGUMENT;
    throw trouble_with(*to_, st, refused ? "mcp.refused" : "mcp.connect_failed",
                       err.len != 0 ? std::string_view(text, err.len) : ry::status_name(st));
  }
}

connection::~connection() {
  if (session_ != nullptr) driver_->table->close(driver_->self, session_);
}

ry::error connection::trouble(ry_status st, const ry_error_view* err) const {
  const auto what =
      err != nullptr && err->message.len != 0 ? ry::view(err->message) : std::string_view(ry::status_name(st));
  json::value detail;
  if (err != nullptr && err->detail_json.len != 0)
    (void)ry::guard([&] { detail = parse(repaired(ry::view(err->detail_json))); });
  const auto* o = detail.if_object();
  if (st == RY_UNAUTHENTICATED && err != nullptr) {
    return unauthorized_by(*to_, err->http_status, o != nullptr ? text_of(*o, "authenticate") : "");
  }
  std::string_view reason = "mcp.connect_failed";
  if (st == RY_DEADLINE_EXCEEDED) reason = "mcp.timeout";
  if (st == RY_DATA_LOSS || st == RY_RESOURCE_EXHAUSTED) reason = "mcp.protocol_error";
  if (st == RY_PERMISSION_DENIED || st == RY_INVALID_ARGUMENT) reason = "mcp.refused";
  return with_cause(trouble_with(*to_, st, reason, what), o != nullptr ? text_of(*o, "cause") : "")
      .with_http(err != nullptr ? err->http_status : 0)
      .with_retry_after(err != nullptr ? err->retry_after_s : 0);
}

ry_status connection::send(std::uint32_t kind, std::uint64_t token, const std::string& text,
                           const ry::headers& fields) {
  if (closed_) return RY_CANCELLED;
  auto all = fields;
  all.insert(all.end(), always_.begin(), always_.end());
  const auto c_fields = ry::detail::c_headers(all);
  ry_mcp_message m{};
  m.struct_size = sizeof m;
  m.kind = kind;
  m.token = token;
  m.json = ry::str(text);
  m.headers = c_fields.data();
  m.n_headers = c_fields.size();
  return driver_->table->send(driver_->self, session_, &m);
}

ry::task<reply> connection::request(std::string method, json::object params, request_options options) {
  const auto token = next_++;
  waiting w;
  if (options.on_progress) {
    w.on_progress = &options.on_progress;
    auto& meta = params["_meta"];
    if (!meta.is_object()) meta = json::object();
    meta.get_object()["progressToken"] = token;
  }
  const auto text = request_text(token, method, std::move(params));
  waiting_.emplace(token, &w);
  const auto st = send(RY_MCP_REQUEST | options.bits, token, text, options.fields);
  if (st != RY_OK) {
    waiting_.erase(token);
    w.out.unsent = true;
    w.out.trouble = end_.status() != RY_OK ? end_ : trouble(RY_UNAVAILABLE, nullptr);
    co_return std::move(w.out);
  }
  bool called_off = false;
  while (!w.over && !called_off) {
    const auto woken = co_await w.done.wait();
    called_off = !woken.ok() && !w.over;
  }
  waiting_.erase(token);
  if (called_off) {
    if (!closed_) driver_->table->finish(driver_->self, session_, token, RY_REASON_USER);
    if (options.cancel == request_options::on_cancel::notify) {
      send_notification("notifications/cancelled", {{"requestId", token}, {"reason", "The caller has gone"}},
                        options.fields);
    }
    throw ry::error(RY_CANCELLED, "mcp.cancelled", "The call was cancelled");
  }
  if (!closed_) driver_->table->finish(driver_->self, session_, token, 0);
  co_return std::move(w.out);
}

ry::task<std::uint32_t> connection::notify(std::string method, json::object params, ry::headers fields) {
  const auto token = next_++;
  waiting w;
  w.is_request = false;
  waiting_.emplace(token, &w);
  const auto st = send(RY_MCP_NOTIFICATION, token, notification_text(method, std::move(params)), fields);
  bool called_off = false;
  while (st == RY_OK && !w.over && !called_off) {
    const auto woken = co_await w.done.wait();
    called_off = !woken.ok() && !w.over;
  }
  waiting_.erase(token);
  if (called_off) throw ry::error(RY_CANCELLED, "mcp.cancelled", "The call was cancelled");
  co_return w.out.outcome_flags;
}

void connection::send_notification(std::string_view method, json::object params, const ry::headers& fields) {
  (void)send(RY_MCP_NOTIFICATION, next_++, notification_text(method, std::move(params)), fields);
}

connection::waiting* connection::find(std::uint64_t token) {
  const auto at = waiting_.find(token);
  return at != waiting_.end() && !at->second->over ? at->second : nullptr;
}

void connection::end(waiting& w) {
  w.over = true;
  w.done.set();
}

ry_status connection::on_message(void* self, std::uint64_t token, ry_str text) noexcept {
  auto* c = static_cast<connection*>(self);
  const auto st = ry::guard([&] { c->take(token, ry::view(text)); });
  return st == RY_RESOURCE_EXHAUSTED ? RY_INTERNAL : st;
}

void connection::take(std::uint64_t token, std::string_view text) {
  std::vector<incoming> messages;
  try {
    messages = read_messages(text);
  } catch (const ry::error& e) {
    const auto ends = [&](waiting& w) {
      w.out.trouble = trouble_with(*to_, RY_DATA_LOSS, "mcp.protocol_error", e.message());
      end(w);
    };
    // On an exchange, the malformed message is the answer. On a shared channel it is noise, unless it has too many
    // values: it may then answer any pending request, so all of them fail.
    if (auto* w = find(token)) return ends(*w);
    if (!e.is("mcp.too_many_values")) return;
    for (auto& [sent, w] : waiting_) {
      if (w->is_request && !w->over) ends(*w);
    }
    return;
  }
  for (auto& m : messages) take(token, std::move(m));
}

void connection::take(std::uint64_t token, incoming m) {
  switch (m.what) {
    case incoming::kind::result:
    case incoming::kind::failure: {
      const bool failed = m.what == incoming::kind::failure;
      // An error without an id belongs to the exchange on which it arrived.
      auto* w = find(m.id == 0 && failed ? token : m.id);
      if (w == nullptr || !w->is_request) return;
      w->out.answered = true;
      w->out.failed = failed;
      move_to(w->out.body, std::move(m.body));
      return end(*w);
    }
    case incoming::kind::request: {
      // The id is returned unchanged, if JSON-RPC allows it and it is not excessively long.
      const bool proper = m.peer_id.is_int64() || m.peer_id.is_uint64() ||
                          (m.peer_id.is_string() && m.peer_id.get_string().size() <= max_id_bytes);
      if (!proper) return;
      const auto text = m.method == "ping"
                            ? result_text(m.peer_id, {})
                            : failure_text(m.peer_id, -32601, "This client does not support this method");
      (void)send(RY_MCP_ANSWER, next_++, text, answer_fields_);
      return;
    }
    case incoming::kind::notification:
      if (m.method == "notifications/tools/list_changed" && tools_changed_) tools_changed_();
      if (m.method == "notifications/progress") take_progress(m.body);
      return;
    default:
      return;
  }
}

void connection::take_progress(const json::value& params) {
  const auto* o = params.if_object();
  const auto* named = o != nullptr ? o->if_contains("progressToken") : nullptr;
  if (named == nullptr || !(named->is_int64() || named->is_uint64())) return;
  const auto* w = find(named->to_number<std::uint64_t>());
  if (w != nullptr && w->on_progress != nullptr) (*w->on_progress)(*o);
}

void connection::on_sent(void* self, std::uint64_t token, ry_status st, const ry_mcp_outcome* outcome,
                         const ry_error_view* err) noexcept {
  auto* c = static_cast<connection*>(self);
  const auto handled = ry::guard([&] { c->sent(token, st, *outcome, err); });
  if (handled == RY_OK) return;
  if (auto* w = c->find(token)) {
    w->out.trouble = ry::error(RY_RESOURCE_EXHAUSTED);
    end(*w);
  }
}

void connection::sent(std::uint64_t token, ry_status st, const ry_mcp_outcome& o, const ry_error_view* err) {
  auto* w = find(token);
  if (w == nullptr) return;
  w->out.http_status = o.http_status;
  w->out.outcome_flags = o.flags;
  w->out.retry_after_s = o.retry_after_s;
  w->out.http_body = ry::text(o.body);
  w->out.authenticate = ry::text(o.authenticate);
  if (st != RY_OK) {
    w->out.trouble = trouble(st, err);
    return end(*w);
  }
  const bool refused = o.http_status != 0 && o.http_status / 100 != 2;
  if (!w->is_request || refused) {
    if (refused && o.body.len != 0) {
      // An HTTP error may carry a JSON-RPC error in its body.
      std::vector<incoming> messages;
      (void)ry::guard([&] { messages = read_messages(ry::view(o.body)); });
      for (auto& m : messages) {
        if (m.what == incoming::kind::failure) take(token, std::move(m));
      }
    }
    return w->over ? void() : end(*w);
  }
  if ((capabilities() & RY_MCP_EXCHANGES) == 0) return;  // the response arrives on the shared channel
  w->out.trouble = trouble_with(*to_, RY_UNAVAILABLE, "mcp.connect_failed", "the connection ended without an answer");
  end(*w);
}

void connection::on_closed(void* self, ry_status st, const ry_error_view* err) noexcept {
  auto* c = static_cast<connection*>(self);
  c->closed_ = true;
  (void)ry::guard([&] {
    c->end_ = st == RY_OK ? trouble_with(*c->to_, RY_UNAVAILABLE, "mcp.connect_failed",
                                         err != nullptr && err->message.len != 0 ? ry::view(err->message)
                                                                                 : "the server closed the connection")
                          : c->trouble(st, err);
  });
  for (auto& [token, w] : c->waiting_) {
    if (w->over) continue;
    w->out.trouble = c->end_;
    end(*w);
  }
}

}  // namespace mcp
