#include "client.hpp"

#include "deadline.hpp"
#include "input.hpp"
#include "text.hpp"

namespace mcp {
namespace {

constexpr std::int64_t modern_verdict_us = 24LL * 3600 * 1'000'000;
constexpr std::int64_t legacy_verdict_us = 3600LL * 1'000'000;
constexpr std::size_t max_verdicts = 10'000;

constexpr std::uint32_t longest_retry_after_s = 5;
constexpr std::size_t max_logged_body = 1000;
constexpr std::size_t max_instructions = 16 * 1024;

bool says_session(std::string_view body) {
  return body.find("ession") != std::string_view::npos;
}

}  // namespace

protocol_revision revision_cache::look_up(const std::string& key, std::int64_t now_us) const {
  std::lock_guard lock(mutex_);
  const auto at = entries_.find(key);
  return at != entries_.end() && at->second.until_us > now_us ? at->second.e : protocol_revision::unknown;
}

void revision_cache::note(const std::string& key, protocol_revision e, std::int64_t now_us) {
  std::lock_guard lock(mutex_);
  if (entries_.size() >= max_verdicts) entries_.clear();
  const auto life = e == protocol_revision::modern ? modern_verdict_us : legacy_verdict_us;
  entries_.insert_or_assign(key, entry{e, now_us + life});
}

void revision_cache::forget(const std::string& key) {
  std::lock_guard lock(mutex_);
  entries_.erase(key);
}

std::optional<bool> session_book::look_up(const std::string& key) const {
  std::lock_guard lock(mutex_);
  const auto at = entries_.find(key);
  return at != entries_.end() ? std::optional(at->second) : std::nullopt;
}

void session_book::note(const std::string& key, bool keeps) {
  std::lock_guard lock(mutex_);
  if (entries_.size() >= max_verdicts) entries_.clear();
  entries_.insert_or_assign(key, keeps);
}

client::client(client_context& context, server_ptr to, ry_exec* exec)
    : context_(context), to_(std::move(to)), exec_(exec), born_us_(context.ctx.now_unix_us()) {}

client::~client() {
  sessions_.add(-1);
}

bool client::usable() const {
  return link_ && !link_->closed() && ready_ && context_.transports.find(link_->driver()->name) == link_->driver();
}

void client::open(const std::string& driver) {
  auto found = context_.transports.find(driver);
  if (!found) {
    throw trouble_with(*to_, RY_UNAVAILABLE, "mcp.connect_failed",
                       "there is no transport named \"" + driver + "\" here");
  }
  sessions_.add(-1);
  sessions_ = {};
  ready_ = false;
  link_.reset();
  link_.emplace(context_.ctx, std::move(found), to_, exec_, context_.max_message_bytes);
  link_->always_headers(credentials_);
  sessions_ = context_.count.sessions(driver);
  sessions_.add(1);
  if (context_.tools_changed) link_->when_tools_change([this] { context_.tools_changed(*to_); });
}

void client::use_credentials_of(const server& s) {
  const auto named = s.named_json.empty() ? json::value() : parse(s.named_json);
  const auto* o = named.if_object();
  const auto authorization = o != nullptr ? text_of(*o, "authorization") : std::string();
  if (authorization.empty() || s.identity == to_->identity) return;
  credentials_ = {{"Authorization", authorization}};
  if (link_) link_->always_headers(credentials_);
}

void client::note(protocol_revision e) {
  family_ = e;
  if (!pinned()) context_.revisions.note(to_->key, e, context_.ctx.now_unix_us());
}

void client::fail(const reply& r, std::string_view doing, bool for_model) const {
  if (r.trouble.status() != RY_OK) throw r.trouble;
  const std::string what(doing);
  if (r.http_status / 100 != 2 && !r.http_body.empty()) {
    context_.ctx.warn("an MCP server refused a request", {{"server", to_->name},
                                                          {"request", what},
                                                          {"http_status", static_cast<std::int64_t>(r.http_status)},
                                                          {"body", clean(r.http_body, max_logged_body)}});
  }
  // Also if the server reports it as a JSON-RPC error.
  if (r.http_status == 401 || (r.http_status == 403 && (!r.answered || !r.authenticate.empty()))) {
    throw unauthorized_by(*to_, r.http_status, r.authenticate);
  }
  if (r.answered && r.failed) {
    const auto text = for_model ? " was refused: " + text_of_error(r.body)
                                : " was refused by the server (JSON-RPC error " + std::to_string(code_of(r.body)) + ")";
    throw trouble_with(*to_, RY_FAILED_PRECONDITION, "mcp.rpc", what + text).with_detail(json::serialize(r.body));
  }
  auto status = "HTTP status " + std::to_string(r.http_status);
  if (r.retry_after_s != 0) status += ", to be tried again after " + std::to_string(r.retry_after_s) + " s";
  if (r.http_status == 429 || r.http_status >= 500) {
    throw trouble_with(*to_, RY_UNAVAILABLE, "mcp.connect_failed", what + " failed: " + status);
  }
  throw trouble_with(*to_, RY_DATA_LOSS, "mcp.protocol_error", what + " failed: " + status);
}

json::value client::result_of(reply r, std::string_view doing, bool for_model) const {
  if (!r.answered || r.failed) fail(r, doing, for_model);
  const auto* o = r.body.if_object();
  if (o == nullptr) {
    throw trouble_with(*to_, RY_DATA_LOSS, "mcp.protocol_error",
                       std::string(doing) + " was not answered with an object");
  }
  const auto type = text_of(*o, "resultType");
  if (const auto* given = o->if_contains("resultType"); given != nullptr && !given->is_string()) {
    throw trouble_with(*to_, RY_DATA_LOSS, "mcp.protocol_error", "the server sent a result of an unknown type");
  }
  if (type == "input_required") {
    throw trouble_with(*to_, RY_FAILED_PRECONDITION, "mcp.input_required",
                       "the server asks for input that an agent cannot give");
  }
  if (!type.empty() && type != "complete") {
    throw trouble_with(*to_, RY_DATA_LOSS, "mcp.protocol_error", "the server sent a result of an unknown type");
  }
  return std::move(r.body);
}

ry::task<void> client::connect() {
  if (link_ && ready_) {
    from_book_ = true;
    co_return;
  }
  open(to_->driver);
  const bool able = (link_->capabilities() & RY_MCP_MODERN) != 0;
  if (pinned() && (!is_revision_setting(to_->revision) || (to_->revision == modern_revision && !able))) {
    throw trouble_with(*to_, RY_INVALID_ARGUMENT, "mcp.refused",
                       is_revision_setting(to_->revision)
                           ? "config.revision: the transport " + to_->driver + " does not carry " + to_->revision
                           : "config.revision must be one of " + revision_settings());
  }
  protocol_revision known = protocol_revision::legacy;
  if (pinned()) {
    known = to_->revision == modern_revision ? protocol_revision::modern : protocol_revision::legacy;
  } else if (able) {
    known = context_.revisions.look_up(to_->key, context_.ctx.now_unix_us());
    from_book_ = known != protocol_revision::unknown;
  }
  if (known == protocol_revision::modern) {
    family_ = known;
    note_session(false);
  } else if (known == protocol_revision::legacy) {
    co_await initialize();
  } else {
    co_await probe_revision();
  }
  ready_ = true;
}

ry::task<void> client::probe_revision() {
  // A server that does not know server/discover may stay silent, or end the program or the exchange.
  const bool channel = (link_->capabilities() & RY_MCP_EXCHANGES) == 0;
  family_ = protocol_revision::modern;
  from_book_ = false;
  reply r;
  bool silent = false;
  try {
    r = co_await within(context_.ctx, context_.probe_ms, ry::error(RY_DEADLINE_EXCEEDED, "mcp.silent", "silence"),
                        exchange("server/discover", {}, {}, {}, 0));
  } catch (const ry::error& e) {
    if (!e.is("mcp.silent")) throw;
    silent = true;
  }
  verdict v;
  const auto st = r.trouble.status();
  const bool gone = channel && link_->closed() && st == RY_UNAVAILABLE;
  const bool no_message = !channel && r.http_status / 100 == 2 && (st == RY_UNAVAILABLE || st == RY_DATA_LOSS);
  if (silent || gone || no_message) {
    v.what = verdict::kind::legacy;
  } else {
    if (r.trouble.status() != RY_OK) fail(r, "server/discover");
    v = judge({r.answered, r.failed, r.body, r.http_status});
  }
  switch (v.what) {
    case verdict::kind::modern:
      if (r.answered && !r.failed && r.body.is_object()) introduce(r.body.get_object());
      note(protocol_revision::modern);
      note_session(false);
      co_return;
    case verdict::kind::legacy:
      // Some servers exit after a message that they do not know.
      if (link_->closed()) open(to_->driver);
      family_ = protocol_revision::legacy;
      co_await initialize();
      co_return;
    case verdict::kind::incompatible: {
      std::string all;
      for (const auto& s : v.offered) all += (all.empty() ? "" : ", ") + s;
      throw trouble_with(*to_, RY_DATA_LOSS, "mcp.protocol_error",
                         "the server supports only unknown protocol revisions: " + all);
    }
    case verdict::kind::no_evidence:
      fail(r, "server/discover");
  }
}

ry::task<reply> client::first_initialize() {
  family_ = protocol_revision::legacy;
  revision_.clear();
  request_options o;
  o.bits = RY_MCP_RESUMABLE;
  reply r = co_await send("initialize", initialize_params(context_.ctx.fact("version"), wanted_legacy()), std::move(o));
  co_return r;
}

std::string_view client::wanted_legacy() const {
  return is_legacy_revision(to_->revision) ? std::string_view(to_->revision) : newest_legacy;
}

// Reads the server's name, instructions and capabilities from a DiscoverResult or an InitializeResult.
void client::introduce(const json::object& result) {
  introduced_ = true;
  if (const auto* c = object_at(result, "capabilities")) server_capabilities_ = *c;
  instructions_ = clean(text_of(result, "instructions"), max_instructions);
  const auto* info = object_at(result, "serverInfo");
  if (const auto* meta = object_at(result, "_meta"); info == nullptr && meta != nullptr) {
    info = object_at(*meta, "io.modelcontextprotocol/serverInfo");
  }
  if (info != nullptr) server_name_ = text_of(*info, "name");
}

ry::task<void> client::initialize() {
  reply r = co_await first_initialize();
  const bool refused = r.http_status == 400 || r.http_status == 404 || r.http_status == 405;
  const bool able = !pinned() && (link_->capabilities() & RY_MCP_MODERN) != 0;
  // A modern error identifies a modern server: it was too slow for the probe, or was upgraded since.
  if (able && r.answered && r.failed && is_modern_error(code_of(r.body))) {
    const auto v = judge({r.answered, r.failed, r.body, r.http_status});
    if (v.what == verdict::kind::modern) {
      note(protocol_revision::modern);
      note_session(false);
      co_return;
    }
  }
  // A server of revision 2024-11-05 rejects the POST like a page that does not exist.
  if (refused && to_->driver == "http" && context_.transports.find("sse")) {
    open("sse");
    reply older = co_await first_initialize();
    if (older.answered || older.trouble.status() == RY_DEADLINE_EXCEEDED) r = std::move(older);
  }
  // The cached revision may be out of date.
  const bool still_refused =
      r.http_status / 100 == 4 && r.http_status != 401 && r.http_status != 403 && r.http_status != 429;
  if (able && from_book_ && !(r.answered && !r.failed) && (still_refused || r.answered)) {
    context_.revisions.forget(to_->key);
    if (link_->driver()->name != to_->driver || link_->closed()) open(to_->driver);
    co_await probe_revision();
    co_return;
  }
  const auto result = result_of(std::move(r), "initialize");
  const auto& o = result.get_object();
  revision_ = text_of(o, "protocolVersion");
  if (!is_legacy_revision(revision_)) {
    throw trouble_with(*to_, RY_DATA_LOSS, "mcp.protocol_error",
                       "the server chose an unknown protocol revision: " + revision_.substr(0, 32));
  }
  introduce(o);
  note(protocol_revision::legacy);
  const ry::headers fields{{"MCP-Protocol-Version", revision_}};
  link_->answer_headers(fields);
  // A local program reads messages in the order in which they were sent.
  if ((link_->capabilities() & RY_MCP_LOCAL) != 0) {
    link_->send_notification("notifications/initialized", {}, fields);
    note_session(true);
    co_return;
  }
  // The notification has no response, and some servers leave the exchange open. Then it is unknown whether there is a
  // session.
  try {
    const auto flags =
        co_await within(context_.ctx, context_.probe_ms, ry::error(RY_DEADLINE_EXCEEDED, "mcp.silent", "silence"),
                        link_->notify("notifications/initialized", {}, fields));
    note_session((flags & RY_MCP_IN_SESSION) != 0);
  } catch (const ry::error& e) {
    if (!e.is("mcp.silent")) throw;
    note_session(true);
  }
}

ry::task<reply> client::exchange(std::string method, json::object params, std::string name, ry::headers fields,
                                 std::uint32_t bits) {
  request_options o;
  o.fields = std::move(fields);
  o.bits = bits;
  if (family_ == protocol_revision::modern) {
    params["_meta"] = modern_meta(context_.ctx.fact("version"), to_->tasks);
    o.fields.emplace_back("MCP-Protocol-Version", std::string(modern_revision));
    o.fields.emplace_back("Mcp-Method", method);
    if (!name.empty()) o.fields.emplace_back("Mcp-Name", header_value(name));
    // Nothing else may precede `initialize`, which may follow the probe.
    const bool may_tell = (link_->capabilities() & RY_MCP_EXCHANGES) == 0 && method != "server/discover";
    if (may_tell) o.cancel = request_options::on_cancel::notify;
  } else {
    o.fields.emplace_back("MCP-Protocol-Version", revision_);
    o.bits |= RY_MCP_RESUMABLE;
    o.cancel = request_options::on_cancel::notify;
  }
  if (method == "tools/call") o.on_progress = on_progress_;
  reply r = co_await send(std::move(method), std::move(params), std::move(o));
  unsent_ = r.unsent;
  co_return r;
}

void client::note_session(bool named) {
  const bool channel = (link_->capabilities() & RY_MCP_EXCHANGES) == 0;
  keeps_state_ = channel || named;
  context_.sessions.note(to_->key, keeps_state_);
}

// Sends a request. A request rejected with 429 was not processed, so it is sent again after the time in Retry-After.
ry::task<reply> client::send(std::string method, json::object params, request_options options) {
  reply r = co_await link_->request(method, params, options);
  const bool again = r.http_status == 429 && !r.answered && r.trouble.status() == RY_OK && r.retry_after_s != 0 &&
                     r.retry_after_s <= longest_retry_after_s && !link_->closed();
  if (!again) co_return r;
  (co_await context_.ctx.sleep(r.retry_after_s * 1000ULL)).value();
  reply second = co_await link_->request(std::move(method), std::move(params), std::move(options));
  co_return second;
}

// Sends a request, and recovers from an outdated cached revision or an expired session.
ry::task<reply> client::ask(std::string method, json::object params, std::string name, ry::headers fields,
                            std::uint32_t bits) {
  reply r = co_await exchange(method, params, name, fields, bits);
  if (family_ == protocol_revision::modern) {
    if (r.answered && !r.failed) co_return r;
    const auto v = judge({r.answered, r.failed, r.body, r.http_status});
    // After any other failure of a call, the server may have processed a part of it.
    const bool unknown_method = r.answered && code_of(r.body) == method_not_found;
    const bool not_done = r.http_status / 100 == 4 || unknown_method || method != "tools/call";
    const bool disproved =
        (v.what == verdict::kind::legacy && not_done) || (r.answered && code_of(r.body) == unsupported_revision);
    if (disproved && !pinned()) context_.revisions.forget(to_->key);
    if (disproved && from_book_ && !pinned()) {
      try {
        fail(r, "the request", method == "tools/call");
      } catch (const ry::error& e) {
        said_ = e;
      }
      throw trouble_with(*to_, RY_ABORTED, "mcp.era_changed",
                         "the server no longer supports the protocol revision that it used before");
    }
    co_return r;
  }
  const bool expired = (r.outcome_flags & RY_MCP_IN_SESSION) != 0 &&
                       (r.http_status == 404 || (r.http_status == 400 && says_session(r.http_body)));
  if (!expired) co_return r;
  context_.count.session.add();
  if (on_restart_) on_restart_();
  open(to_->driver);
  co_await initialize();
  ready_ = true;
  reply again = co_await exchange(std::move(method), std::move(params), std::move(name), std::move(fields), bits);
  co_return again;
}

ry::task<tool_list> client::list_tools() {
  co_await connect();
  auto limits = context_.limits;
  limits.task_calls = to_->tasks && (family_ == protocol_revision::modern || offers_task_calls(server_capabilities_));
  tool_collector pages(limits);
  if (family_ == protocol_revision::legacy && !server_capabilities_.contains("tools")) co_return pages.finish();
  std::optional<std::string> cursor;
  do {
    json::object params;
    if (cursor) params["cursor"] = *cursor;
    reply r = co_await ask("tools/list", std::move(params), {}, {}, 0);
    // A server without tools. A server that has tools declares the capability; its list is complete or an error.
    if (r.answered && r.failed && code_of(r.body) == method_not_found && !cursor &&
        !server_capabilities_.contains("tools")) {
      break;
    }
    const auto page = result_of(std::move(r), "tools/list");
    try {
      cursor = pages.add_page(page);
    } catch (const ry::error& e) {
      throw trouble_with(*to_, RY_DATA_LOSS, "mcp.protocol_error", e.message());
    }
  } while (cursor);
  auto list = pages.finish();
  list.server_name = server_name_;
  list.instructions = instructions_;
  list.has_resources = server_capabilities_.contains("resources");
  list.introduced = introduced_;
  co_return list;
}

ry::task<json::value> client::call_tool(std::string name, json::object arguments, const call_options& options) {
  on_progress_ = options.on_progress;
  co_await connect();
  if (doubted_ && family_ == protocol_revision::modern) throw *doubted_;
  ry::headers fields;
  if (family_ == protocol_revision::modern) {
    for (auto& [header, value] : mirror_arguments(options.mirrored, arguments)) {
      fields.emplace_back(header, value);
    }
  }
  json::object params;
  params["name"] = name;
  params["arguments"] = std::move(arguments);
  const bool as_task = to_->tasks && family_ == protocol_revision::legacy &&
                       options.as_task != task_support::forbidden && offers_task_calls(server_capabilities_);
  if (as_task) params["task"] = json::object{{"ttl", options.task_life_ms}};
  const std::string shown = "the call of " + name;
  const std::uint32_t last = to_->reuse || as_task ? 0 : RY_MCP_LAST;
  auto next = params;
  for (int rounds = 1;; ++rounds) {
    reply r = co_await ask("tools/call", std::move(next), name, fields, last);
    if (r.answered && !r.failed && is_created_task(r.body)) {
      auto made = read_task(r.body);
      if (!made) {
        throw trouble_with(*to_, RY_DATA_LOSS, "mcp.protocol_error", shown + " was answered with an invalid task");
      }
      if (options.on_task) co_await options.on_task(*made);
      auto result = co_await result_of_task(shown, std::move(*made), options);
      co_return result;
    }
    auto answers = r.answered && !r.failed && rounds < max_rounds ? answers_to(r.body) : std::nullopt;
    if (!answers) co_return result_of(std::move(r), shown, true);
    next = params;
    for (auto& member : *answers) next[member.key()] = std::move(member.value());
  }
}

}  // namespace mcp
