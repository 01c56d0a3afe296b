// The function tables of ry::testing::fake_host. Do not include directly; ry/testing.hpp includes it.
#pragma once

#include <ry/testing.hpp>

namespace ry::testing {

// One request in progress; the fake's ry_request and ry_stream handles are pointers to it.
struct fake_host::exchange {
  fake_host* host = nullptr;
  std::shared_ptr<answer> out = std::make_shared<answer>();
  std::string method, path, query, pattern, body, subject, auth_kind;
  headers fields, params;
  std::vector<ry_header> c_fields, c_params;
  ry_principal principal{};
  ry_request_view view{};
  ry_cancel_fn on_cancel = nullptr;
  void* cancel_ctx = nullptr;
  bool body_read = false;
};

struct tables {
  using H = fake_host;
  static H::exchange* ex(ry_request* r) noexcept { return reinterpret_cast<H::exchange*>(r); }
  static H::exchange* ex(ry_stream* s) noexcept { return reinterpret_cast<H::exchange*>(s); }

  static const ry_core_v1& core() {
    static const ry_core_v1 t = {
        sizeof(ry_core_v1),
        0,
        [](const ry_host* h, std::int32_t level, ry_str m, ry_str f) noexcept {
          H::of(h)->log.push_back({level, text(m), text(f)});
        },
        [](const ry_host* h) noexcept { return H::of(h)->now_us_.load(); },
        [](const ry_host* h) noexcept { return H::of(h)->now_us_.load(); },
        [](const ry_host* h, ry_str key) noexcept {
          const auto it = H::of(h)->host_values.find(text(key));
          return it == H::of(h)->host_values.end() ? ry_str{} : str(it->second);
        },
        [](const ry_host* h, ry_uuid* out) noexcept {
          std::uint64_t n = H::of(h)->next_uuid_++;
          *out = {{1, 0x97, 0, 0, 0, 0, 0x70, 0, 0x80}};
          for (int i = 15; i > 8; --i, n >>= 8) out->bytes[i] = static_cast<std::uint8_t>(n);
        },
        [](const ry_host* h) noexcept { return H::of(h)->exec(); },
        [](const ry_exec* e) noexcept -> std::uint32_t {
          return reinterpret_cast<const H*>(e)->thread_ == std::this_thread::get_id() ? 1 : 0;
        },
        [](const ry_host* h, ry_exec*, ry_call_fn fn, void* ctx) noexcept -> ry_status {
          H::of(h)->post([fn, ctx] { fn(ctx); });
          return RY_OK;
        },
        [](const ry_host* h, ry_exec*, std::uint64_t ms, ry_done done, ry_op_id* op) noexcept -> ry_status {
          H* host = H::of(h);
          std::lock_guard lock(host->mutex_);
          const ry_op_id id = host->next_op_++;
          host->timers_[id] = {host->now_us_ + static_cast<std::int64_t>(ms) * 1000, done, {}};
          if (op != nullptr) *op = id;
          return RY_OK;
        },
        [](const ry_host* h, ry_op_id op) noexcept {
          H* host = H::of(h);
          if (const auto done = host->take_timer(op)) {
            host->complete(*done, RY_CANCELLED);
          } else if (const auto f = host->flows_.find(op); f != host->flows_.end()) {
            f->second.cancelled = true;
            host->post([host, op] { host->pump(op); });
          }
        },
        [](const ry_host* h, ry_exec*, ry_call_fn work, void* ctx, ry_done done) noexcept -> ry_status {
          H::of(h)->post([work, ctx, done] {
            work(ctx);
            done.fn(done.ctx, RY_OK, nullptr);
          });
          return RY_OK;
        }};
    return t;
  }

  static const ry_registrar_v1& registrar() {
    static const auto of = [](ry_registrar* r) { return reinterpret_cast<H*>(r); };
    static const ry_registrar_v1 t = {
        sizeof(ry_registrar_v1),
        0,
        [](ry_registrar* r, const ry_route* x) noexcept -> ry_status {
          of(r)->routes_.push_back({text(x->method), text(x->pattern), x->handle, x->ctx});
          return RY_OK;
        },
        [](ry_registrar* r, const ry_migration* m) noexcept -> ry_status {
          of(r)->migrations.emplace_back(text(m->id), text(m->up_sql));
          return RY_OK;
        },
        [](ry_registrar* r, const ry_job_kind* k) noexcept -> ry_status {
          of(r)->jobs_[text(k->kind)] = {k->run, k->ctx};
          return RY_OK;
        },
        [](ry_registrar* r, const ry_event_consumer* c) noexcept -> ry_status {
          of(r)->consumers_[text(c->name)] = {c->handle, c->ctx};
          return RY_OK;
        },
        [](ry_registrar* r, ry_str id, const void* table, void* self) noexcept -> ry_status {
          of(r)->services[text(id)] = {table, self};
          return RY_OK;
        },
        [](ry_registrar* r, const ry_point* p) noexcept -> ry_status {
          for (const auto& [name, d] : of(r)->drivers) {
            const auto colon = name.find(':');
            if (name.substr(0, colon) != view(p->id)) continue;
            p->added(p->ctx, str(std::string_view(name).substr(colon + 1)), d.first, d.second);
          }
          return RY_OK;
        },
        [](ry_registrar* r, ry_str point, ry_str name, const void* table, void* self) noexcept -> ry_status {
          of(r)->drivers[text(point) + ":" + text(name)] = {table, self};
          return RY_OK;
        },
        [](ry_registrar* r, ry_str openapi_json) noexcept -> ry_status {
          of(r)->descriptions.push_back(text(openapi_json));
          return RY_OK;
        }};
    return t;
  }

  static ry_status set_response(ry_request* r, std::uint32_t status, const ry_header* fields, std::size_t n,
                                std::string body) {
    answer& a = *ex(r)->out;
    a.status = status;
    a.fields = detail::own_headers(fields, n);
    a.body = std::move(body);
    return RY_OK;
  }
  static const ry_http_v1& http() {
    static const ry_http_v1 t = {
        sizeof(ry_http_v1),
        0,
        [](ry_request* r, std::uint32_t status, const ry_header* f, std::size_t n,
           ry_bytes body) noexcept -> ry_status {
          // Simulates a host that rejects a header; tests trigger this with the value "refuse me".
          for (std::size_t i = 0; i < n; ++i) {
            if (view(f[i].value) == "refuse me") return RY_INVALID_ARGUMENT;
          }
          return set_response(r, status, f, n, text(body));
        },
        [](ry_request* r, std::uint32_t status, const ry_header* f, std::size_t n, ry_str path, std::uint64_t,
           std::uint64_t) noexcept -> ry_status { return set_response(r, status, f, n, "file:" + text(path)); },
        [](ry_request* r, const ry_error_view* e) noexcept -> ry_status {
          static constexpr std::uint32_t http_of[] = {500, 499, 500, 400, 504, 404, 409, 403, 429,
                                                      409, 409, 400, 501, 500, 503, 500, 401};
          ex(r)->out->failure = error::from(e->status, e);
          const std::uint32_t derived = e->status >= 0 && e->status <= RY_UNAUTHENTICATED ? http_of[e->status] : 500u;
          std::string body = "{\"detail\":";
          if (e->detail_json.len != 0) {
            body += view(e->detail_json);
          } else {
            append_json_string(body, view(e->message));
          }
          return set_response(r, e->http_status != 0 ? e->http_status : derived, nullptr, 0, body + "}");
        },
        [](ry_request* r, ry_cancel_fn fn, void* ctx) noexcept -> ry_status {
          ex(r)->on_cancel = fn;
          ex(r)->cancel_ctx = ctx;
          return RY_OK;
        },
        [](ry_request* r, ry_body_fn fn, void* ctx) noexcept -> ry_status {
          auto* e = ex(r);
          e->host->post([e, fn, ctx] {
            const bool again = std::exchange(e->body_read, true);
            fn(ctx, RY_OK, again ? ry_bytes{} : raw(e->body));
          });
          return RY_OK;
        },
        [](ry_request*, const ry_form_limits*, ry_form_fn, void*) noexcept -> ry_status { return RY_UNIMPLEMENTED; },
        [](ry_request* r, std::uint32_t status, const ry_header* f, std::size_t n,
           ry_stream** out) noexcept -> ry_status {
          ex(r)->out->streaming = true;
          *out = reinterpret_cast<ry_stream*>(r);
          return set_response(r, status, f, n, {});
        },
        [](ry_stream* s, ry_bytes b) noexcept -> ry_status {
          ex(s)->out->body += view(b);
          return RY_OK;
        },
        [](ry_stream* s, ry_buffer* b) noexcept -> ry_status {
          ex(s)->out->body += *reinterpret_cast<std::string*>(b);
          return RY_OK;
        },
        [](ry_stream* s, ry_exec*, ry_done done) noexcept -> ry_status {
          ex(s)->host->complete(done, RY_OK);
          return RY_OK;
        },
        [](ry_stream*, std::uint64_t, ry_bytes) noexcept -> ry_status { return RY_OK; },
        [](ry_stream* s, ry_exec*, ry_cancel_fn fn, void* ctx) noexcept -> ry_status {
          ex(s)->on_cancel = fn;
          ex(s)->cancel_ctx = ctx;
          return RY_OK;
        },
        [](ry_stream* s) noexcept {
          ex(s)->out->streaming = false;
          ex(s)->on_cancel = nullptr;
        },
        [](ry_bytes b) noexcept { return reinterpret_cast<ry_buffer*>(new std::string(view(b))); },
        [](ry_buffer* b) noexcept { delete reinterpret_cast<std::string*>(b); }};
    return t;
  }

  // A ry_tx handle is a pointer to its fake_host.
  static const ry_db_v1& db() {
    static const ry_db_v1 t = {
        sizeof(ry_db_v1),
        0,
        [](const ry_host* h, ry_tx* tx, const ry_db_call* calls, std::size_t n, ry_exec*, ry_db_fn fn, void* ctx,
           ry_op_id*) noexcept -> ry_status {
          H* host = H::of(h);
          std::vector<H::result_rows*> results;
          error failure(RY_OK);
          std::uint64_t takes_ms = 0;
          for (std::size_t i = 0; i < n && failure.status() == RY_OK; ++i) {
            auto* r = new H::result_rows;
            r->reply = host->reply_to(calls[i], tx != nullptr);
            failure = r->reply.failure;
            takes_ms += r->reply.takes_ms;
            for (const auto& c : r->reply.columns) r->columns.push_back(str(c));
            for (const auto& row : r->reply.rows) {
              for (const auto& c : row) {
                r->cells.push_back(c ? ry_str{c->data(), c->size()} : ry_str{});
              }
            }
            r->view = {sizeof(ry_db_rows),   static_cast<std::uint32_t>(r->columns.size()),
                       r->reply.rows.size(), r->reply.affected,
                       r->columns.data(),    r->cells.data()};
            results.push_back(r);
          }
          host->post_after(takes_ms, [results, failure, fn, ctx] {
            if (failure.status() == RY_OK) {
              std::vector<ry_db_result*> out;
              for (auto* r : results) out.push_back(reinterpret_cast<ry_db_result*>(r));
              fn(ctx, RY_OK, out.data(), out.size(), nullptr);
              return;
            }
            for (auto* r : results) delete r;
            const ry_error_view v = failure.view();
            fn(ctx, failure.status(), nullptr, 0, &v);
          });
          return RY_OK;
        },
        [](const ry_host* h, std::uint32_t, ry_exec*, ry_tx_fn fn, void* ctx, ry_op_id*) noexcept -> ry_status {
          H::of(h)->post([h, fn, ctx] { fn(ctx, RY_OK, reinterpret_cast<ry_tx*>(H::of(h)), nullptr); });
          return RY_OK;
        },
        [](ry_tx* tx, ry_exec*, ry_done done) noexcept -> ry_status {
          ++reinterpret_cast<H*>(tx)->db.commits;
          reinterpret_cast<H*>(tx)->complete(done, RY_OK);
          return RY_OK;
        },
        [](ry_tx* tx, ry_exec*, ry_done done) noexcept -> ry_status {
          ++reinterpret_cast<H*>(tx)->db.rollbacks;
          reinterpret_cast<H*>(tx)->complete(done, RY_OK);
          return RY_OK;
        },
        [](const ry_db_result* r) noexcept -> const ry_db_rows* {
          return &reinterpret_cast<const H::result_rows*>(r)->view;
        },
        [](ry_db_result* r) noexcept { delete reinterpret_cast<H::result_rows*>(r); },
        [](const ry_host*, ry_str, std::uint64_t, ry_exec*, ry_call_fn, void*,
           ry_db_listen** out) noexcept -> ry_status {
          *out = reinterpret_cast<ry_db_listen*>(new char);
          return RY_OK;
        },
        [](ry_db_listen* l) noexcept { delete reinterpret_cast<char*>(l); },
        [](const ry_host*, ry_str) noexcept {}};
    return t;
  }

  static const ry_jobs_v1& jobs() {
    static const ry_jobs_v1 t = {
        sizeof(ry_jobs_v1),
        0,
        [](const ry_host* h, ry_tx*, const ry_job_request* r, ry_exec*, ry_enqueued_fn fn,
           void* ctx) noexcept -> ry_status {
          H* host = H::of(h);
          host->enqueued.emplace_back(text(r->kind), text(r->args_json));
          host->post([host, fn, ctx] { fn(ctx, RY_OK, static_cast<std::int64_t>(host->enqueued.size()), nullptr); });
          return RY_OK;
        },
        [](const ry_host* h, ry_str kind, std::int64_t, std::int64_t, ry_str args) noexcept -> ry_status {
          H::of(h)->enqueued.emplace_back(text(kind), text(args));
          return RY_OK;
        },
        [](const ry_host*, ry_str) noexcept {},
        [](const ry_host* h, std::int64_t, ry_exec*, ry_done done) noexcept -> ry_status {
          H::of(h)->complete(done, RY_OK);
          return RY_OK;
        },
        [](ry_job*, ry_cancel_fn, void*) noexcept -> ry_status { return RY_OK; },
        [](ry_job* j, std::int32_t outcome, std::uint64_t, const ry_error_view*) noexcept {
          reinterpret_cast<H::running_job*>(j)->outcome = outcome;
        }};
    return t;
  }

  static const ry_events_v1& events() {
    static const ry_events_v1 t = {
        sizeof(ry_events_v1),
        0,
        [](const ry_host* h, ry_tx*, ry_str kind, ry_str, ry_str payload, ry_exec*,
           ry_done done) noexcept -> ry_status {
          H::of(h)->published.emplace_back(text(kind), text(payload));
          H::of(h)->complete(done, RY_OK);
          return RY_OK;
        },
        [](ry_event* e, ry_status st, const ry_error_view*) noexcept { reinterpret_cast<H::delivery*>(e)->st = st; },
        [](const ry_host*, ry_str, ry_exec*, ry_live_fn, void*, ry_subscription** out) noexcept -> ry_status {
          *out = reinterpret_cast<ry_subscription*>(new char);
          return RY_OK;
        },
        [](ry_subscription* s) noexcept { delete reinterpret_cast<char*>(s); },
        [](const ry_host*, ry_str, std::uint64_t, ry_bytes, std::uint32_t) noexcept -> ry_status { return RY_OK; },
        [](const ry_host*) noexcept -> std::uint32_t { return 0; }};
    return t;
  }

  static const ry_secrets_v1& secrets() {
    // Sealed values are "sealed:<context>:<plain>", so that failures are readable.
    static const ry_secrets_v1 t = {
        sizeof(ry_secrets_v1),
        0,
        [](const ry_host*, ry_str c, ry_bytes plain, ry_take_fn take, void* ctx) noexcept -> ry_status {
          const std::string s = "sealed:" + text(c) + ":" + text(plain);
          take(ctx, raw(s));
          return RY_OK;
        },
        [](const ry_host*, ry_str c, ry_bytes sealed, ry_take_fn take, void* ctx) noexcept -> ry_status {
          const std::string head = "sealed:" + text(c) + ":";
          if (view(sealed).substr(0, head.size()) != head) return RY_DATA_LOSS;
          take(ctx, raw(view(sealed).substr(head.size())));
          return RY_OK;
        },
        [](const ry_host*, ry_str) noexcept {},
        [](const ry_host*, ry_str) noexcept {},
        [](const ry_host*, ry_str) noexcept {}};
    return t;
  }

  static const ry_auth_v1& auth() {
    // Tokens are "token:<claims>", so that failures are readable.
    static const ry_auth_v1 t = {
        sizeof(ry_auth_v1),
        0,
        [](const ry_host*, ry_str claims, std::uint64_t, ry_take_fn take, void* ctx) noexcept -> ry_status {
          const std::string s = "token:" + text(claims);
          take(ctx, raw(s));
          return RY_OK;
        },
        [](const ry_host*, const ry_principal* who, ry_str path, std::uint64_t, ry_take_fn take,
           void* ctx) noexcept -> ry_status {
          const std::string s = "query:" + text(who->subject) + ":" + text(path);
          take(ctx, raw(s));
          return RY_OK;
        },
        [](const ry_host*, ry_str) noexcept {},
        [](const ry_host* h, ry_str, ry_str session, std::int64_t) noexcept -> ry_status {
          H::of(h)->revoked_sessions.push_back(text(session));
          return RY_OK;
        }};
    return t;
  }

  static const ry_services_v1& services() {
    static const ry_services_v1 t = {
        sizeof(ry_services_v1), 0,
        [](const ry_host* h, ry_str id, std::uint32_t, const void** table, void** self,
           ry_lease** lease) noexcept -> ry_status {
          const auto it = H::of(h)->services.find(text(id));
          if (it == H::of(h)->services.end()) return RY_NOT_FOUND;
          *table = it->second.first;
          *self = it->second.second;
          *lease = reinterpret_cast<ry_lease*>(H::of(h));
          return RY_OK;
        },
        [](ry_lease*) noexcept {},
        [](const ry_host* h, ry_str point, ry_str driver, ry_str rule, ry_str problem) noexcept -> ry_status {
          H::of(h)->driver_violations.push_back(text(point) + " " + text(driver) + ": " + text(rule) + ": " +
                                                text(problem));
          return RY_OK;
        }};
    return t;
  }

  static const ry_metrics_v1& metrics() {
    static const ry_metrics_v1 t = {
        sizeof(ry_metrics_v1),
        0,
        [](const ry_host* h, std::int32_t, ry_str name, ry_str, const ry_header*, std::size_t, const double*,
           std::size_t) noexcept { return reinterpret_cast<ry_metric*>(&H::of(h)->metric_values[text(name)]); },
        [](ry_metric* m, double v) noexcept { *reinterpret_cast<double*>(m) += v; },
        [](ry_metric* m, double v) noexcept { *reinterpret_cast<double*>(m) = v; },
        [](ry_metric* m, double v) noexcept {
          *reinterpret_cast<double*>(m) = v;
        }};  // histograms keep the last observation
    return t;
  }

  static const ry_http_client_v1& client() {
    static const ry_http_client_v1 t = {
        sizeof(ry_http_client_v1),
        0,
        [](const ry_host* h, ry_exec*, const ry_client_request* r, const ry_client_handler* handler, void* ctx,
           ry_op_id* op) noexcept -> ry_status {
          H* host = H::of(h);
          host->client.requests.push_back(
              {text(r->method), text(r->url), text(r->body), detail::own_headers(r->headers, r->n_headers)});
          H::flow f;
          f.reply = {0, {}, error(RY_UNAVAILABLE, "http_client.resolve", "no scripted answer")};
          for (const auto& [part, reply] : host->client.script_) {
            if (view(r->url).find(part) != std::string_view::npos) f.reply = reply;
          }
          f.handler = *handler;
          f.ctx = ctx;
          const ry_op_id id = host->next_op_++;
          host->flows_.emplace(id, std::move(f));
          if (op != nullptr) *op = id;
          host->post([host, id] { host->pump(id); });
          return RY_OK;
        },
        [](const ry_host* h, ry_op_id op) noexcept {
          H* host = H::of(h);
          const auto it = host->flows_.find(op);
          if (it == host->flows_.end() || !it->second.paused) return;
          it->second.paused = false;
          host->post([host, op] { host->pump(op); });
        },
        [](const ry_host*, ry_str url) noexcept -> ry_status {
          return view(url).substr(0, 4) == "http" ? RY_OK : RY_INVALID_ARGUMENT;
        },
        [](const ry_host*, ry_exec*, ry_str) noexcept {},
        [](const ry_host*, ry_str pem, std::uint64_t* number, ry_errbuf*) noexcept -> ry_status {
          *number = 1;
          return view(pem).find("-----BEGIN") != std::string_view::npos ? RY_OK : RY_INVALID_ARGUMENT;
        }};
    return t;
  }
};

inline const void* fake_host::get_interface(const ry_host* host, ry_str id, std::uint32_t) noexcept {
  const std::string_view name = view(id);
  if (of(host)->hidden_.count(std::string(name)) != 0) return nullptr;
  if (name == RY_CORE_1) return &tables::core();
  if (name == RY_REGISTRAR_1) return &tables::registrar();
  if (name == RY_HTTP_1) return &tables::http();
  if (name == RY_DB_1) return &tables::db();
  if (name == RY_JOBS_1) return &tables::jobs();
  if (name == RY_EVENTS_1) return &tables::events();
  if (name == RY_SECRETS_1) return &tables::secrets();
  if (name == RY_SERVICES_1) return &tables::services();
  if (name == RY_AUTH_1) return &tables::auth();
  if (name == RY_METRICS_1) return &tables::metrics();
  if (name == RY_HTTP_CLIENT_1) return &tables::client();
  return nullptr;
}

inline db_reply fake_host::reply_to(const ry_db_call& c, bool in_tx) {
  db_call record{text(c.sql), {}, in_tx};
  for (std::size_t i = 0; i < c.n_params; ++i) {
    const ry_value& v = c.params[i];
    switch (v.kind) {
      case RY_V_BOOL:
        record.params.emplace_back(v.u.i != 0 ? "t" : "f");
        break;
      case RY_V_INT:
        record.params.emplace_back(std::to_string(v.u.i));
        break;
      case RY_V_DOUBLE:
        record.params.emplace_back(std::to_string(v.u.d));
        break;
      case RY_V_TEXT:
        record.params.emplace_back(text(v.u.s));
        break;
      case RY_V_BYTES:
        record.params.emplace_back(text(v.u.b));
        break;
      case RY_V_UUID: {
        ry_uuid u;
        std::memcpy(u.bytes, v.u.b.ptr, 16);
        record.params.emplace_back(uuid(u).to_string());
        break;
      }
      case RY_V_INT_ARRAY:
      case RY_V_TEXT_ARRAY: {
        std::string all = "{";
        for (std::size_t k = 0; k < v.u.a.len; ++k) {
          if (k != 0) all += ',';
          if (v.kind == RY_V_INT_ARRAY) {
            all += std::to_string(static_cast<const std::int64_t*>(v.u.a.items)[k]);
          } else {
            const ry_str s = static_cast<const ry_str*>(v.u.a.items)[k];
            all += s.ptr == nullptr ? "NULL" : text(s);
          }
        }
        record.params.emplace_back(all + "}");
        break;
      }
      default:
        record.params.emplace_back(std::nullopt);
    }
  }
  db.calls.push_back(record);
  for (auto& [part, replies] : db.script_) {
    if (record.sql.find(part) == std::string::npos) continue;
    db_reply reply = replies.front();
    if (replies.size() > 1) replies.erase(replies.begin());
    return reply;
  }
  return {{}, {}, 0, error(RY_UNIMPLEMENTED, "testing.no_script", "no scripted answer for: " + record.sql)};
}

inline void fake_host::pump(ry_op_id op) {
  const auto it = flows_.find(op);
  if (it == flows_.end()) return;
  flow& f = it->second;
  const auto end = [&](error e) {  // by value: `e` may be part of the flow, which is erased
    flow last = std::move(f);
    flows_.erase(it);
    const ry_error_view v = e.view();
    last.handler.on_done(last.ctx, e.status(), e.status() == RY_OK ? nullptr : &v);
  };
  if (f.cancelled) return end(error(RY_CANCELLED));
  if (f.reply.status == 0) return end(f.reply.failure);
  if (!f.head_sent) {
    f.head_sent = true;
    const ry_client_response r{sizeof(ry_client_response), f.reply.status, nullptr, 0, {}, {}};
    f.handler.on_head(f.ctx, &r);
  } else if (f.next < f.reply.chunks.size()) {
    const ry_status st = f.handler.on_data(f.ctx, raw(f.reply.chunks[f.next++]));
    f.paused = st == RY_RESOURCE_EXHAUSTED;
    if (st != RY_OK && !f.paused) return end(error(st));
  } else {
    return end(f.reply.failure);
  }
  if (!f.paused) post([this, op] { pump(op); });
}

inline std::shared_ptr<answer> fake_host::send(std::string_view method, std::string_view target,
                                               const call_options& o) {
  auto e = std::make_shared<exchange>();
  e->host = this;
  e->method = method;
  const std::size_t query_start = target.find('?');
  e->path = target.substr(0, query_start);
  if (query_start != std::string_view::npos) e->query = target.substr(query_start + 1);
  e->body = o.body;
  e->fields = o.fields;
  e->subject = o.principal_subject;
  e->auth_kind = o.auth_kind;
  const route* found = nullptr;
  for (const auto& r : routes_) {
    if (r.method != method) continue;
    headers params;
    std::string_view p = r.pattern, s = e->path;
    bool matches = true;
    while (matches && !p.empty()) {
      const std::string_view part = p.substr(0, p.find('/', 1));
      const bool is_wildcard = part.size() > 5 && part.substr(part.size() - 4) == "...}";
      const std::string_view segment = is_wildcard ? s : s.substr(0, s.find('/', 1));
      if (part.size() > 3 && part[1] == '{') {
        matches = segment.size() > 1;
        const std::size_t tail = is_wildcard ? 4 : 1;
        if (matches) params.emplace_back(part.substr(2, part.size() - 2 - tail), segment.substr(1));
      } else {
        matches = part == segment;
      }
      p.remove_prefix(part.size());
      s.remove_prefix(segment.size());
    }
    if (!matches || !s.empty()) continue;
    found = &r;
    e->params = std::move(params);
    e->pattern = r.pattern;
    break;
  }
  if (found == nullptr) {
    e->out->status = 404;
    return e->out;
  }
  e->c_fields = detail::c_headers(e->fields);
  e->c_params = detail::c_headers(e->params);
  e->principal.struct_size = sizeof e->principal;
  e->principal.role = o.role;
  e->principal.subject = str(e->subject);
  e->principal.auth_kind = str(e->auth_kind);
  e->principal.claims_json = str("{}");
  ry_request_view& v = e->view;
  v.struct_size = sizeof v;
  v.n_headers = static_cast<std::uint32_t>(e->c_fields.size());
  v.method = str(e->method);
  v.path = str(e->path);
  v.query = str(e->query);
  v.route = str(e->pattern);
  v.headers = e->c_fields.data();
  v.params = e->c_params.data();
  v.n_params = e->c_params.size();
  v.body = raw(e->body);
  v.principal = e->subject.empty() ? nullptr : &e->principal;
  v.request_id = str("test-request");
  v.remote_address = str("127.0.0.1");
  v.received_unix_us = now_us_;
  v.exec = exec();
  exchanges_.push_back(e);
  const ry_status st = found->handle(found->ctx, &v, reinterpret_cast<ry_request*>(e.get()));
  if (st != RY_OK) {
    const error refused(st);
    const ry_error_view err = refused.view();
    tables::http().fail(reinterpret_cast<ry_request*>(e.get()), &err);
  }
  run_ready();
  return e->out;
}

inline void fake_host::drop_client(const answer& a, std::int32_t why) {
  for (const auto& e : exchanges_) {
    if (e->out.get() != &a || e->on_cancel == nullptr) continue;
    const auto fn = std::exchange(e->on_cancel, nullptr);
    fn(e->cancel_ctx, why);
  }
  run_ready();
}

inline std::int32_t fake_host::run_job(std::string_view kind, std::string_view args_json, std::uint32_t attempt) {
  const auto it = jobs_.find(std::string(kind));
  if (it == jobs_.end()) throw std::logic_error("no such job kind");
  running_job job;
  ry_job_view v{};
  v.struct_size = sizeof v;
  v.attempt = attempt;
  v.max_attempts = 20;
  v.id = 1;
  v.fence = attempt;
  v.kind = str(kind);
  v.args_json = str(args_json);
  v.enqueued_unix_us = now_us_;
  v.exec = exec();
  if (it->second.first(it->second.second, &v, reinterpret_cast<ry_job*>(&job)) != RY_OK) {
    return RY_JOB_RETRY;
  }
  run();
  if (job.outcome < 0) throw std::logic_error("the job did not end");
  return job.outcome;
}

inline ry_status fake_host::deliver(std::string_view consumer, std::string_view kind, std::string_view key,
                                    std::string_view payload_json) {
  const auto it = consumers_.find(std::string(consumer));
  if (it == consumers_.end()) throw std::logic_error("no such consumer");
  delivery d;
  ry_event_view v{};
  v.struct_size = sizeof v;
  v.attempt = 1;
  v.id = 1;
  v.kind = str(kind);
  v.key = str(key);
  v.payload_json = str(payload_json);
  v.published_unix_us = now_us_;
  v.exec = exec();
  const ry_status st = it->second.first(it->second.second, &v, reinterpret_cast<ry_event*>(&d));
  if (st != RY_OK) return st;
  run();
  if (d.st < 0) throw std::logic_error("the event was not acknowledged");
  return d.st;
}

}  // namespace ry::testing
