#include "core/http/client/client.hpp"

#include <algorithm>
#include <array>
#include <boost/beast/core/string.hpp>
#include <cstddef>
#include <map>
#include <mutex>
#include <stdexcept>
#include <unordered_map>

#include "core/exec/op_table.hpp"
#include "core/http/client/exchange.hpp"
#include "core/http/field_text.hpp"
#include "core/observe/open_span.hpp"

namespace ry::http {

namespace {

using core::sv;

std::chrono::milliseconds timeout_or_default(std::uint64_t ms, std::uint64_t fallback) {
  constexpr std::uint64_t week = 7ull * 24 * 3600 * 1000;
  return std::chrono::milliseconds(std::min(ms ? ms : fallback, week));
}

// Fields that the client sets itself; values from the caller are ignored.
bool is_client_managed(std::string_view name) {
  for (std::string_view managed : {"host", "content-length", "connection", "transfer-encoding", "te", "trailer",
                                   "upgrade", "keep-alive", "proxy-connection", "expect"})
    if (boost::beast::iequals(name, managed)) return true;
  return false;
}

// The header lines of a request; sets `problem` if the request is invalid.
std::string request_header_lines(const ry_client_request& r, const std::string& agent, std::string& problem) {
  std::string out;
  const auto method = sv(r.method);
  if (!is_token(method) || method.size() > 32 || method == "CONNECT") {
    problem = "the method is not allowed";
    return out;
  }
  bool has_agent = false, has_accept = false;
  for (std::size_t i = 0; i < r.n_headers; ++i) {
    const auto name = sv(r.headers[i].name);
    const auto value = sv(r.headers[i].value);
    if (!is_token(name)) {
      problem = "a header name contains a character that is not allowed";
      return {};
    }
    if (!is_field_value(value)) {
      problem = "the header " + std::string(name) + " contains a character that is not allowed";
      return {};
    }
    if (is_client_managed(name)) continue;
    has_agent = has_agent || boost::beast::iequals(name, "user-agent");
    has_accept = has_accept || boost::beast::iequals(name, "accept");
    out.append(name).append(": ").append(value).append("\r\n");
  }
  if (!has_agent) out.append("User-Agent: ").append(agent).append("\r\n");
  if (!has_accept) out.append("Accept: */*\r\n");
  return out;
}

}  // namespace

struct client::impl {
  impl(exec::loop_pool& loops, exec::op_table& ops, client_settings s)
      : loops(loops),
        ops(ops),
        names(s.lookup, {.per_account = s.account_lookups}),
        interfaces(s.interfaces),
        parts{std::move(s), nullptr, names, interfaces, stats} {
    parts.tls = std::make_shared<const tls_context>(parts.settings.ca_file);
    for (std::size_t i = 0; i < loops.size(); ++i)
      states.push_back(std::make_unique<loop_state>(loops.at(i), parts.settings.idle_limits));
  }

  loop_state* state_of(ry_exec* exec) {
    if (!exec || exec->index >= states.size()) return nullptr;
    auto* s = states[exec->index].get();
    return &s->loop == exec ? s : nullptr;
  }

  // Requests that can be resumed, by id.
  struct alignas(64) shard {
    std::mutex mutex;
    struct entry {
      std::weak_ptr<exchange> what;
      ry_exec* exec;
    };
    std::unordered_map<ry_op_id, entry> running;
  };
  shard& shard_of(ry_op_id id) { return shards[id % shards.size()]; }

  // Certificates that single requests trust in addition to the default set; the id returned by trust() is the index in
  // `sets` plus one.
  struct certificate_sets {
    static constexpr std::size_t max_sets = 256;
    std::mutex mutex;
    std::map<std::string, std::uint64_t, std::less<>> ids;  // by PEM text
    std::vector<std::shared_ptr<const tls_context>> sets;
  };
  certificate_sets trusted;

  exec::loop_pool& loops;
  exec::op_table& ops;
  client_stats stats;
  resolver names;
  local_addresses interfaces;
  exchange_context parts;
  std::array<shard, 16> shards;
  std::vector<std::unique_ptr<loop_state>> states;
  std::atomic<bool> stopping{false};
};

client::client(exec::loop_pool& loops, exec::op_table& ops, client_settings settings)
    : impl_(std::make_unique<impl>(loops, ops, std::move(settings))) {}

client::~client() {
  for (auto& s : impl_->states) {
    for (auto& e : s->running) e->abandon();
    s->running.clear();
    s->idle.clear();
  }
}

// Opens a client span, and adds traceparent if the receiver may get it and the caller did not set it.
void client::trace(const ry_client_request& r, exchange_request& x) const {
  using receivers = observe::trace_settings::receivers;
  x.trace = observe::current_trace();
  if (!x.trace || !x.problem.empty() || !std::holds_alternative<target>(x.to)) return;
  const auto& to = std::get<target>(x.to);
  x.span = observe::open_span(x.trace, observe::span_kind::client, x.method);
  x.span.set("http.request.method", x.method);
  x.span.set("server.address", to.host.name);
  x.span.set("server.port", std::int64_t{to.port});
  const auto who = impl_->parts.settings.propagate;
  if (who == receivers::none || (who == receivers::operators && !(r.flags & RY_CLIENT_OPERATOR_URL))) return;
  for (std::size_t i = 0; i < r.n_headers; ++i)
    if (boost::beast::iequals(sv(r.headers[i].name), "traceparent")) return;
  const auto parent = x.span ? observe::traceparent_of(x.trace->trace_id, x.span.data().span_id, x.trace->flags)
                             : observe::traceparent_of(*x.trace);
  x.headers.append("traceparent: ").append(parent).append("\r\n");
  if (!x.trace->state.empty()) x.headers.append("tracestate: ").append(x.trace->state).append("\r\n");
}

std::uint64_t client::trust(std::string_view pem) {
  auto& t = impl_->trusted;
  {
    std::lock_guard lock(t.mutex);
    if (const auto known = t.ids.find(pem); known != t.ids.end()) return known->second;
  }
  if (pem.empty()) check_certificates(pem);
  auto context = std::make_shared<const tls_context>(impl_->parts.settings.ca_file, pem);
  std::lock_guard lock(t.mutex);
  if (const auto known = t.ids.find(pem); known != t.ids.end()) return known->second;
  if (t.sets.size() >= t.max_sets) throw std::length_error("too many sets of certificates; restart the server");
  t.sets.push_back(std::move(context));
  t.ids.emplace(pem, t.sets.size());
  return t.sets.size();
}

// Sets the proxy and the trusted certificates of the request.
void client::route(const ry_client_request& r, exchange_request& x) const {
  const auto has = [&r](std::size_t end) { return r.struct_size >= end; };
  const auto proxy_text = has(offsetof(ry_client_request, proxy) + sizeof r.proxy) ? sv(r.proxy) : std::string_view();
  const auto trust = has(offsetof(ry_client_request, trust) + sizeof r.trust) ? r.trust : 0;
  x.tls = impl_->parts.tls;
  x.trust = trust;
  if (trust != 0) {
    auto& t = impl_->trusted;
    std::lock_guard lock(t.mutex);
    if (trust > t.sets.size())
      x.problem = "`trust` is not a number that trust() returned";
    else
      x.tls = t.sets[trust - 1];
  }
  const bool from_environment = proxy_text.empty() && (r.flags & RY_CLIENT_ENVIRONMENT_PROXY);
  if (proxy_text.empty() && !from_environment) return;
  // The proxy would bypass the address guard.
  if (!(r.flags & RY_CLIENT_OPERATOR_URL)) {
    x.proxy_problem = "a proxy can be used only for URLs from the configuration";
    return;
  }
  x.environment_proxy = from_environment;
  if (from_environment) return;
  auto p = parse_proxy(proxy_text);
  if (auto* problem = std::get_if<std::string>(&p))
    x.proxy_problem = "the proxy cannot be used: " + *problem;
  else
    x.given_proxy = std::move(std::get<proxy>(p));
}

ry_status client::request(const ry_host* host, ry_exec* exec, const ry_client_request& r,
                          const ry_client_handler& handler, void* ctx, ry_op_id* op) {
  auto* state = impl_->state_of(exec);
  constexpr std::size_t smallest = offsetof(ry_client_request, pool_key) + sizeof(ry_client_request::pool_key);
  if (!state || r.struct_size < smallest || handler.struct_size < sizeof(ry_client_handler) || !handler.on_done ||
      (r.n_headers && !r.headers) || (r.body.len && !r.body.ptr))
    return RY_INVALID_ARGUMENT;
  if (impl_->stopping.load(std::memory_order_acquire)) return RY_UNAVAILABLE;
  exchange_request x;
  x.to = parse_target(sv(r.url));
  x.method = core::str(r.method);
  x.headers = request_header_lines(r, impl_->parts.settings.user_agent, x.problem);
  x.body = std::string(sv(r.body));
  x.pool_key = core::str(r.pool_key);
  x.flags = r.flags;
  x.connect_timeout = timeout_or_default(r.connect_timeout_ms, 10'000);
  x.idle_timeout = timeout_or_default(r.idle_timeout_ms, 60'000);
  x.total_timeout = timeout_or_default(r.total_timeout_ms, 0);
  x.max_response = r.max_response_bytes ? r.max_response_bytes : 64ull * 1024 * 1024;
  if (r.struct_size >= offsetof(ry_client_request, account) + sizeof r.account) x.account = core::str(r.account);

  route(r, x);
  trace(r, x);
  impl_->stats.requests.fetch_add(1, std::memory_order_relaxed);
  auto slot = std::make_shared<ry_op_id>(0);
  auto e = std::make_shared<exchange>(impl_->parts, *state, std::move(x), handler, ctx, module::hold(host),
                                      [i = impl_.get(), slot] {
                                        i->ops.finish(*slot);
                                        auto& s = i->shard_of(*slot);
                                        std::lock_guard lock(s.mutex);
                                        s.running.erase(*slot);
                                      });
  *slot = impl_->ops.start([weak = std::weak_ptr(e), exec] {
    exec->post([weak] {
      if (auto self = weak.lock()) self->cancel();
    });
  });
  {
    auto& s = impl_->shard_of(*slot);
    std::lock_guard lock(s.mutex);
    s.running.emplace(*slot, impl::shard::entry{e, exec});
  }
  if (op) *op = *slot;
  exec->post([i = impl_.get(), e = std::move(e)] {
    // A stop() before this point did not cancel this request.
    if (i->stopping.load(std::memory_order_acquire)) e->cancel();
    e->start();
  });
  return RY_OK;
}

void client::drop_idle(ry_exec* exec, std::string pool_key) {
  auto* state = impl_->state_of(exec);
  if (!state) return;
  exec->post([state, key = std::move(pool_key)] {
    state->idle.drop([&](const std::string& name) { return exchange::pool_key_of(name) == key; });
  });
}

void client::resume(ry_op_id op) {
  auto& s = impl_->shard_of(op);
  std::lock_guard lock(s.mutex);
  const auto it = s.running.find(op);
  if (it == s.running.end()) return;
  it->second.exec->post([weak = it->second.what] {
    if (auto self = weak.lock()) self->resume();
  });
}

ry_status client::check_url(std::string_view url) const {
  const auto t = parse_target(url);
  if (!std::holds_alternative<target>(t)) return RY_INVALID_ARGUMENT;
  if (impl_->parts.settings.guard == address_guard::off) return RY_OK;
  const auto& host = std::get<target>(t).host;
  const bool refused = host.literal ? impl_->parts.refuses(*host.literal) : guard::refused_name(host.name).has_value();
  return refused ? RY_PERMISSION_DENIED : RY_OK;
}

void client::stop() {
  impl_->stopping.store(true, std::memory_order_release);
  for (auto& s : impl_->states)
    s->loop.post([state = s.get()] {
      const auto running = state->running;
      for (const auto& e : running) e->cancel();
      state->idle.clear();
    });
}

const client_stats& client::stats() const noexcept {
  return impl_->stats;
}

resolver_stats client::lookups() const {
  return impl_->names.stats();
}

}  // namespace ry::http
