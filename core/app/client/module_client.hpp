// `runyard modules`: lists the modules of a running server, or changes one of them.
#pragma once

#include <boost/json/array.hpp>
#include <optional>
#include <string>

#include "core/app/client/run_client.hpp"
#include "core/app/config/exit_code.hpp"

namespace ry::app::client {

struct module_request {
  std::string url;  // of the server, may have a base path
  std::string token;  // an admin's bearer token
  std::string change;  // reload, enable or disable; empty: list the modules
  std::string name;
  output as = output::text;
  tls_trust trust{};
  std::string token_source;  // where the token comes from, for the message when it is rejected
};

// Blocks until the old instances have ended or are left in memory. exit_code::failed: nothing has changed, and the
// reason is on standard error.
exit_code change_module(const module_request& request);

// Whether a server responds at this address.
bool is_served(const module_request& where);
// The modules that the server has loaded. nullopt: the reason is on standard error.
std::optional<boost::json::array> loaded_modules(const module_request& request);
// The modules in the form of /admin/modules, as lines of text.
std::string module_list_text(const boost::json::array& modules);

// The text to print for a response, in lines.
std::string module_text(const std::string& body);

}  // namespace ry::app::client
