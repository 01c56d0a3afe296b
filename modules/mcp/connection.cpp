#include "connection.hpp"

#include "protocol_revision.hpp"
#include "text.hpp"

namespace mcp {

namespace {
constexpr std::size_t max_id_bytes = 256;
constexpr std::size_t max_cause = 4096;
}  // namespace

ry::error server_error(const server& s, ry_status st, std::string_view reason, std::string_view message) {
  return ry::error(st, std::string(reason),
                   "MCP server \"" + s.name + "\": " + without_hidden(valid_utf8(message, max_cause)));
}

ry::error unauthorized_by(const server& s, std::uint32_t http_status, std::string_view authenticate) {
  const json::object detail{{"status", http_status}, {"authenticate", jv(authenticate)}};
  // Servers also use this status to reject a Host, an Origin or a network.
  const bool plain_refusal = http_status == 403 && authenticate.empty();
  auto message = (plain_refusal ? "the server denies access or rejects the credentials: HTTP status "
                                : "the server rejects the credentials: HTTP status ") +
                 std::to_string(http_status);
  const bool oauth = authenticate.find("resource_metadata") != std::string_view::npos;
  if (oauth && !s.original) message += " (it requires OAuth: create a profile with POST /mcp/profiles)";
  return server_error(s, RY_UNAUTHENTICATED, "mcp.unauthorized", message).with_detail(json::serialize(detail));
}

ry::error with_cause(ry::error e, std::string_view cause) {
  if (cause.empty()) return e;
  return e.with_detail(json::serialize(json::object{{"cause", jv(valid_utf8(cause, max_cause))}}));
}

std::string cause_of(const ry::error& e) {
  const auto detail = e.detail_json();
  // The detail of a JSON-RPC error is the error itself.
  if (detail.empty() || e.is("mcp.rpc")) return valid_utf8(detail, max_cause);
  json::value v;
  (void)ry::guard([&] { v = parse(detail); });
  const auto* o = v.if_object();
  return o != nullptr ? valid_utf8(text_of(*o, "cause"), max_cause) : std::string();
}

void log_cause(const ry::context& ctx, const server& s, const ry::error& failure) {
  const auto cause = cause_of(failure);
  if (cause.empty()) return;
  ctx.warn("a request to an MCP server failed", {{"server", s.name},
                                                 {s.caller_kind.empty() ? "caller" : s.caller_kind, s.caller_id},
                                                 {"account", s.account_id},
                                                 {"error", failure.message()},
                                                 {"cause", cause}});
}

connection::connection(const ry::context& ctx, transport driver, server_ptr target, ry_exec* exec,
                       std::size_t max_message_bytes)
    : ctx_(ctx), driver_(std::move(driver)), target_(std::move(target)) {
  ry_mcp_target c_target{};
  c_target.struct_size = sizeof c_target;
  c_target.flags = target_->flags;
  c_target.server = ry::str(target_->name);
  c_target.config_json = ry::str(target_->config_json);
  c_target.account_id = ry::str(target_->account_id);
  c_target.identity = ry::str(target_->identity);
  c_target.max_message_bytes = max_message_bytes;
  const ry_mcp_sink sink{sizeof sink, 0, &on_message, &on_sent, &on_closed};
  char text[512];
  ry_errbuf err{text, sizeof text, 0};
  const auto st = driver_->table->open(driver_->self, &c_target, exec, &sink, this, &session_, &err);
  if (st != RY_OK) {
    session_ = nullptr;
    const bool refused = st == RY_PERMISSION_DENIED || st == RY_INVALID_ARGUMENT;
    throw server_error(*target_, st, refused ? "mcp.refused" : "mcp.connect_failed",
                       err.len != 0 ? std::string_view(text, err.len) : ry::status_name(st));
  }
}

connection::~connection() {
  if (session_ != nullptr) driver_->table->close(driver_->self, session_);
}

ry::error connection::error_of(ry_status st, const ry_error_view* err) const {
  const auto message =
      err != nullptr && err->message.len != 0 ? ry::view(err->message) : std::string_view(ry::status_name(st));
  json::value detail;
  if (err != nullptr && err->detail_json.len != 0)
    (void)ry::guard([&] { detail = parse(repaired_json(ry::view(err->detail_json))); });
  const auto* o = detail.if_object();
  if (st == RY_UNAUTHENTICATED && err != nullptr) {
    return unauthorized_by(*target_, err->http_status, o != nullptr ? text_of(*o, "authenticate") : "");
  }
  std::string_view reason = "mcp.connect_failed";
  if (st == RY_DEADLINE_EXCEEDED) reason = "mcp.timeout";
  if (st == RY_DATA_LOSS || st == RY_RESOURCE_EXHAUSTED) reason = "mcp.protocol_error";
  if (st == RY_PERMISSION_DENIED || st == RY_INVALID_ARGUMENT) reason = "mcp.refused";
  return with_cause(server_error(*target_, st, reason, message), o != nullptr ? text_of(*o, "cause") : "")
      .with_http(err != nullptr ? err->http_status : 0)
      .with_retry_after(err != nullptr ? err->retry_after_s : 0);
}

ry_status connection::send(std::uint32_t kind, std::uint64_t token, const std::string& text,
                           const ry::headers& fields) {
  if (closed_) return RY_CANCELLED;
  auto all = fields;
  all.insert(all.end(), common_fields_.begin(), common_fields_.end());
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
  const auto token = next_token_++;
  pending_message m;
  if (options.on_progress) {
    m.on_progress = &options.on_progress;
    auto& meta = params["_meta"];
    if (!meta.is_object()) meta = json::object();
    meta.get_object()["progressToken"] = token;
  }
  const auto text = request_text(token, method, std::move(params));
  pending_.emplace(token, &m);
  const auto st = send(RY_MCP_REQUEST | options.flags, token, text, options.fields);
  if (st != RY_OK) {
    pending_.erase(token);
    m.result.unsent = true;
    m.result.error = close_error_.status() != RY_OK ? close_error_ : error_of(RY_UNAVAILABLE, nullptr);
    co_return std::move(m.result);
  }
  bool cancelled = false;
  while (!m.completed && !cancelled) {
    const auto woken = co_await m.done.wait();
    cancelled = !woken.ok() && !m.completed;
  }
  pending_.erase(token);
  if (cancelled) {
    if (!closed_) driver_->table->finish(driver_->self, session_, token, RY_REASON_USER);
    if (options.cancel == request_options::on_cancel::notify) {
      send_notification("notifications/cancelled", {{"requestId", token}, {"reason", "The caller has disconnected"}},
                        options.fields);
    }
    throw ry::error(RY_CANCELLED, "mcp.cancelled", "The call was cancelled");
  }
  if (!closed_) driver_->table->finish(driver_->self, session_, token, 0);
  co_return std::move(m.result);
}

ry::task<std::uint32_t> connection::notify(std::string method, json::object params, ry::headers fields) {
  const auto token = next_token_++;
  pending_message m;
  m.is_request = false;
  pending_.emplace(token, &m);
  const auto st = send(RY_MCP_NOTIFICATION, token, notification_text(method, std::move(params)), fields);
  bool cancelled = false;
  while (st == RY_OK && !m.completed && !cancelled) {
    const auto woken = co_await m.done.wait();
    cancelled = !woken.ok() && !m.completed;
  }
  pending_.erase(token);
  if (cancelled) throw ry::error(RY_CANCELLED, "mcp.cancelled", "The call was cancelled");
  co_return m.result.outcome_flags;
}

void connection::send_notification(std::string_view method, json::object params, const ry::headers& fields) {
  (void)send(RY_MCP_NOTIFICATION, next_token_++, notification_text(method, std::move(params)), fields);
}

connection::pending_message* connection::find(std::uint64_t token) {
  const auto at = pending_.find(token);
  return at != pending_.end() && !at->second->completed ? at->second : nullptr;
}

void connection::complete(pending_message& m) {
  m.completed = true;
  m.done.set();
}

ry_status connection::on_message(void* self, std::uint64_t token, ry_str text) noexcept {
  auto* c = static_cast<connection*>(self);
  const auto st = ry::guard([&] { c->handle_text(token, ry::view(text)); });
  return st == RY_RESOURCE_EXHAUSTED ? RY_INTERNAL : st;
}

void connection::handle_text(std::uint64_t token, std::string_view text) {
  std::vector<incoming> messages;
  try {
    messages = read_messages(text);
  } catch (const ry::error& e) {
    const auto fail = [&](pending_message& m) {
      m.result.error = server_error(*target_, RY_DATA_LOSS, "mcp.protocol_error", e.message());
      complete(m);
    };
    // On an exchange, the malformed message is the response. On a shared channel it is ignored, unless it has too many
    // values: it may then be the response to any pending request, so all of them fail.
    if (auto* m = find(token)) return fail(*m);
    if (!e.is("mcp.too_many_values")) return;
    for (auto& [sent, m] : pending_) {
      if (m->is_request && !m->completed) fail(*m);
    }
    return;
  }
  for (auto& m : messages) handle_message(token, std::move(m));
}

void connection::handle_message(std::uint64_t token, incoming m) {
  switch (m.kind) {
    case message_kind::result:
    case message_kind::failure: {
      const bool failed = m.kind == message_kind::failure;
      // An error without an id belongs to the exchange on which it arrived.
      auto* pending = find(m.id == 0 && failed ? token : m.id);
      if (pending == nullptr || !pending->is_request) return;
      pending->result.answered = true;
      pending->result.failed = failed;
      move_to(pending->result.body, std::move(m.body));
      return complete(*pending);
    }
    case message_kind::request: {
      // The id is returned unchanged, if JSON-RPC allows it and it is not excessively long.
      const bool valid_id = m.peer_id.is_int64() || m.peer_id.is_uint64() ||
                            (m.peer_id.is_string() && m.peer_id.get_string().size() <= max_id_bytes);
      if (!valid_id) return;
      if (m.method == "ping") return respond(m.peer_id, {});
      if (on_request_ && on_request_(m.peer_id, m.method, m.body)) return;
      return refuse(m.peer_id, method_not_found, "This client does not support this method");
    }
    case message_kind::notification:
      if (m.method == "notifications/tools/list_changed" && on_tools_changed_) on_tools_changed_();
      if (m.method == "notifications/progress") return handle_progress(m.body);
      if (on_notification_) on_notification_(m.method, m.body);
      return;
    default:
      return;
  }
}

void connection::respond(const json::value& id, json::object result) {
  (void)send(RY_MCP_ANSWER, next_token_++, result_text(id, std::move(result)), response_fields_);
}

void connection::refuse(const json::value& id, int code, std::string_view message) {
  (void)send(RY_MCP_ANSWER, next_token_++, failure_text(id, code, message), response_fields_);
}

void connection::handle_progress(const json::value& params) {
  const auto* o = params.if_object();
  const auto* progress_token = o != nullptr ? o->if_contains("progressToken") : nullptr;
  if (progress_token == nullptr || !(progress_token->is_int64() || progress_token->is_uint64())) return;
  const auto* pending = find(progress_token->to_number<std::uint64_t>());
  if (pending != nullptr && pending->on_progress != nullptr) (*pending->on_progress)(*o);
}

void connection::on_sent(void* self, std::uint64_t token, ry_status st, const ry_mcp_outcome* outcome,
                         const ry_error_view* err) noexcept {
  auto* c = static_cast<connection*>(self);
  const auto handled = ry::guard([&] { c->handle_sent(token, st, *outcome, err); });
  if (handled == RY_OK) return;
  if (auto* pending = c->find(token)) {
    pending->result.error = ry::error(RY_RESOURCE_EXHAUSTED);
    complete(*pending);
  }
}

void connection::handle_sent(std::uint64_t token, ry_status st, const ry_mcp_outcome& o, const ry_error_view* err) {
  auto* pending = find(token);
  if (pending == nullptr) return;
  pending->result.http_status = o.http_status;
  pending->result.outcome_flags = o.flags;
  pending->result.retry_after_s = o.retry_after_s;
  pending->result.http_body = ry::text(o.body);
  pending->result.authenticate = ry::text(o.authenticate);
  if (st != RY_OK) {
    pending->result.error = error_of(st, err);
    return complete(*pending);
  }
  const bool refused = o.http_status != 0 && o.http_status / 100 != 2;
  if (!pending->is_request || refused) {
    if (refused && o.body.len != 0) {
      // An HTTP error may carry a JSON-RPC error in its body.
      std::vector<incoming> messages;
      (void)ry::guard([&] { messages = read_messages(ry::view(o.body)); });
      for (auto& m : messages) {
        if (m.kind == message_kind::failure) handle_message(token, std::move(m));
      }
    }
    return pending->completed ? void() : complete(*pending);
  }
  if ((capabilities() & RY_MCP_EXCHANGES) == 0) return;  // the response arrives on the shared channel
  pending->result.error =
      server_error(*target_, RY_UNAVAILABLE, "mcp.connect_failed", "the connection ended without an answer");
  complete(*pending);
}

void connection::on_closed(void* self, ry_status st, const ry_error_view* err) noexcept {
  auto* c = static_cast<connection*>(self);
  c->closed_ = true;
  (void)ry::guard([&] {
    c->close_error_ = st == RY_OK
                          ? server_error(*c->target_, RY_UNAVAILABLE, "mcp.connect_failed",
                                         err != nullptr && err->message.len != 0 ? ry::view(err->message)
                                                                                 : "the server closed the connection")
                          : c->error_of(st, err);
  });
  for (auto& [token, pending] : c->pending_) {
    if (pending->completed) continue;
    pending->result.error = c->close_error_;
    complete(*pending);
  }
}

}  // namespace mcp
