// `runyard modules`: asks a running server what it has loaded, or to change one of its modules.
#pragma once

#include <boost/json/array.hpp>
#include <optional>
#include <string>

#include "core/app/client/run_client.hpp"
#include "core/app/exit_code.hpp"

namespace ry::app::client {

struct module_request {
  std::string url;     // of the server, maybe with a base path
  std::string token;   // bearer of an admin
  std::string change;  // reload, enable or disable; empty: none, they are listed
  std::string name;
  output as = output::text;
  tls_trust trust{};
  std::string token_source;  // where the token comes from, for a refusal of it
};

// Blocks until the old generations are gone or left behind. exit_code::failed: nothing has changed, the
// reason is on standard error.
exit_code change_module(const module_request& request);

// Does anybody answer there?
bool is_served(const module_request& where);
// What the server has loaded. nullopt: the reason is on standard error.
std::optional<boost::json::array> loaded_modules(const module_request& request);
// Modules as /admin/modules has them, in lines.
std::string module_list_text(const boost::json::array& modules);

// What is printed of an answer, in lines.
std::string module_text(const std::string& body);

}  // namespace ry::app::client
