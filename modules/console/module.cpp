#include <ry/cpp/module.hpp>

#include "embedded.hpp"
#include "openapi.hpp"
#include "site.hpp"

namespace console {
namespace {

// Allows only this server's own files, no inline code and no embedding in frames. Scripts cannot turn text into HTML
// (Trusted Types; the policy `worker` allows one URL, that of the service worker). Referrer-Policy is no-referrer,
// because URLs may contain codes.
constexpr const char* policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for "
    "'script'; "
    "trusted-types worker";

std::vector<source> embedded() {
  std::vector<source> out;
  for (const auto& f : console_assets::all) {
    out.push_back({std::string(f.name), std::string(f.bytes)});
  }
  return out;
}

class service {
 public:
  service(ry::context&, ry::registrar& reg) : site_(embedded()) {
    const auto page = [this](ry::request r) { return serve(r, site_.page("index.html"), "no-cache"); };
    const auto reference = [this](ry::request r) { return serve(r, site_.page("reference.html"), "no-cache"); };
    const auto worker = [this](ry::request r) { return serve(r, site_.page("worker.js"), "no-cache"); };
    const auto asset = [this](ry::request r) {
      const auto* f = site_.find(r.param("name"));
      if (f == nullptr) throw ry::not_found("console.no_file", "Not Found");
      return serve(r, *f, "public, max-age=31536000, immutable");
    };
    const auto redirect = [](ry::request) { return ry::response::empty(303).header("Location", "console"); };
    reg.route("GET", "/auth", RY_ROUTE_PUBLIC, page);
    reg.route("GET", "/console", RY_ROUTE_PUBLIC, page);
    reg.route("GET", "/reference", RY_ROUTE_PUBLIC, reference);
    reg.route("GET", "/console/worker.js", RY_ROUTE_PUBLIC, worker);
    reg.route("GET", "/console/assets/{name}", RY_ROUTE_PUBLIC, asset);
    reg.route("GET", "/", RY_ROUTE_PUBLIC, redirect);
    reg.describe(ry_openapi::api);
  }

 private:
  static ry::response serve(const ry::request& r, const file& f, const char* cache_control) {
    const bool gzip = !f.gzip.empty() && accepts_gzip(r.header("Accept-Encoding"));
    auto etag = f.etag;
    if (gzip) etag.insert(etag.size() - 1, "-gz");
    const bool is_unchanged = contains_etag(r.header("If-None-Match"), f.etag);
    auto out = is_unchanged ? ry::response(304) : ry::response(200, f.content_type, gzip ? f.gzip : f.plain);
    if (gzip && !is_unchanged) out.header("Content-Encoding", "gzip");
    out.header("ETag", etag)
        .header("Cache-Control", cache_control)
        .header("Vary", "Accept-Encoding")
        .header("X-Content-Type-Options", "nosniff")
        .header("Content-Security-Policy", policy)
        .header("Referrer-Policy", "no-referrer")
        .header("Cross-Origin-Opener-Policy", "same-origin")
        .header("Cross-Origin-Resource-Policy", "same-origin")
        .header("Permissions-Policy", "camera=(), microphone=(), geolocation=()");
    return out;
  }

  const site site_;
};

}  // namespace
}  // namespace console

RY_MODULE(console::service, "console", "0.1.0", .needs(RY_HTTP_1, "accounts/1"));
