// The files of the page as they are served: with a content hash in their names, and compressed once.
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
  std::string plain, gzip;  // gzip is empty if compression saves nothing
  std::string etag;  // strong tag of `plain`; the tag of `gzip` has "-gz" before the closing quote
};

// Immutable; every function is [any].
class site {
 public:
  // Pages (*.html) and the service worker (worker.js) keep their names; browsers check the URL of the worker for
  // updates. "{{app.js}}" in a page is replaced by the name under which that file is served. Throws ry::error if
  // index.html is missing or a page refers to a missing file.
  explicit site(const std::vector<source>& sources);

  // Returns a page or the worker, such as "index.html"; throws ry::error if it does not exist.
  const file& page(std::string_view name) const;
  // Returns a file by its served name, such as "app.0123456789ab.js"; nullptr if there is none.
  const file* find(std::string_view name) const;

 private:
  std::map<std::string, file, std::less<>> pages_;
  std::map<std::string, file, std::less<>> files_;
};

// Whether an Accept-Encoding header allows gzip.
bool accepts_gzip(std::string_view accept_encoding);
// Whether an If-None-Match header contains this tag, weak or strong, with or without "-gz".
bool contains_etag(std::string_view if_none_match, std::string_view etag);

}  // namespace console
