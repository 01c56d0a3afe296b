// `runyard modules reload|enable|disable`: asks a running server to change one of its modules.
#pragma once

#include <string>

#include "core/app/client/run_client.hpp"
#include "core/app/exit_code.hpp"

namespace ry::app::client {

struct module_request {
  std::string url;     // of the server, maybe with a base path
  std::string token;   // bearer of an admin
  std::string change;  // reload, enable or disable
  std::string name;
  output as = output::text;
};

// Blocks until the old generations are gone or left behind. exit_code::refused: nothing has changed, the
// reason is on standard error.
exit_code change_module(const module_request& request);

// What is printed of an answer, in lines.
std::string module_text(const std::string& body);

}  // namespace ry::app::client
