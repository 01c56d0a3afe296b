// Ownership of libcurl's objects: std::unique_ptr<CURL, curl_deleter>.
#pragma once
#include <curl/curl.h>

namespace ry::app::client {

struct curl_deleter {
  void operator()(CURL* c) const { curl_easy_cleanup(c); }
  void operator()(curl_slist* l) const { curl_slist_free_all(l); }
  void operator()(curl_mime* m) const { curl_mime_free(m); }
};

}  // namespace ry::app::client
