// One call of a server's JSON interface by a command of `runyard`.
#pragma once

#include <boost/json/object.hpp>
#include <chrono>
#include <string>

#include "core/app/client/tls_trust.hpp"

namespace ry::app::client {

struct api_call {
  std::string url;  // of the server, maybe with a base path
  std::string path;
  std::string token;  // bearer; empty: none is sent
  std::string body;   // JSON; sent by POST
  std::chrono::seconds patience{60};
  tls_trust trust{};
};

struct api_answer {
  long status = 0;  // 0: see `error`
  std::string body;
  std::string error;  // why there is no answer, a sentence
  bool nobody_listens = false;  // no connection was made

  bool ok() const noexcept { return status / 100 == 2; }
  // The sentence of an error: of its `detail`, or why there is no answer.
  std::string reason() const;
};

// Blocks until the answer is whole.
api_answer post(const api_call& call);
api_answer get(const api_call& call);

// A member that is a string; else an empty one.
std::string text_of(const boost::json::object& o, const char* key);
// null when it is no JSON.
boost::json::value parsed(const std::string& text);

}  // namespace ry::app::client
