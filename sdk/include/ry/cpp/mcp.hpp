// Drivers of mcp.transport/1 in C++: a driver class opens sessions, a session class sends and receives messages.
//
//   #include <ry/ry.hpp>
//   #include <ry/cpp/mcp.hpp>
//
//   class pipe_driver {
//    public:
//     static constexpr std::uint32_t capabilities = RY_MCP_MODERN;
//     void check(const ry::mcp::target& t) const;                                    // throws ry::error
//     ry::mcp::session* open(const ry::mcp::target& t, ry_exec* exec, ry::mcp::sink to);
//     ry::task<ry::mcp::resolved> resolve(ry::mcp::target t);                        // RY_MCP_RESOLVES
//     ry::task<ry::mcp::resolved> authorize(ry::mcp::target t, ry::mcp::refusal r);  // RY_MCP_AUTHORIZES
//   };
//
//   class pipe_module {
//    public:
//     pipe_module(ry::context&, ry::registrar& reg) {
//       static constexpr auto table = ry::mcp::transport_table<pipe_driver>();
//       reg.contribute(RY_MCP_TRANSPORT_1, "pipe", &table, &driver_);
//     }
//
//    private:
//     pipe_driver driver_;
//   };
//   RY_MODULE(pipe_module, "pipe", "1.0.0", .needs(RY_MCP_TRANSPORT_1));
//
// An exception of a driver becomes the status and the error message of the call.
#pragma once

#include <ry/ext/mcp_transport.h>

#include <ry/cpp/http_client.hpp>

namespace ry::mcp {

// The server to connect to: owns the data that ry_mcp_target borrowed.
struct target {
  explicit target(const ry_mcp_target& t)
      : flags(t.flags),
        server(text(t.server)),
        config_json(text(t.config_json)),
        account_id(text(t.account_id)),
        identity(text(t.identity)),
        connect_timeout_ms(t.connect_timeout_ms),
        max_message_bytes(t.max_message_bytes == 0 ? UINT64_MAX : t.max_message_bytes) {}
  bool operators_own() const noexcept { return (flags & RY_MCP_OPERATOR) != 0; }
  bool unsandboxed() const noexcept { return operators_own() && (flags & RY_MCP_UNSANDBOXED) != 0; }

  std::uint32_t flags;
  std::string server, config_json, account_id, identity;
  std::uint64_t connect_timeout_ms, max_message_bytes;
};

// A configuration that replaces another one.
struct resolved {
  std::string type, config_json;
};

// The server's response to a resolved configuration: owns the data that ry_mcp_refusal borrowed.
struct refusal {
  explicit refusal(const ry_mcp_refusal& r)
      : http_status(r.http_status), config_json(text(r.config_json)), authenticate(text(r.authenticate)) {}

  std::uint32_t http_status;
  std::string config_json, authenticate;
};

// The result of sending a message; zero and empty where unknown.
struct outcome {
  std::uint32_t flags = 0, http_status = 0, retry_after_s = 0;
  std::string body, authenticate;
};

// Receives the messages of a session. Called on the executor of the session, and not after its close().
class sink {
 public:
  sink(const ry_mcp_sink& s, void* ctx) noexcept : table_(s), ctx_(ctx) {}
  // RY_RESOURCE_EXHAUSTED: accepted, but stop reading until resume(); other errors: end the session.
  ry_status message(std::uint64_t token, std::string_view json) const noexcept {
    return table_.on_message(ctx_, token, str(json));
  }
  void sent(std::uint64_t token, const outcome& o = {}) const noexcept { sent(token, o, error(RY_OK)); }
  void sent(std::uint64_t token, const outcome& o, const error& e) const noexcept {
    ry_mcp_outcome c{};
    c.struct_size = sizeof c;
    c.flags = o.flags;
    c.http_status = o.http_status;
    c.retry_after_s = o.retry_after_s;
    c.body = str(o.body);
    c.authenticate = str(o.authenticate);
    const ry_error_view v = e.view();
    table_.on_sent(ctx_, token, e.status(), &c, e.status() == RY_OK ? nullptr : &v);
  }
  void closed(const error& e) const noexcept {
    const ry_error_view v = e.view();
    table_.on_closed(ctx_, e.status(), &v);
  }

 private:
  ry_mcp_sink table_;
  void* ctx_;
};

// A message to be sent: owns the data that ry_mcp_message borrowed.
struct message {
  explicit message(const ry_mcp_message& m)
      : kind(m.kind & 0xff),
        bits(m.kind & ~0xffu),
        token(m.token),
        json(text(m.json)),
        fields(ry::detail::own_headers(m.headers, m.n_headers)),
        timeout_ms(m.timeout_ms) {}
  bool is(std::uint32_t bit) const noexcept { return (bits & bit) != 0; }

  std::uint32_t kind, bits;
  std::uint64_t token;
  std::string json;
  headers fields;
  std::uint64_t timeout_ms;
};

// One connection. All members on its executor.
class session {
 public:
  virtual ry_status send(message m) = 0;
  virtual void finish(std::uint64_t token, std::int32_t why) noexcept = 0;
  virtual void resume() noexcept = 0;
  // Ends the handle. The session destroys itself after its clean-up, and does not use its sink any more.
  virtual void close() noexcept = 0;

 protected:
  virtual ~session() = default;
};

namespace detail {

inline ry::task<void> answer(task<resolved> work, ry_mcp_resolved_fn fn, void* ctx) {
  std::optional<resolved> found;
  error why(RY_INTERNAL);
  try {
    found = co_await std::move(work);
  } catch (...) {
    why = current_error();
  }
  if (found) {
    fn(ctx, RY_OK, str(found->type), str(found->config_json), nullptr);
  } else {
    const ry_error_view v = why.view();
    fn(ctx, why.status() == RY_OK ? RY_INTERNAL : why.status(), ry_str{}, ry_str{}, &v);
  }
}

// Posted, so that the completion is never called inside the call.
inline void answer_later(const context& host, task<resolved> work, ry_exec* exec, ry_mcp_resolved_fn fn, void* ctx) {
  host.post(exec, [&host, work = std::move(work), exec, fn, ctx]() mutable {
    if (host.spawn(answer(std::move(work), fn, ctx), exec)) return;
    fn(ctx, RY_UNAVAILABLE, ry_str{}, ry_str{}, nullptr);
  });
}

}  // namespace detail

// The table of a driver; its self is a Driver. A driver with RY_MCP_RESOLVES has `const context&
// host() const`.
template <class Driver>
constexpr ry_mcp_transport_v1 transport_table() noexcept {
  ry_mcp_transport_v1 t{};
  t.struct_size = sizeof t;
  t.capabilities = Driver::capabilities;
  t.check = [](void* self, const ry_mcp_target* to, ry_errbuf* err) noexcept {
    return guard([&] { static_cast<Driver*>(self)->check(target(*to)); }, err);
  };
  t.open = [](void* self, const ry_mcp_target* to, ry_exec* exec, const ry_mcp_sink* s, void* ctx, void** out,
              ry_errbuf* err) noexcept {
    return guard(
        [&]() -> ry_status {
          if constexpr ((Driver::capabilities & RY_MCP_RESOLVES) != 0) {
            return RY_UNIMPLEMENTED;
          } else {
            *out = static_cast<Driver*>(self)->open(target(*to), exec, sink(*s, ctx));
            return RY_OK;
          }
        },
        err);
  };
  t.send = [](void*, void* s, const ry_mcp_message* m) noexcept {
    return guard([&] { return static_cast<session*>(s)->send(message(*m)); });
  };
  t.finish = [](void*, void* s, std::uint64_t token, std::int32_t why) noexcept {
    static_cast<session*>(s)->finish(token, why);
  };
  t.resume = [](void*, void* s) noexcept { static_cast<session*>(s)->resume(); };
  t.close = [](void*, void* s) noexcept { static_cast<session*>(s)->close(); };
  t.resolve = [](void* self, const ry_mcp_target* to, ry_exec* exec, ry_mcp_resolved_fn fn, void* ctx) noexcept {
    return guard([&]() -> ry_status {
      if constexpr ((Driver::capabilities & RY_MCP_RESOLVES) != 0) {
        auto* d = static_cast<Driver*>(self);
        detail::answer_later(d->host(), d->resolve(target(*to)), exec, fn, ctx);
        return RY_OK;
      } else {
        (void)self, (void)to, (void)exec, (void)fn, (void)ctx;
        return RY_UNIMPLEMENTED;
      }
    });
  };
  t.authorize = [](void* self, const ry_mcp_target* to, const ry_mcp_refusal* refused, ry_exec* exec,
                   ry_mcp_resolved_fn fn, void* ctx) noexcept {
    return guard([&]() -> ry_status {
      if constexpr ((Driver::capabilities & RY_MCP_AUTHORIZES) != 0) {
        auto* d = static_cast<Driver*>(self);
        auto work = d->authorize(target(*to), refusal(*refused));
        detail::answer_later(d->host(), std::move(work), exec, fn, ctx);
        return RY_OK;
      } else {
        (void)self, (void)to, (void)refused, (void)exec, (void)fn, (void)ctx;
        return RY_UNIMPLEMENTED;
      }
    });
  };
  return t;
}

}  // namespace ry::mcp
