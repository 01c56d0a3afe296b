#include <stdexcept>

#include "core/http/client/client.hpp"
#include "core/http/client/tls.hpp"

namespace ry::http {

namespace {

client* client_of(const ry_host* host) noexcept {
  return host ? host->rt.http_client : nullptr;
}

ry_status request(const ry_host* host, ry_exec* exec, const ry_client_request* r, const ry_client_handler* handler,
                  void* ctx, ry_op_id* op) noexcept {
  if (!host || !r || !handler) return RY_INVALID_ARGUMENT;
  auto* c = client_of(host);
  if (!c) return RY_UNAVAILABLE;
  try {
    return c->request(host, exec, *r, *handler, ctx, op);
  } catch (const std::exception&) {
    return RY_RESOURCE_EXHAUSTED;
  }
}

void resume(const ry_host* host, ry_op_id op) noexcept {
  if (auto* c = client_of(host)) c->resume(op);
}

ry_status check_url(const ry_host* host, ry_str url) noexcept {
  auto* c = client_of(host);
  if (!c) return RY_UNAVAILABLE;
  try {
    return c->check_url(core::sv(url));
  } catch (const std::exception&) {
    return RY_INVALID_ARGUMENT;
  }
}

void drop_idle(const ry_host* host, ry_exec* exec, ry_str pool_key) noexcept {
  auto* c = client_of(host);
  if (!c || !exec) return;
  try {
    c->drop_idle(exec, std::string(core::sv(pool_key)));
  } catch (const std::exception&) {
    // The idle timeout closes them.
  }
}

ry_status trust(const ry_host* host, ry_str pem, uint64_t* number, ry_errbuf* err) noexcept {
  constexpr std::size_t longest = 4 * 1024 * 1024;
  if (!number || (pem.len && !pem.ptr) || pem.len > longest) return RY_INVALID_ARGUMENT;
  *number = 0;
  try {
    auto* c = client_of(host);
    if (c)
      *number = c->trust(core::sv(pem));
    else
      check_certificates(core::sv(pem));
    return RY_OK;
  } catch (const std::length_error& e) {
    core::write_err(err, e.what());
    return RY_RESOURCE_EXHAUSTED;
  } catch (const std::runtime_error& e) {
    core::write_err(err, e.what());
    return RY_INVALID_ARGUMENT;
  } catch (const std::exception&) {
    return RY_RESOURCE_EXHAUSTED;
  }
}

}  // namespace

const ry_http_client_v1& http_client_v1() noexcept {
  static constexpr ry_http_client_v1 table{sizeof(ry_http_client_v1), 0, request, resume, check_url, drop_idle, trust};
  return table;
}

}  // namespace ry::http
