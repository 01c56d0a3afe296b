#include "client.hpp"

#include "deadline.hpp"
#include "elicitation.hpp"
#include "text.hpp"

namespace mcp {
namespace {

constexpr std::int64_t modern_cache_us = 24LL * 3600 * 1'000'000;
constexpr std::int64_t legacy_cache_us = 3600LL * 1'000'000;
constexpr std::size_t max_cache_entries = 10'000;

constexpr std::uint32_t max_retry_after_s = 5;
constexpr std::size_t max_logged_body = 1000;
constexpr std::size_t max_instructions = 16 * 1024;

bool mentions_session(std::string_view body) {
  return body.find("ession") != std::string_view::npos;
}

}  // namespace

protocol_revision revision_cache::look_up(const std::string& key, std::int64_t now_us) const {
  std::lock_guard lock(mutex_);
  const auto at = entries_.find(key);
  return at != entries_.end() && at->second.until_us > now_us ? at->second.revision : protocol_revision::unknown;
}

void revision_cache::record(const std::string& key, protocol_revision revision, std::int64_t now_us) {
  std::lock_guard lock(mutex_);
  if (entries_.size() >= max_cache_entries) entries_.clear();
  const auto life = revision == protocol_revision::modern ? modern_cache_us : legacy_cache_us;
  entries_.insert_or_assign(key, entry{revision, now_us + life});
}

void revision_cache::forget(const std::string& key) {
  std::lock_guard lock(mutex_);
  entries_.erase(key);
}

std::optional<bool> session_state_cache::look_up(const std::string& key) const {
  std::lock_guard lock(mutex_);
  const auto at = entries_.find(key);
  return at != entries_.end() ? std::optional(at->second) : std::nullopt;
}

void session_state_cache::record(const std::string& key, bool keeps_state) {
  std::lock_guard lock(mutex_);
  if (entries_.size() >= max_cache_entries) entries_.clear();
  entries_.insert_or_assign(key, keeps_state);
}

client::client(client_context& context, server_ptr target, ry_exec* exec)
    : context_(context), target_(std::move(target)), exec_(exec), created_us_(context.ctx.now_unix_us()) {}

client::~client() {
  sessions_.add(-1);
}

bool client::usable() const {
  return connection_ && !connection_->closed() && ready_ &&
         context_.transports.find(connection_->driver()->name) == connection_->driver();
}

void client::open(const std::string& driver) {
  auto transport = context_.transports.find(driver);
  if (!transport) {
    throw server_error(*target_, RY_UNAVAILABLE, "mcp.connect_failed",
                       "there is no transport named \"" + driver + "\" here");
  }
  sessions_.add(-1);
  sessions_ = {};
  ready_ = false;
  connection_.reset();
  connection_.emplace(context_.ctx, std::move(transport), target_, exec_, context_.max_message_bytes);
  connection_->set_common_headers(credentials_);
  sessions_ = context_.metrics.sessions(driver);
  sessions_.add(1);
  connection_->on_request([this](const json::value& id, const std::string& method, const json::value& params) {
    return handle_request(id, method, params);
  });
  connection_->on_notification(
      [this](const std::string& method, const json::value& params) { handle_notification(method, params); });
  if (context_.tools_changed) connection_->on_tools_changed([this] { context_.tools_changed(*target_); });
}

bool client::handle_request(const json::value& id, const std::string& method, const json::value& params) {
  const bool may_ask =
      target_->elicitation && revision_kind_ == protocol_revision::legacy && call_ != nullptr && call_->on_input;
  if (method != "elicitation/create" || !may_ask) return false;
  auto question = question_of(method, params);
  if (!question) {
    connection_->refuse(id, invalid_params, "This client does not support this mode of elicitation");
    return true;
  }
  if (open_questions_.size() >= max_input_requests) {
    connection_->respond(id, {{"action", "cancel"}});
    return true;
  }
  const auto key = std::to_string(next_question_++);
  (*question)["key"] = jv(key);
  open_questions_.emplace(key, open_question{id, text_of(params.get_object(), "elicitationId")});
  call_->on_input(json::array{std::move(*question)});
  return true;
}

void client::handle_notification(const std::string& method, const json::value& params) {
  const auto* o = params.if_object();
  if (o == nullptr || call_ == nullptr) return;
  if (method == "notifications/elicitation/complete" && call_->on_url_completed) {
    const auto id = text_of(*o, "elicitationId");
    for (const auto& [key, question] : open_questions_) {
      if (!id.empty() && question.elicitation == id) return call_->on_url_completed();
    }
  }
  if (method == "notifications/cancelled") {
    const auto* id = o->if_contains("requestId");
    if (id != nullptr) std::erase_if(open_questions_, [&](const auto& each) { return each.second.id == *id; });
  }
}

void client::answer_input(const json::array& answers) {
  for (const auto& each : answers) {
    const auto* answer = each.if_object();
    const auto at = answer != nullptr ? open_questions_.find(text_of(*answer, "key")) : open_questions_.end();
    if (at == open_questions_.end()) continue;
    if (connection_) connection_->respond(at->second.id, elicit_result(*answer));
    open_questions_.erase(at);
  }
}

void client::use_credentials_of(const server& s) {
  const auto resolved = s.resolved_json.empty() ? json::value() : parse(s.resolved_json);
  const auto* o = resolved.if_object();
  const auto authorization = o != nullptr ? text_of(*o, "authorization") : std::string();
  if (authorization.empty() || s.identity == target_->identity) return;
  credentials_ = {{"Authorization", authorization}};
  if (connection_) connection_->set_common_headers(credentials_);
}

void client::record_revision(protocol_revision kind) {
  revision_kind_ = kind;
  if (!pinned()) context_.revisions.record(target_->key, kind, context_.ctx.now_unix_us());
}

void client::fail(const reply& r, std::string_view operation, bool for_model) const {
  if (r.error.status() != RY_OK) throw r.error;
  const std::string name(operation);
  if (r.http_status / 100 != 2 && !r.http_body.empty()) {
    context_.ctx.warn("an MCP server refused a request", {{"server", target_->name},
                                                          {"request", name},
                                                          {"http_status", static_cast<std::int64_t>(r.http_status)},
                                                          {"body", valid_utf8(r.http_body, max_logged_body)}});
  }
  // Checked first, because servers may also report this as a JSON-RPC error.
  if (r.http_status == 401 || (r.http_status == 403 && (!r.answered || !r.authenticate.empty()))) {
    throw unauthorized_by(*target_, r.http_status, r.authenticate);
  }
  if (r.answered && r.failed) {
    const auto text = for_model ? " was refused: " + text_of_error(r.body)
                                : " was refused by the server (JSON-RPC error " + std::to_string(code_of(r.body)) + ")";
    throw server_error(*target_, RY_FAILED_PRECONDITION, "mcp.rpc", name + text).with_detail(json::serialize(r.body));
  }
  auto status = "HTTP status " + std::to_string(r.http_status);
  if (r.retry_after_s != 0) status += ", to be tried again after " + std::to_string(r.retry_after_s) + " s";
  if (r.http_status == 429 || r.http_status >= 500) {
    throw server_error(*target_, RY_UNAVAILABLE, "mcp.connect_failed", name + " failed: " + status);
  }
  throw server_error(*target_, RY_DATA_LOSS, "mcp.protocol_error", name + " failed: " + status);
}

json::value client::result_of(reply r, std::string_view operation, bool for_model) const {
  if (!r.answered || r.failed) fail(r, operation, for_model);
  const auto* o = r.body.if_object();
  if (o == nullptr) {
    throw server_error(*target_, RY_DATA_LOSS, "mcp.protocol_error",
                       std::string(operation) + " was not answered with an object");
  }
  const auto type = text_of(*o, "resultType");
  if (const auto* given = o->if_contains("resultType"); given != nullptr && !given->is_string()) {
    throw server_error(*target_, RY_DATA_LOSS, "mcp.protocol_error", "the server sent a result of an unknown type");
  }
  if (type == "input_required") {
    throw server_error(*target_, RY_FAILED_PRECONDITION, "mcp.input_required",
                       "the server asks for input that an agent cannot give");
  }
  if (!type.empty() && type != "complete") {
    throw server_error(*target_, RY_DATA_LOSS, "mcp.protocol_error", "the server sent a result of an unknown type");
  }
  return std::move(r.body);
}

ry::task<void> client::connect() {
  if (connection_ && ready_) {
    revision_from_cache_ = true;
    co_return;
  }
  open(target_->driver);
  const bool supports_modern = (connection_->capabilities() & RY_MCP_MODERN) != 0;
  if (pinned() &&
      (!is_revision_setting(target_->revision) || (target_->revision == modern_revision && !supports_modern))) {
    throw server_error(
        *target_, RY_INVALID_ARGUMENT, "mcp.refused",
        is_revision_setting(target_->revision)
            ? "config.revision: the transport " + target_->driver + " does not carry " + target_->revision
            : "config.revision must be one of " + revision_settings());
  }
  protocol_revision expected = protocol_revision::legacy;
  if (pinned()) {
    expected = target_->revision == modern_revision ? protocol_revision::modern : protocol_revision::legacy;
  } else if (supports_modern) {
    expected = context_.revisions.look_up(target_->key, context_.ctx.now_unix_us());
    revision_from_cache_ = expected != protocol_revision::unknown;
  }
  if (expected == protocol_revision::modern) {
    revision_kind_ = expected;
    record_session_state(false);
  } else if (expected == protocol_revision::legacy) {
    co_await initialize();
  } else {
    co_await probe_revision();
  }
  ready_ = true;
}

ry::task<void> client::probe_revision() {
  // A server that does not support server/discover may not respond, or may exit or end the exchange.
  const bool single_channel = (connection_->capabilities() & RY_MCP_EXCHANGES) == 0;
  revision_kind_ = protocol_revision::modern;
  revision_from_cache_ = false;
  reply r;
  bool silent = false;
  try {
    r = co_await within(context_.ctx, context_.probe_ms, ry::error(RY_DEADLINE_EXCEEDED, "mcp.silent", "silence"),
                        request_once("server/discover", {}, {}, {}, 0));
  } catch (const ry::error& e) {
    if (!e.is("mcp.silent")) throw;
    silent = true;
  }
  revision_verdict v;
  const auto st = r.error.status();
  const bool channel_closed = single_channel && connection_->closed() && st == RY_UNAVAILABLE;
  const bool no_message = !single_channel && r.http_status / 100 == 2 && (st == RY_UNAVAILABLE || st == RY_DATA_LOSS);
  if (silent || channel_closed || no_message) {
    v.outcome = revision_verdict::kind::legacy;
  } else {
    if (r.error.status() != RY_OK) fail(r, "server/discover");
    v = detect_revision({r.answered, r.failed, r.body, r.http_status});
  }
  switch (v.outcome) {
    case revision_verdict::kind::modern:
      if (r.answered && !r.failed && r.body.is_object()) store_server_info(r.body.get_object());
      record_revision(protocol_revision::modern);
      record_session_state(false);
      co_return;
    case revision_verdict::kind::legacy:
      // Some servers exit after an unknown message.
      if (connection_->closed()) open(target_->driver);
      revision_kind_ = protocol_revision::legacy;
      co_await initialize();
      co_return;
    case revision_verdict::kind::incompatible: {
      std::string all;
      for (const auto& s : v.offered) all += (all.empty() ? "" : ", ") + s;
      throw server_error(*target_, RY_DATA_LOSS, "mcp.protocol_error",
                         "the server supports only unknown protocol revisions: " + all);
    }
    case revision_verdict::kind::no_evidence:
      fail(r, "server/discover");
  }
}

ry::task<reply> client::send_initialize() {
  revision_kind_ = protocol_revision::legacy;
  negotiated_revision_.clear();
  request_options o;
  o.flags = RY_MCP_RESUMABLE;
  reply r = co_await send_with_retry(
      "initialize", initialize_params(context_.ctx.fact("version"), offered_legacy_revision(), target_->elicitation),
      std::move(o));
  co_return r;
}

std::string_view client::offered_legacy_revision() const {
  return is_legacy_revision(target_->revision) ? std::string_view(target_->revision) : newest_legacy;
}

// Reads the server's name, instructions and capabilities from a DiscoverResult or an InitializeResult.
void client::store_server_info(const json::object& result) {
  has_server_info_ = true;
  if (const auto* c = object_at(result, "capabilities")) server_capabilities_ = *c;
  instructions_ = valid_utf8(text_of(result, "instructions"), max_instructions);
  const auto* info = object_at(result, "serverInfo");
  if (const auto* meta = object_at(result, "_meta"); info == nullptr && meta != nullptr) {
    info = object_at(*meta, "io.modelcontextprotocol/serverInfo");
  }
  if (info != nullptr) server_name_ = text_of(*info, "name");
}

ry::task<void> client::initialize() {
  reply r = co_await send_initialize();
  const bool refused = r.http_status == 400 || r.http_status == 404 || r.http_status == 405;
  const bool may_be_modern = !pinned() && (connection_->capabilities() & RY_MCP_MODERN) != 0;
  // A modern error identifies a modern server: it was too slow for the probe, or has been upgraded.
  if (may_be_modern && r.answered && r.failed && is_modern_error(code_of(r.body))) {
    const auto v = detect_revision({r.answered, r.failed, r.body, r.http_status});
    if (v.outcome == revision_verdict::kind::modern) {
      record_revision(protocol_revision::modern);
      record_session_state(false);
      co_return;
    }
  }
  // A server that only supports HTTP+SSE (revision 2024-11-05) rejects the POST with one of these statuses.
  if (refused && target_->driver == "http" && context_.transports.find("sse")) {
    open("sse");
    reply older = co_await send_initialize();
    if (older.answered || older.error.status() == RY_DEADLINE_EXCEEDED) r = std::move(older);
  }
  // The cached revision may be out of date.
  const bool still_refused =
      r.http_status / 100 == 4 && r.http_status != 401 && r.http_status != 403 && r.http_status != 429;
  if (may_be_modern && revision_from_cache_ && !(r.answered && !r.failed) && (still_refused || r.answered)) {
    context_.revisions.forget(target_->key);
    if (connection_->driver()->name != target_->driver || connection_->closed()) open(target_->driver);
    co_await probe_revision();
    co_return;
  }
  const auto result = result_of(std::move(r), "initialize");
  const auto& o = result.get_object();
  negotiated_revision_ = text_of(o, "protocolVersion");
  if (!is_legacy_revision(negotiated_revision_)) {
    throw server_error(*target_, RY_DATA_LOSS, "mcp.protocol_error",
                       "the server chose an unknown protocol revision: " + negotiated_revision_.substr(0, 32));
  }
  store_server_info(o);
  record_revision(protocol_revision::legacy);
  const ry::headers fields{{"MCP-Protocol-Version", negotiated_revision_}};
  connection_->set_response_headers(fields);
  // A local program reads messages in the order in which they were sent.
  if ((connection_->capabilities() & RY_MCP_LOCAL) != 0) {
    connection_->send_notification("notifications/initialized", {}, fields);
    record_session_state(true);
    co_return;
  }
  // The notification has no response, and some servers leave the exchange open. Whether there is a session is then
  // unknown.
  try {
    const auto outcome =
        co_await within(context_.ctx, context_.probe_ms, ry::error(RY_DEADLINE_EXCEEDED, "mcp.silent", "silence"),
                        connection_->notify("notifications/initialized", {}, fields));
    record_session_state((outcome & RY_MCP_IN_SESSION) != 0);
  } catch (const ry::error& e) {
    if (!e.is("mcp.silent")) throw;
    record_session_state(true);
  }
}

ry::task<reply> client::request_once(std::string method, json::object params, std::string name, ry::headers fields,
                                     std::uint32_t flags) {
  request_options o;
  o.fields = std::move(fields);
  o.flags = flags;
  if (revision_kind_ == protocol_revision::modern) {
    params["_meta"] = modern_meta(context_.ctx.fact("version"), target_->tasks, target_->elicitation);
    o.fields.emplace_back("MCP-Protocol-Version", std::string(modern_revision));
    o.fields.emplace_back("Mcp-Method", method);
    if (!name.empty()) o.fields.emplace_back("Mcp-Name", header_value(name));
    // If the probe fails, `initialize` must be the next message, so the cancellation of the probe is not announced.
    const bool notifies_cancellation =
        (connection_->capabilities() & RY_MCP_EXCHANGES) == 0 && method != "server/discover";
    if (notifies_cancellation) o.cancel = request_options::on_cancel::notify;
  } else {
    o.fields.emplace_back("MCP-Protocol-Version", negotiated_revision_);
    o.flags |= RY_MCP_RESUMABLE;
    o.cancel = request_options::on_cancel::notify;
  }
  if (method == "tools/call") o.on_progress = on_progress_;
  reply r = co_await send_with_retry(std::move(method), std::move(params), std::move(o));
  unsent_ = r.unsent;
  co_return r;
}

void client::record_session_state(bool has_session_id) {
  const bool single_channel = (connection_->capabilities() & RY_MCP_EXCHANGES) == 0;
  keeps_state_ = single_channel || has_session_id;
  context_.session_states.record(target_->key, keeps_state_);
}

// Sends a request. A request rejected with 429 was not processed, so it is sent again after the time in Retry-After.
ry::task<reply> client::send_with_retry(std::string method, json::object params, request_options options) {
  reply r = co_await connection_->request(method, params, options);
  const bool retry = r.http_status == 429 && !r.answered && r.error.status() == RY_OK && r.retry_after_s != 0 &&
                     r.retry_after_s <= max_retry_after_s && !connection_->closed();
  if (!retry) co_return r;
  (co_await context_.ctx.sleep(r.retry_after_s * 1000ULL)).value();
  reply second = co_await connection_->request(std::move(method), std::move(params), std::move(options));
  co_return second;
}

// Sends a request, and recovers from an outdated cached revision or an expired session.
ry::task<reply> client::request(std::string method, json::object params, std::string name, ry::headers fields,
                                std::uint32_t flags) {
  reply r = co_await request_once(method, params, name, fields, flags);
  if (revision_kind_ == protocol_revision::modern) {
    if (r.answered && !r.failed) co_return r;
    const auto v = detect_revision({r.answered, r.failed, r.body, r.http_status});
    // A tools/call that failed with neither a 4xx nor an unknown method may have been processed.
    const bool unknown_method = r.answered && code_of(r.body) == method_not_found;
    const bool not_processed = r.http_status / 100 == 4 || unknown_method || method != "tools/call";
    const bool disproved = (v.outcome == revision_verdict::kind::legacy && not_processed) ||
                           (r.answered && code_of(r.body) == unsupported_revision);
    if (disproved && !pinned()) context_.revisions.forget(target_->key);
    if (disproved && revision_from_cache_ && !pinned()) {
      try {
        fail(r, "the request", method == "tools/call");
      } catch (const ry::error& e) {
        last_error_ = e;
      }
      throw server_error(*target_, RY_ABORTED, "mcp.revision_changed",
                         "the server no longer supports the protocol revision that it used before");
    }
    co_return r;
  }
  const bool expired = (r.outcome_flags & RY_MCP_IN_SESSION) != 0 &&
                       (r.http_status == 404 || (r.http_status == 400 && mentions_session(r.http_body)));
  if (!expired) co_return r;
  context_.metrics.session_retries.add();
  if (on_session_replaced_) on_session_replaced_();
  open(target_->driver);
  co_await initialize();
  ready_ = true;
  reply repeated =
      co_await request_once(std::move(method), std::move(params), std::move(name), std::move(fields), flags);
  co_return repeated;
}

ry::task<tool_list> client::list_tools() {
  co_await connect();
  auto limits = context_.limits;
  limits.task_calls =
      target_->tasks && (revision_kind_ == protocol_revision::modern || offers_task_calls(server_capabilities_));
  tool_collector pages(limits);
  if (revision_kind_ == protocol_revision::legacy && !server_capabilities_.contains("tools")) co_return pages.finish();
  std::optional<std::string> cursor;
  do {
    json::object params;
    if (cursor) params["cursor"] = *cursor;
    reply r = co_await request("tools/list", std::move(params), {}, {}, 0);
    // The server has no tools. If it declares the capability, the error is reported.
    if (r.answered && r.failed && code_of(r.body) == method_not_found && !cursor &&
        !server_capabilities_.contains("tools")) {
      break;
    }
    const auto page = result_of(std::move(r), "tools/list");
    try {
      cursor = pages.add_page(page);
    } catch (const ry::error& e) {
      throw server_error(*target_, RY_DATA_LOSS, "mcp.protocol_error", e.message());
    }
  } while (cursor);
  auto list = pages.finish();
  list.server_name = server_name_;
  list.instructions = instructions_;
  list.has_resources = server_capabilities_.contains("resources");
  list.has_server_info = has_server_info_;
  co_return list;
}

// The questions with which a call has returned.
std::optional<suspended_call> client::suspended_by(const reply& r, const call_options& options) const {
  if (!target_->elicitation || !options.on_suspended || !r.answered) return std::nullopt;
  return r.failed ? questions_in_error(r.body) : questions_in(r.body);
}

ry::task<json::value> client::call_tool(std::string name, json::object arguments, const call_options& options) {
  on_progress_ = options.on_progress;
  const current_call current{*this, options};
  co_await connect();
  if (fallback_error_ && revision_kind_ == protocol_revision::modern) throw *fallback_error_;
  ry::headers fields;
  if (revision_kind_ == protocol_revision::modern) {
    for (auto& [header, value] : mirror_arguments(options.mirrored, arguments)) {
      fields.emplace_back(header, value);
    }
  }
  json::object params;
  params["name"] = name;
  params["arguments"] = std::move(arguments);
  const bool as_task = target_->tasks && revision_kind_ == protocol_revision::legacy &&
                       options.as_task != task_support::forbidden && offers_task_calls(server_capabilities_);
  if (as_task) params["task"] = json::object{{"ttl", options.requested_task_ttl_ms}};
  const std::string operation = "the call of " + name;
  const std::uint32_t last_flag = target_->reuse || as_task ? 0 : RY_MCP_LAST;
  auto next = params;
  for (const auto& member : options.continued) next[member.key()] = member.value();
  for (int round = 1;; ++round) {
    reply r = co_await request("tools/call", std::move(next), name, fields, last_flag);
    if (r.answered && !r.failed && is_created_task(r.body)) {
      auto task = read_task(r.body);
      if (!task) {
        throw server_error(*target_, RY_DATA_LOSS, "mcp.protocol_error",
                           operation + " was answered with an invalid task");
      }
      if (options.on_task) co_await options.on_task(*task);
      auto result = co_await wait_for_task_result(operation, std::move(*task), options);
      co_return result;
    }
    auto suspended = suspended_by(r, options);
    if (suspended) {
      options.on_suspended(std::move(*suspended));
      co_return json::value();
    }
    auto responses = r.answered && !r.failed && round < max_elicitation_rounds ? responses_to(r.body) : std::nullopt;
    if (!responses) co_return result_of(std::move(r), operation, true);
    next = params;
    for (auto& member : *responses) next[member.key()] = std::move(member.value());
  }
}

}  // namespace mcp
