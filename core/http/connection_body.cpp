// Receives request bodies: completely, in pieces on demand, or as forms.
#include "core/http/answer.hpp"
#include "core/http/connection.hpp"

namespace ry::http::serving {

bool connection::wants_body() const {
  if (!parser_) return false;
  if (phase_ == phase::body) return true;
  if (phase_ != phase::handling || !ex_) return false;
  const auto& d = *ex_->data;
  if (d.read_fn) return true;
  if (!d.form || d.form->notified || d.form->ended || d.form->reader.failed()) return false;
  // Backpressure: stop reading while one batch is being written and the next one is full.
  return !d.form->writing || d.form->reader.unwritten() < 256 * 1024;
}

// Charges a body that did not arrive together with its head to the quota of bodies.
bool connection::count_body() {
  if (body_.is_open()) return true;
  if (cfg().body_timeout.count() != 0) {
    body_due_ = clock::now() + cfg().body_timeout;
    due(body_due_);
  }
  body_.open(*w_.shared.bodies, ex_->data->caller());
  const auto v = body_.resize(1);
  if (v == quota_verdict::granted) return true;
  refuse_body(
      v == quota_verdict::caller_full
          ? limit_error(429, "http.too_many_uploads", "UPLOAD_LIMIT", "Too many of your uploads are in progress", 5)
          : limit_error(503, "http.too_many_uploads", "UPLOAD_LIMIT", "Too many uploads are in progress", 5));
  return false;
}

void connection::end_body() {
  body_.reset();
  body_due_ = clock::time_point::max();
}

void connection::send_continue() {
  if (!expect_) return;
  expect_ = false;
  out_.append("HTTP/1.1 100 Continue\r\n\r\n");
}

// Decodes bytes from cur_; false: the body was refused.
bool connection::decode_some(std::string& out) {
  const auto used = parser_->decode(cur_, out, body_limit_);
  cur_.remove_prefix(used);
  return !parser_->refused();
}

bool connection::read_body() {
  auto& d = *ex_->data;
  const bool was_done = parser_->body_done();
  if (!was_done) {
    const auto before = cur_.size();
    const auto now = clock::now();
    if (before != 0) {
      expect_ = false;
      if (body_armed_ != clock::time_point{}) body_waited_ += now - body_armed_;
      body_armed_ = {};
      if (!decode_some(d.body)) {
        body_failed(parser_->refused());
        return true;
      }
    }
    if (parser_->body_done()) end_body();
    if (!parser_->body_done() && cur_.size() == before) {
      if (!count_body()) return true;
      send_continue();
      if (body_armed_ == clock::time_point{}) {
        body_armed_ = now;
        due(now + std::min(cfg().body_idle_timeout, cfg().body_rate_grace));
      }
      return false;
    }
  }
  if (phase_ == phase::body) {
    if (parser_->body_done()) dispatch();
    return true;
  }
  if (!was_done && parser_->body_done() && !d.route->has(RY_ROUTE_LONG)) {
    request_due_ = clock::now() + (d.route->def.timeout_ms != 0 ? std::chrono::milliseconds(d.route->def.timeout_ms)
                                                                : cfg().request_timeout);
    due(request_due_);
  }
  deliver_body();
  return true;
}

void connection::deliver_body() {
  auto& ex = *ex_;
  auto& d = *ex.data;
  if (d.form) {
    auto form = d.form;
    if (!form->held.is_open()) form->held.open(*w_.shared.spool, d.caller());
    const auto v = form->held.resize(form->held.amount() + d.body.size());
    if (v == quota_verdict::granted)
      form->reader.feed(d.body);
    else
      form->reader.fail_body(v == quota_verdict::caller_full
                                 ? limit_error(429, "http.spool_limit", "UPLOAD_SPACE_LIMIT",
                                               "Your uploads in progress exceed the space limit", 10)
                                 : limit_error(503, "http.spool_limit", "UPLOAD_SPACE_LIMIT",
                                               "The uploads in progress exceed the space limit of the server", 10));
    d.body.clear();
    if (parser_->body_done() && !std::exchange(form->ended, true)) form->reader.finish();
    w_.advance_form(ex);
    return;
  }
  if (d.body.empty() && !parser_->body_done()) return;
  // The callback may end the request and clear `d`.
  std::string piece;
  piece.swap(d.body);
  d.body_ended = piece.empty();
  const auto fn = std::exchange(d.read_fn, nullptr);
  const observe::trace_scope scope(ex.trace);
  module::invoke(ex.hold.get(), "read_body", fn, d.read_ctx, ry_status{RY_OK}, core::bytes(piece));
  if (ex_ == &ex && ex.data->body.empty()) {
    piece.clear();
    ex.data->body.swap(piece);
  }
}

// Fails the request because its body is incomplete or refused.
void connection::body_failed(const refusal& r) {
  worker::add(r.status == 408 ? w_.count.timeouts : w_.count.parse_errors);
  refuse_body({r.status == 413   ? RY_RESOURCE_EXHAUSTED
               : r.status == 408 ? RY_DEADLINE_EXCEEDED
                                 : RY_INVALID_ARGUMENT,
               r.status == 413 ? "http.form_too_large" : "http.body_failed",
               r.detail,
               {},
               r.status,
               0});
}

void connection::refuse_body(const core::error& e) {
  keep_ = false;
  end_body();
  if (phase_ == phase::body) {
    fail(e);
    if (!in_pump_) flush();
    return;
  }
  auto& d = *ex_->data;
  const ry_status st = e.status;
  // The module now has request_timeout to answer.
  request_due_ = clock::now() + cfg().request_timeout;
  due(request_due_);
  if (d.form) {
    d.form->reader.fail_body(e);
    w_.advance_form(*ex_);
  } else if (const auto fn = std::exchange(d.read_fn, nullptr)) {
    auto* owner = ex_->hold.get();
    module::post(owner, &w_.loop, [owner, fn, ctx = d.read_ctx, st, trace = ex_->trace] {
      const observe::trace_scope scope(trace);
      module::invoke(owner, "read_body", fn, ctx, st, ry_bytes{nullptr, 0});
    });
  }
}

}  // namespace ry::http::serving
