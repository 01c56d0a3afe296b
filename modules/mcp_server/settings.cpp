#include "settings.hpp"

#include <json/members.hpp>

#include <boost/json/parse.hpp>

namespace mcp_server {

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
  return out;
}

}  // namespace mcp_server
