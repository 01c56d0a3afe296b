#include "resource_metadata.hpp"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "json_rpc.hpp"

namespace mcp_server {
namespace {

// A Host header is untrusted text that is copied into a header and into JSON.
bool is_authority(std::string_view host) noexcept {
  constexpr std::string_view other = ".-_:[]";
  return !host.empty() && host.size() <= 255 && std::all_of(host.begin(), host.end(), [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           other.find(c) != std::string_view::npos;
  });
}

}  // namespace

public_address address_of(std::string_view public_url, std::string_view base_path, std::string_view host) {
  public_address out;
  out.origin = public_url;
  if (out.origin.empty()) out.origin = "http://" + std::string(is_authority(host) ? host : "localhost");
  while (!out.origin.empty() && out.origin.back() == '/') out.origin.pop_back();
  out.base_path = base_path;
  while (!out.base_path.empty() && out.base_path.back() == '/') out.base_path.pop_back();
  return out;
}

std::string resource_metadata(const public_address& at, const std::vector<std::string>& authorization_servers,
                              std::string_view product) {
  json::object o;
  o["resource"] = jv(at.resource());
  o["resource_name"] = jv(product);
  json::array methods;
  methods.push_back("header");
  o["bearer_methods_supported"] = std::move(methods);
  // RFC 9728 forbids empty lists.
  if (!authorization_servers.empty()) {
    json::array servers;
    for (const auto& each : authorization_servers) servers.push_back(json::string(jv(each)));
    o["authorization_servers"] = std::move(servers);
  }
  return json::serialize(o);
}

std::string challenge(const public_address& at, bool had_token) {
  std::string out = "Bearer resource_metadata=\"" + at.metadata_url() + "\"";
  if (had_token) out += ", error=\"invalid_token\"";
  return out;
}

}  // namespace mcp_server
