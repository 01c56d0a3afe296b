#include <boost/beast/core/string.hpp>
#include <charconv>

#include "core/http/client/client.hpp"

namespace ry::http {

namespace {

struct fetching {
  fetch_result result;
  std::function<void(fetch_result)> done;
};

void on_head(void* ctx, const ry_client_response* r) noexcept {
  auto& out = static_cast<fetching*>(ctx)->result;
  out.status = r->status;
  for (std::size_t i = 0; i < r->n_headers; ++i) {
    const auto value = core::sv(r->headers[i].value);
    if (boost::beast::iequals(core::sv(r->headers[i].name), "retry-after"))
      std::from_chars(value.data(), value.data() + value.size(), out.retry_after_s);
  }
}
ry_status on_data(void* ctx, ry_bytes chunk) noexcept {
  static_cast<fetching*>(ctx)->result.body.append(core::sv(chunk));
  return RY_OK;
}
void on_done(void* ctx, ry_status st, const ry_error_view* err) noexcept {
  const std::unique_ptr<fetching> f(static_cast<fetching*>(ctx));
  f->result.error = core::error::from(st, err);
  f->done(std::move(f->result));
}

}  // namespace

void client::fetch(ry_exec* exec, const fetch_request& request, std::function<void(fetch_result)> done) {
  auto f = std::make_unique<fetching>();
  f->result.error.status = RY_OK;
  f->done = std::move(done);
  std::vector<ry_header> headers;
  for (const auto& [name, value] : request.headers) headers.push_back({core::view(name), core::view(value)});
  ry_client_request r{};
  r.struct_size = sizeof r;
  r.flags = request.flags;
  r.method = core::view(request.method);
  r.url = core::view(request.url);
  r.headers = headers.data();
  r.n_headers = headers.size();
  r.body = core::bytes(request.body);
  const auto ms = static_cast<std::uint64_t>(request.timeout.count());
  r.connect_timeout_ms = r.idle_timeout_ms = r.total_timeout_ms = ms;
  r.max_response_bytes = request.max_bytes;
  const ry_client_handler h{sizeof(ry_client_handler), 0, on_head, on_data, on_done};
  const auto st = this->request(nullptr, exec, r, h, f.get(), nullptr);
  auto* started = f.release();
  if (st == RY_OK) return;
  exec->post([f = std::shared_ptr<fetching>(started), st] {
    f->result.error = {st, "http_client.unavailable", "the request could not be started", {}, 0, 0};
    f->done(std::move(f->result));
  });
}

}  // namespace ry::http
