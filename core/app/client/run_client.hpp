// `runyard run`: starts a run on a server and follows its stream to the end.
#pragma once

#include <string>
#include <vector>

#include "core/app/client/tls_trust.hpp"
#include "core/app/config/exit_code.hpp"

namespace ry::app::client {

enum class output { text, json_lines };

struct run_request {
  std::string url;  // of the server, may have a base path
  std::string token;  // bearer token
  std::string prompt;
  std::vector<std::string> files;
  std::string model, thread, agent;  // empty: not sent
  output as = output::text;
  tls_trust trust{};
};

// Blocks until the run has ended, the stream is lost permanently, or SIGINT arrives (the run then continues). Writes
// the answer to standard output, everything else to standard error.
exit_code run(const run_request& request);

}  // namespace ry::app::client
