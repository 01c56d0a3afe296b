// Builds the OpenAPI 3.1 document of the routes that are served now: the descriptions of the host and of the loaded
// modules, merged into one. Pure, except for api_document, which keeps the served text.
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

// One route with the properties that the document needs.
struct api_route {
  std::string owner;  // module, or "host"
  std::string method, pattern, openapi_json;
  std::uint32_t flags = 0;  // RY_ROUTE_*
};

struct api_parts {
  std::string version;  // of the product
  std::string base_path;  // http.base_path without a '/' at its end
  std::vector<api_route> routes;
  std::vector<module::module_text> texts;  // including the text of "host"
};

// The document as JSON text. Malformed parts are omitted; the registrar already rejects them.
std::string api_text(const api_parts& parts);

// Names of the form "schemas/host.Error", one for each component of the host's description.
std::set<std::string> host_components();

// Serves GET /openapi.json. Lifetime: as long as the server. Threads: update() from one thread at a time, the route
// from any.
class api_document {
 public:
  api_document(http::server& server, std::string base_path);

  // Replaces the served document. Before the first call the route answers 503.
  void update(const std::vector<module::route>& routes, std::vector<module::module_text> texts);
  http::host_answer answer() const;

 private:
  http::server& server_;
  const std::string base_path_;
  mutable std::mutex mutex_;
  std::shared_ptr<const std::string> text_;
};

}  // namespace ry::app
