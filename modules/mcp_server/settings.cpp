#include "settings.hpp"

#include <json/members.hpp>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

namespace mcp_server {
namespace {

// The host adds empty members to a config; the module mcp rejects those that the server's type does not have.
boost::json::array without_empty_members(boost::json::array servers) {
  for (boost::json::value& server : servers) {
    boost::json::object& config = server.as_object().at("config").as_object();
    for (const char* key : {"headers", "env", "args"}) {
      const boost::json::value* v = config.if_contains(key);
      if (v == nullptr) continue;
      if ((v->is_object() && v->get_object().empty()) || (v->is_array() && v->get_array().empty())) config.erase(key);
    }
  }
  return servers;
}

}  // namespace

settings read_settings(std::string_view json) {
  namespace bj = boost::json;
  const bj::value v = bj::parse(bj::string_view(json.data(), json.size()));
  const bj::object& o = v.as_object();
  settings out;
  if (const bj::array* all = module_json::array_at(o, "authorization_servers")) {
    for (const bj::value& each : *all) out.authorization_servers.emplace_back(each.as_string().c_str());
  }
  out.max_body_bytes = static_cast<std::uint64_t>(module_json::integer_at(o, "max_body_mb", 16)) << 20;
  out.calls_per_account = static_cast<std::size_t>(module_json::integer_at(o, "calls_per_account", 50));
  out.approval_wait_us = module_json::integer_at(o, "approval_wait_seconds", 60) * 1'000'000;
  out.elicitation_wait_us = module_json::integer_at(o, "elicitation_wait_seconds", 600) * 1'000'000;
  const bj::array* servers = module_json::array_at(o, "servers");
  if (servers != nullptr && !servers->empty()) out.servers_json = bj::serialize(without_empty_members(*servers));
  return out;
}

}  // namespace mcp_server
