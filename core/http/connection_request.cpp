// Takes a request from its head to its handler, and the answer to the socket.
#include <algorithm>
#include <ctime>

#include "core/exec/blocking_pool.hpp"
#include "core/http/answer.hpp"
#include "core/http/connection.hpp"
#include "core/http/uri.hpp"
#include "core/observe/log.hpp"
#include "core/observe/open_span.hpp"
#include "core/observe/tracer.hpp"
#include "without_protection.hpp"

namespace ry::http::serving {

namespace {

std::int64_t unix_us() noexcept {
  timespec ts{};
  ::clock_gettime(CLOCK_REALTIME, &ts);
  return static_cast<std::int64_t>(ts.tv_sec) * 1'000'000 + ts.tv_nsec / 1000;
}

bool sane_request_id(std::string_view s) noexcept {
  if (s.empty() || s.size() > 64) return false;
  return std::all_of(s.begin(), s.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           c == '.';
  });
}

std::string_view bearer_of(std::string_view authorization) noexcept {
  if (authorization.size() < 8 || !iequals(authorization.substr(0, 7), "bearer ")) return {};
  authorization.remove_prefix(7);
  while (!authorization.empty() && authorization.front() == ' ') authorization.remove_prefix(1);
  return authorization;
}

bool header_name_list(std::string_view s) noexcept {
  return !s.empty() && s.size() <= 1024 && std::all_of(s.begin(), s.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           c == ',' || c == ' ';
  });
}

// For log and metrics only; a client that closed just its sending side receives 503.
constexpr std::uint32_t client_left = 499;

constexpr std::string_view json_type = "Content-Type: application/json\r\n";

}  // namespace

// ---- head

bool connection::read_head() {
  if (eof_ && cur_.empty()) closing_ = true;
  if (closing_ || cur_.empty() || out_.size() - sent_ > max_backlog) return false;
  // Some clients send an empty line after a body.
  if (cur_.front() == '\r') {
    if (cur_.size() == 1) return false;
    if (cur_[1] == '\n') {
      cur_.remove_prefix(2);
      return true;
    }
  }
  const auto n = scanner_.scan(cur_, w_.shared.limits);
  if (const auto refused = scanner_.refused()) {
    keep_ = false;
    worker::add(w_.count.parse_errors);
    fail_head(refused.status, refused.detail, cur_);
    return false;
  }
  if (n == 0) {
    const auto latest = clock::now() + head_time();
    if (in_.empty() || head_due_ > latest) {
      head_due_ = latest;
      due(head_due_);
    }
    return false;
  }
  scanner_.reset();
  const auto head = cur_.substr(0, n);
  cur_.remove_prefix(n);
  begin_request(head);
  return true;
}

void connection::begin_request(std::string_view head) {
  fresh_ = false;
  worker::add(w_.count.requests);
  ex_ = &w_.take_slot();
  ex_->conn = this;
  auto& d = *ex_->data;
  d.start = clock::now();
  d.head.assign(head);
  parser_.emplace();
  const auto refused = parser_->parse_head(d.head, d.headers, d.info);
  if (!refused && sane_request_id(d.info.request_id))
    d.request_id = d.info.request_id;
  else
    d.request_id = w_.new_request_id();
  head_method_ = d.info.method == "HEAD";
  keep_ = d.info.keep_alive && !refused;
  expect_ = !d.info.expect.empty() && d.info.version == 11 && d.info.has_body;
  body_armed_ = {};
  body_waited_ = {};
  body_before_ = 0;
  body_due_ = clock::time_point::max();
  request_due_ = clock::time_point::max();
  if (refused) {
    worker::add(w_.count.parse_errors);
    return fail_head(refused.status, refused.detail, d.head);
  }
  if (admitted_as != admission::served) keep_ = false;
  if (admitted_as == admission::too_many) {
    d.path = first_line(d.head).path;
    return fail(too_many_connections());
  }
  route_request();
}

void connection::route_request() {
  auto& d = *ex_->data;
  const auto target = split_target(d.info.target);
  if (!target || (target->path == "*" && d.info.method != "OPTIONS")) return fail(400, "Bad request target");
  if (d.info.target.size() > w_.shared.limits.target_bytes) return fail(414, "Request target too long");
  d.path = target->path;
  d.raw_query = target->query;
  d.remote = client_address(w_.shared.trusted, peer_, d.info.forwarded_for);
  d.table = w_.table;
  if (d.info.method == "OPTIONS" && preflight()) return;
  auto match = d.table->match(d.info.method, d.path, d.values);
  switch (match.outcome) {
    case match_outcome::found:
      break;
    case match_outcome::no_path:
      return fail(404, "Not Found");
    case match_outcome::bad_encoding:
      return fail(400, "Bad request target");
    case match_outcome::bad_text:
      return fail(422, std::string(match.parameter) + " must be UTF-8");
    case match_outcome::wrong_method:
      return fail(405, "Method Not Allowed", "Allow: " + match.allow + "\r\n");
  }
  d.route = match.route;
  d.path = match.path;
  ex_->hold = module::hold(d.route->def.owner);
  if (w_.shared.own_site.is_checked() && foreign()) return;
  begin_trace();
  // A browser's EventSource stops for good at any status other than 200, but reconnects when the connection breaks.
  if (admitted_as == admission::draining && d.route->has(RY_ROUTE_LONG)) return cut(RY_REASON_SHUTDOWN);
  if (admitted_as == admission::draining && !d.route->host)
    return fail(503, "The server is stopping", "Retry-After: 1\r\n");
  auto* gate = w_.shared.r.gate;
  if (gate && !d.route->host && !within(gate->by_address(d.remote))) return;
  authenticate();
}

// Traces module routes only; health checks and metrics scrapes are noise.
void connection::begin_trace() {
  auto* tracer = w_.shared.r.tracer;
  auto& d = *ex_->data;
  if (!tracer || d.route->host) return;
  std::optional<observe::trace_parent> parent;
  std::string state;
  if (!d.info.traceparent.empty()) {
    using callers = observe::trace_settings::callers;
    const auto accept = tracer->settings().accept;
    if (accept == callers::all || (accept == callers::trusted_proxies && w_.shared.trusted.contains(peer_)))
      if (d.info.traceparents == 1) parent = observe::parse_traceparent(d.info.traceparent);
  }
  if (parent && d.info.tracestates != 0) {
    for (const auto& h : d.headers)
      if (iequals(core::sv(h.name), "tracestate")) (state += state.empty() ? "" : ",") += core::sv(h.value);
    if (!observe::sound_tracestate(state)) state.clear();
  }
  ex_->trace = tracer->begin(parent, state);
  if (!ex_->trace) return;
  d.traceparent = observe::traceparent_of(*ex_->trace);
  ex_->span = observe::open_span::of(ex_->trace, observe::span_kind::server);
  if (!ex_->span) return;
  ex_->span.name(d.route->def.method + " " + d.route->def.pattern);
  ex_->span.set("http.request.method", std::string(d.info.method));
  ex_->span.set("http.route", d.route->def.pattern);
  ex_->span.set("url.scheme", std::string(w_.shared.uses_tls() ? "https" : "http"));
  ex_->span.set("runyard.module", d.route->def.owner ? d.route->def.owner->name : std::string());
  ex_->span.set("runyard.request_id", d.request_id);
}

// True if the rate limit allows the request; otherwise answers 429.
bool connection::within(const std::optional<gate_verdict>& v) {
  if (!v) return true;
  auto& lines = ex_->data->limit_lines;
  lines.clear();  // the account limit replaces the address limit
  const auto line = [&lines](std::string_view name, std::uint64_t n) {
    lines += name;
    append_number(lines, n);
    lines += "\r\n";
  };
  line("RateLimit-Limit: ", v->limit);
  line("RateLimit-Remaining: ", v->remaining);
  line("RateLimit-Reset: ", v->reset_s);
  if (v->allowed) return true;
  fail(429, "Too many requests", "Retry-After: " + std::to_string(v->retry_after_s) + "\r\n");
  return false;
}

// Refuses a request with a foreign Host, and a change sent by a page of another origin. True: refused.
bool connection::foreign() {
  if (ry_test::without_protection("foreign_requests")) return false;
  const auto& d = *ex_->data;
  const auto& own = w_.shared.own_site;
  const auto refuse = [&](const char* code, std::string message) {
    fail(limit_error(403, "http.foreign", code, std::move(message), 0));
    return true;
  };
  const bool everyone = cfg().site.applies_to == site_settings::scope::everyone;
  const auto target = authority_of(d.info.target);
  const bool known = target.empty() && d.info.host == good_host_;
  if (!known && (everyone || (!d.route->host && !w_.shared.trusted.contains(peer_)))) {
    for (const auto name : {d.info.host, target})
      if (!own.is_own_host(name))
        return refuse("HOST_NOT_ALLOWED",
                      "The host name \"" + host_of(name) +
                          "\" is not allowed. The server's operator can add it to http.allowed_hosts");
    good_host_.assign(d.info.host);
  }
  if (d.info.origin.empty() || !changes_something(d.info.method)) return false;
  std::string_view fetch_site;
  for (const auto& h : d.headers)
    if (iequals(core::sv(h.name), "sec-fetch-site")) fetch_site = core::sv(h.value);
  if (own.may_change(d.info.origin, d.info.host, fetch_site)) return false;
  return refuse("ORIGIN_NOT_ALLOWED",
                "Web pages of this origin may not send this request. The server's operator can add "
                "the origin to http.cors.origins");
}

// Answers OPTIONS unless a route handles it. True: answered.
bool connection::preflight() {
  auto& d = *ex_->data;
  const auto allowed =
      d.path == "*" ? std::string("GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS") : d.table->allowed(d.path);
  if (!d.info.origin.empty() && !d.info.preflight_method.empty() && !cfg().cors.origins.empty()) {
    if (allowed.empty()) {
      fail(404, "Not Found");
      return true;
    }
    const auto& origins = cfg().cors.origins;
    if (std::find(origins.begin(), origins.end(), d.info.origin) == origins.end() &&
        std::find(origins.begin(), origins.end(), "*") == origins.end()) {
      fail(403, "Origin not allowed");
      return true;
    }
    std::string lines = "Access-Control-Allow-Methods: " + allowed + "\r\n";
    append_header(
        lines, "Access-Control-Allow-Headers",
        header_name_list(d.info.preflight_headers) ? d.info.preflight_headers : "Authorization, Content-Type");
    lines += "Access-Control-Max-Age: ";
    append_number(lines, static_cast<std::uint64_t>(cfg().cors.max_age.count()));
    lines += "\r\n";
    fail(204, {}, lines);
    return true;
  }
  path_values values;
  if (d.table->match("OPTIONS", d.path, values).outcome == match_outcome::found) return false;
  if (allowed.empty()) {
    fail(404, "Not Found");
  } else {
    fail(204, {}, "Allow: " + allowed + "\r\n");
  }
  return true;
}

void connection::authenticate() {
  auto& d = *ex_->data;
  const auto& route = *d.route;
  credential c{credential::kind::bearer, bearer_of(d.info.authorization), d.path};
  std::string token;
  if (route.has(RY_ROUTE_QUERY_TOKEN)) {
    token = take_token(d.raw_query, d.query);
    d.raw_query = d.query;
    if (c.value.empty() && !token.empty()) {
      c.from = credential::kind::query_token;
      c.value = token;
    }
  }
  auto* auth = w_.shared.r.auth;
  if (c.value.empty() || !auth) return authenticated({});
  phase_ = phase::authenticating;
  request_due_ = clock::now() + cfg().auth_timeout;
  due(request_due_);
  const auto generation = ex_->generation();
  auto now = auth->authenticate(c, &w_.loop, [keep = w_.keep(), ex = ex_, generation](const verdict& v) {
    // If the client has disconnected meanwhile, the generation of the slot has changed.
    if (ex->packed_state.load(std::memory_order_acquire) == exchange::pack(generation, exchange::authenticating) &&
        ex->conn) {
      boost::intrusive_ptr<connection> self(ex->conn);
      if (self->phase_ != phase::authenticating) return;  // it has timed out
      self->authenticated(v);
      ex->home.schedule(*self);
    }
  });
  if (now) authenticated(*now);
}

void connection::authenticated(const verdict& v) {
  auto& d = *ex_->data;
  const auto& route = *d.route;
  phase_ = phase::head;
  request_due_ = clock::time_point::max();
  if (v.status == RY_OK) {
    d.principal = v.who;
    d.principal_owner = v.owner;
    d.has_principal = true;
    if (route.has(RY_ROUTE_LONG)) {
      // The credential may have been revoked while the verdict waited for this loop.
      if (w_.shared.r.auth->revoked(v.owner)) return fail(401, "Not authenticated", "WWW-Authenticate: Bearer\r\n");
      ex_->caller = v.owner;
    }
  } else if (!route.has(RY_ROUTE_PUBLIC)) {
    if (v.status == RY_UNAUTHENTICATED) return fail(401, "Not authenticated", "WWW-Authenticate: Bearer\r\n");
    return fail(503, "Authentication is not available at the moment", "Retry-After: 2\r\n");
  }
  if (route.has(RY_ROUTE_ADMIN) && d.principal.role < RY_ROLE_ADMIN) return fail(403, "Forbidden");
  auto* gate = w_.shared.r.gate;
  if (gate && d.has_principal && !route.host) {
    const auto subject = core::sv(d.principal.subject);
    if (!within(gate->by_account(subject))) return;
    if (route.has(RY_ROUTE_LONG) && !(ex_->stream_permit = gate->stream_permit(subject)))
      return fail(429, "Too many streams are open", "Retry-After: 5\r\n");
  }
  admitted();
}

void connection::admitted() {
  auto& d = *ex_->data;
  const auto& route = *d.route;
  body_limit_ = route.def.max_body != 0           ? route.def.max_body
                : route.has(RY_ROUTE_STREAM_BODY) ? cfg().form_max_total_bytes
                                                  : cfg().max_body_bytes;
  if (d.info.content_length > body_limit_) return fail(413, "Request body too large");
  if (parser_->body_done() || route.has(RY_ROUTE_STREAM_BODY)) return dispatch();
  phase_ = phase::body;
  if (d.info.content_length != 0) d.body.reserve(std::min<std::uint64_t>(d.info.content_length, worker::scratch_size));
}

// ---- handler

void connection::dispatch() {
  auto& d = *ex_->data;
  const auto& route = *d.route;
  auto& ex = *ex_;
  for (std::size_t i = 0; i < route.params.size(); ++i)
    d.params.push_back({core::view(route.params[i]), core::view(d.values.at(i))});
  const bool timed = !route.has(RY_ROUTE_LONG);
  const auto timeout =
      route.def.timeout_ms != 0 ? std::chrono::milliseconds(route.def.timeout_ms) : cfg().request_timeout;
  const auto received = unix_us();
  d.view = {sizeof(ry_request_view),
            static_cast<std::uint32_t>(d.headers.size()),
            core::view(d.info.method),
            core::view(d.path),
            core::view(d.raw_query),
            core::view(route.def.pattern),
            d.headers.data(),
            d.params.data(),
            d.params.size(),
            core::bytes(d.body),
            d.has_principal ? &d.principal : nullptr,
            core::view(d.request_id),
            core::view(d.remote),
            core::view(d.traceparent),
            received,
            0,
            &w_.loop};
  phase_ = phase::handling;
  // A body still being received has its own timeouts; request_timeout starts after it.
  if (timed && parser_->body_done()) {
    d.view.deadline_unix_us = received + std::chrono::duration_cast<std::chrono::microseconds>(timeout).count();
    request_due_ = clock::now() + timeout;
    due(request_due_);
  }
  ex.packed_state.store(exchange::pack(ex.generation(), exchange::open), std::memory_order_release);
  if (route.host) return run_host_route();
  const auto generation = ex.generation();
  ex.in_handler = true;
  const observe::trace_scope scope(ex.trace);
  const ry_status st =
      module::invoke(route.def.owner, "route handler", route.def.handle, route.def.ctx,
                     static_cast<const ry_request_view*>(&d.view), static_cast<ry_request*>(ex.handle()));
  ex.in_handler = false;
  // The exchange keeps its state until this call returns.
  if (st != RY_OK && ex.packed_state.load(std::memory_order_acquire) != exchange::pack(generation, exchange::open))
    module::report_violation(route.def.owner, "wrong use of ry.http/1", "route handler",
                             "it returned an error for a request that it had ended");
  if (ex.over) {
    w_.release(ex);
  } else if (st != RY_OK && ex.advance(generation, exchange::open, exchange::ended)) {
    if (ex.conn) respond_error({st, {}, {}, {}, 0, 0});
    w_.release(ex);
  } else if (ex.conn && phase_ == phase::streaming) {
    w_.drop_data(ex);
  }
}

void connection::run_host_route() {
  auto& ex = *ex_;
  const auto& route = *ex.data->route;
  if (route.where == runs_on::blocking) {
    const auto generation = ex.generation();
    auto work = [keep = w_.keep(), &ex, &route, generation] {
      auto a = route.host(ex.data->view);
      if (!ex.advance(generation, exchange::open, exchange::ended)) return;
      auto answer = std::make_unique<pending_answer>();
      answer->status = a.status;
      append_header(answer->lines, "Content-Type", a.content_type);
      answer->body = std::move(a.body);
      {
        std::lock_guard lock(ex.mutex);
        ex.answer = std::move(answer);
      }
      ex.home.enqueue(ex);
    };
    if (w_.shared.r.blocking->submit(std::move(work)) == exec::submit_result::yes) return;
    ex.advance(generation, exchange::open, exchange::ended);
    fail(503, "Too busy", "Retry-After: 1\r\n");
    return w_.release(ex);
  }
  const auto a = route.host(ex.data->view);
  ex.advance(ex.generation(), exchange::open, exchange::ended);
  w_.lines.clear();
  append_header(w_.lines, "Content-Type", a.content_type);
  w_.finish(ex, a.status, w_.lines, a.body, nullptr);
}

void connection::fire_cancel(std::int32_t why) {
  if (!ex_ || phase_ != phase::handling) return;
  auto& d = *ex_->data;
  const auto fn = std::exchange(d.cancel_fn, nullptr);
  if (!fn || ex_->current() != exchange::open) return;
  const auto before = std::exchange(in_pump_, true);
  const observe::trace_scope scope(ex_->trace);
  module::invoke(ex_->hold.get(), "on_cancel", fn, d.cancel_ctx, why);
  in_pump_ = before;
  if (!before) w_.schedule(*this);
}

// ---- answers

// Decides whether to read and discard the rest of the body, and whether another request may follow.
void connection::plan_rest() {
  const auto& d = *ex_->data;
  if (!keep_ || w_.draining || (eof_ && cur_.empty() && in_.empty())) closing_ = true;
  if (!parser_ || parser_->body_done()) return;
  if (expect_ || parser_->refused() || !parser_->is_header_done() || d.info.chunked ||
      d.info.content_length - parser_->body_bytes() > max_discard)
    closing_ = true;
}

void connection::write_head(std::uint32_t status, std::string_view lines) {
  const auto& d = *ex_->data;
  append_status_line(out_, status);
  out_.append(w_.date_line());
  append_header(out_, "X-Request-Id", d.request_id);
  out_.append(d.limit_lines);
  out_.append(lines);
  const bool plain = ry_test::without_protection("response_headers");
  if (!plain && !has_line(lines, "x-content-type-options")) out_.append("X-Content-Type-Options: nosniff\r\n");
  // A response to an account is private: no cache may store it.
  if (!plain && d.has_principal && !has_line(lines, "cache-control")) out_.append("Cache-Control: no-store\r\n");
  const auto& cors = cfg().cors;
  if (!cors.origins.empty()) {
    const bool any = std::find(cors.origins.begin(), cors.origins.end(), "*") != cors.origins.end();
    const bool with_credentials = cors.allow_credentials == cors_settings::credentials::yes;
    if (!any || with_credentials) out_.append("Vary: Origin\r\n");
    if (!d.info.origin.empty() &&
        (any || std::find(cors.origins.begin(), cors.origins.end(), d.info.origin) != cors.origins.end())) {
      append_header(out_, "Access-Control-Allow-Origin",
                    any && !with_credentials ? std::string_view("*") : d.info.origin);
      append_exposed_headers(out_, lines);
      if (with_credentials) out_.append("Access-Control-Allow-Credentials: true\r\n");
    }
  }
}

void connection::begin_answer() {
  const auto& d = *ex_->data;
  if (closing_)
    out_.append("Connection: close\r\n");
  else if (d.info.version == 10)
    out_.append("Connection: keep-alive\r\n");
  out_.append("\r\n");
}

// Charges the bytes that would be buffered if the client stopped reading now.
quota_verdict connection::count_unsent(std::size_t body, bool file) {
  auto waits = out_.size() - sent_ + body;
  if (file) waits += file_piece;
  if (waits <= uncounted) return quota_verdict::granted;
  if (!unsent_.is_open()) unsent_.open(*w_.shared.unsent, ex_->data->caller());
  return unsent_.resize(waits);
}

void connection::answer(std::uint32_t status, std::string_view lines, std::string_view body,
                        std::shared_ptr<file_source> file) {
  if (const auto v = count_unsent(head_method_ ? 0 : body.size(), file && file->left != 0);
      v != quota_verdict::granted) {
    const auto full =
        limit_error(503, "http.response_buffer_full", "RESPONSE_BUFFER_LIMIT",
                    v == quota_verdict::caller_full
                        ? "Too many bytes of your responses are waiting to be read; read or close those responses first"
                        : "Too many bytes of responses are waiting to be read",
                    2);
    std::string own(json_type);
    append_retry_after(own, 503, full);
    keep_ = false;
    return write_answer(503, own, error_body(full), nullptr);
  }
  write_answer(status, lines, body, std::move(file));
}

void connection::write_answer(std::uint32_t status, std::string_view lines, std::string_view body,
                              std::shared_ptr<file_source> file) {
  plan_rest();
  write_head(status, lines);
  const bool bodiless = status == 204 || status == 304;
  if (!bodiless) {
    out_.append("Content-Length: ");
    append_number(out_, body.size() + (file ? file->left : 0));
    out_.append("\r\n");
  }
  begin_answer();
  if (!bodiless && !head_method_) out_.append(body);
  log_request(status);
  ex_->conn = nullptr;
  ex_ = nullptr;
  if (file && file->left != 0 && !bodiless && !head_method_) {
    file_ = std::move(file);
    phase_ = phase::sending;
  } else {
    end_answer();
  }
  if (!in_pump_) w_.schedule(*this);
}

// The answer is complete, but perhaps not sent yet.
void connection::end_answer() {
  expect_ = false;
  request_due_ = clock::time_point::max();
  body_.reset();
  phase_ = phase::head;
  // A long answer may have begun before the drain.
  if (w_.draining) closing_ = true;
  head_due_ = clock::now() + cfg().idle_timeout;
  if (parser_ && !parser_->body_done() && !closing_) {
    phase_ = phase::discard;
    discarded_ = 0;
    head_due_ = clock::now() + cfg().header_timeout;
    // plan_rest() bounds the rest of the body; the route's own limit no longer applies.
    body_limit_ = ~std::uint64_t{0};
  } else {
    parser_.reset();
  }
  due(head_due_);
}

// Refuses a request because of its head. `head` is the part received so far; the log names its path.
void connection::fail_head(std::uint32_t status, std::string_view detail, std::string_view head) {
  if (!ex_) {
    ex_ = &w_.take_slot();
    ex_->conn = this;
    ex_->data->start = clock::now();
    ex_->data->request_id = w_.new_request_id();
    head_method_ = false;
  }
  const auto line = first_line(head);
  ex_->data->info.method = line.method;
  ex_->data->path = line.path;
  fail(status, detail);
}

void connection::fail(std::uint32_t status, std::string_view detail, std::string_view lines) {
  if (status == 204) return send_failure(status, lines, {});
  send_failure(status, std::string(lines).append(json_type), error_body(detail));
}

void connection::fail(const core::error& e) {
  std::string lines(json_type);
  const auto status = http_status(e);
  append_retry_after(lines, status, e);
  send_failure(status, lines, error_body(e));
}

// Sends an error of the host. Releases the slot if no module has seen the request; otherwise the module must still
// end the request.
void connection::send_failure(std::uint32_t status, std::string_view lines, std::string_view body) {
  auto& ex = *ex_;
  answer(status, lines, body, nullptr);
  switch (ex.current()) {
    case exchange::authenticating:
      w_.release(ex);
      break;
    case exchange::open:
      w_.detach(ex);
      break;
    default:
      break;
  }
}

void connection::respond_error(const core::error& e) {
  std::string lines(json_type);
  const auto status = http_status(e);
  if (status == 401) lines += "WWW-Authenticate: Bearer\r\n";
  append_retry_after(lines, status, e);
  answer(status, lines, error_body(e), nullptr);
}

// Detaches the request from the closing connection; no answer can be sent.
void connection::drop_request() {
  auto& ex = *std::exchange(ex_, nullptr);
  switch (ex.current()) {
    case exchange::authenticating:
      ex.conn = nullptr;
      w_.release(ex);
      break;
    case exchange::open:
      w_.detach(ex);
      break;
    default:
      ex.conn = nullptr;
      break;  // another thread ended it; the loop drops its answer
  }
}

void connection::log_request(std::uint32_t status) {
  const auto& d = *ex_->data;
  // Work cancelled because the client disconnected is not a server failure.
  if (status == 503 && eof_) status = client_left;
  const observe::trace_scope scope(ex_->trace);
  if (ex_->span) {
    ex_->span.set("http.response.status_code", std::int64_t{status});
    if (status >= 500) ex_->span.fail(std::to_string(status));
    ex_->span.end();
  }
  const auto us = std::chrono::duration_cast<std::chrono::microseconds>(clock::now() - d.start).count();
  (d.route ? d.route->counters : w_.shared.unmatched)->add(status, static_cast<std::uint64_t>(us));
  // A 503 while draining is expected and not a failure.
  const bool leaving = status == 503 && w_.draining;
  const bool failed = status >= 500 && d.route && !leaving;
  if (!failed && cfg().access == access_log::off) return;
  const auto level = failed ? observe::level::error : observe::level::info;
  if (!observe::log_enabled(level)) return;
  observe::log(level, "http", failed ? "request failed" : "request",
               {{"method", std::string(d.info.method)},
                {"path", std::string(d.path)},
                {"status", std::to_string(status)},
                {"us", std::to_string(us)},
                {"request_id", d.request_id},
                {"remote", d.remote.empty() ? peer_ : d.remote}});
}

}  // namespace ry::http::serving
