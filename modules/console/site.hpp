// The files of the page as they are served: named by their content, compressed once.
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
  std::string plain, gzip;  // gzip is empty when it saves nothing
  std::string etag;  // strong, of `plain`; of the compressed form with "-gz" within the quotes
};

// Immutable; every function is [any].
class site {
 public:
  // The service worker, worker.js, keeps its name as pages do: a browser looks for newer ones there.
  // "{{app.js}}" in a page (*.html) becomes the name under which that file is served. Throws ry::error
  // when index.html is missing or a page names a file that is not there.
  explicit site(const std::vector<source>& sources);

  // "index.html", "worker.js"; throws ry::error for a page that is not there.
  const file& page(std::string_view name) const;
  // By the served name, "app.0123456789ab.js"; nullptr: there is none.
  const file* find(std::string_view name) const;

 private:
  std::map<std::string, file, std::less<>> pages_;
  std::map<std::string, file, std::less<>> files_;
};

// Whether an Accept-Encoding takes gzip.
bool takes_gzip(std::string_view accept_encoding);
// Whether an If-None-Match names this tag, in either strength.
bool names_etag(std::string_view if_none_match, std::string_view etag);

}  // namespace console
