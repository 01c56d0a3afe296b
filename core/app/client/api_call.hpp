// One call of a server's JSON API by a `runyard` command.
#pragma once

#include <boost/json/object.hpp>
#include <chrono>
#include <string>

#include "core/app/client/tls_trust.hpp"

namespace ry::app::client {

struct api_call {
  std::string url;  // of the server, may have a base path
  std::string path;
  std::string token;  // bearer token; empty: none is sent
  std::string body;  // JSON; sent by POST
  std::chrono::seconds timeout{60};
  tls_trust trust{};
};

struct api_answer {
  long status = 0;  // 0: see `error`
  std::string body;
  std::string error;  // why there is no response
  bool cannot_connect = false;  // the connection could not be made

  bool ok() const noexcept { return status / 100 == 2; }
  // The reason of a failure, for people: the response's `detail`, or why there is no response.
  std::string reason() const;
};

// Blocks until the response is complete.
api_answer post(const api_call& call);
api_answer get(const api_call& call);

// The member if it is a string, otherwise an empty string.
std::string text_of(const boost::json::object& o, const char* key);
// null if the text is not JSON.
boost::json::value parsed(const std::string& text);

}  // namespace ry::app::client
