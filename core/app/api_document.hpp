// The OpenAPI 3.1 document of what is served now: the host's own description and those of the loaded
// modules, one document. Pure but for api_document, which keeps the text that is served.
#pragma once

#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "core/http/server.hpp"
#include "core/module/module_set.hpp"
#include "core/module/registration.hpp"

namespace ry::app {

// One route with what the document needs of it.
struct api_route {
  std::string owner;  // module, or "host"
  std::string method, pattern, openapi_json;
  std::uint32_t flags = 0;  // RY_ROUTE_*
};

struct api_parts {
  std::string version;    // of the product
  std::string base_path;  // http.base_path without a '/' at its end
  std::vector<api_route> routes;
  std::vector<module::module_text> texts;  // with that of "host"
};

// The JSON text. Parts of the wrong shape, which the registrar keeps out, are left out.
std::string api_text(const api_parts& parts);

// "schemas/host.Error" for each component of the host's description.
std::set<std::string> host_components();

// Serves GET /openapi.json. Lifetime: as long as the server. Threads: update() by one thread at a time,
// the route by any.
class api_document {
 public:
  api_document(http::server& server, std::string base_path);

  // What is served from now on. Before the first call there is no document (503).
  void update(const std::vector<module::route>& routes, std::vector<module::module_text> texts);
  http::host_answer answer() const;

 private:
  http::server& server_;
  const std::string base_path_;
  mutable std::mutex mutex_;
  std::shared_ptr<const std::string> text_;
};

}  // namespace ry::app
