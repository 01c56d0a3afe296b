// The files of the page as they are served: with the content hash in their names, compressed once.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace console {

struct source {
  std::string name;  // "app.js"
  std::string bytes;
};

struct file {
  std::string content_type;
  std::string plain, gzip;  // gzip is empty if it saves nothing
  std::string etag;  // strong, of `plain`; the compressed form has "-gz" within the quotes
};

// Immutable; every function is [any].
class site {
 public:
  // The service worker, worker.js, keeps its name like the pages, because browsers check this URL for updates.
  // "{{app.js}}" in a page (*.html) is replaced by the name under which that file is served. Throws ry::error if
  // index.html is missing or a page names a missing file.
  explicit site(const std::vector<source>& sources);

  // "index.html" or "worker.js"; throws ry::error if the page does not exist.
  const file& page(std::string_view name) const;
  // By the served name, "app.0123456789ab.js"; nullptr if there is none.
  const file* find(std::string_view name) const;

 private:
  std::map<std::string, file, std::less<>> pages_;
  std::map<std::string, file, std::less<>> files_;
};

// Whether an Accept-Encoding header allows gzip.
bool takes_gzip(std::string_view accept_encoding);
// Whether an If-None-Match header contains this tag, weak or strong.
bool names_etag(std::string_view if_none_match, std::string_view etag);

}  // namespace console
