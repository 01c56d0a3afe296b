#include "metadata.hpp"

#include <algorithm>

#include "challenge.hpp"
#include "oauth_error.hpp"
#include "url.hpp"

namespace mcp::oauth {
namespace {

using mcp_transport::parse_url;
using mcp_transport::url_parts;

constexpr std::size_t max_url = 2048;
constexpr std::size_t max_methods = 32;

std::optional<url_parts> parsed(std::string_view text) {
  return text.size() <= max_url ? parse_url(text) : std::nullopt;
}

std::string path_of(const url_parts& u) {
  std::string path(u.path);
  while (path.ends_with('/')) path.pop_back();
  return path;
}

json::object object_in(std::string_view body, std::string_view name) {
  json::value v;
  try {
    v = parse(body);
  } catch (const ry::error&) {
    throw protocol_error("its " + std::string(name) + " is not valid JSON");
  }
  if (!v.is_object()) throw protocol_error("its " + std::string(name) + " is not a JSON object");
  return std::move(v.get_object());
}

std::vector<std::string> texts_in(const json::object& o, std::string_view key, std::size_t max_count) {
  std::vector<std::string> out;
  const auto* list = array_at(o, key);
  if (list == nullptr) return out;
  for (const auto& v : *list) {
    if (v.is_string() && out.size() < max_count) out.emplace_back(sv(v.get_string()));
  }
  return out;
}

std::string_view without_root(std::string_view url) {
  const auto u = parsed(url);
  if (u && u->path == "/" && !u->has_query && !u->has_fragment) url.remove_suffix(1);
  return url;
}

}  // namespace

bool same_issuer(std::string_view a, std::string_view b) {
  return without_root(a) == without_root(b);
}

bool on_host_of(std::string_view url, std::string_view issuer) {
  const auto u = parsed(url), i = parsed(issuer);
  if (!u || !i || u->https() != i->https()) return false;
  const std::string host(u->host), issuer_host(i->host);
  return host == issuer_host || (issuer_host.find('.') != std::string::npos && host.ends_with("." + issuer_host));
}

std::string document_problem(std::string_view body, document kind) {
  json::value v;
  try {
    v = parse(body);
  } catch (const ry::error&) {
    return "is not valid JSON";
  }
  const auto* o = v.if_object();
  if (o == nullptr) return "is not a JSON object";
  const bool found = kind == document::resource ? o->contains("resource") || o->contains("authorization_servers")
                                                : o->contains("issuer") || o->contains("token_endpoint");
  return found ? "" : "is not a metadata document";
}

server_metadata default_metadata(std::string_view issuer) {
  const auto u = parsed(issuer);
  server_metadata m;
  if (!u) return m;
  m.issuer = u->origin();
  m.authorization_endpoint = u->with_path("/authorize");
  m.token_endpoint = u->with_path("/token");
  m.registration_endpoint = u->with_path("/register");
  return m;
}

bool is_usable_url(std::string_view url, schemes allowed) {
  const auto u = parsed(url);
  return u && !u->has_userinfo && !u->has_fragment && (u->https() || allowed == schemes::http_too);
}

std::vector<std::string> resource_metadata_urls(std::string_view server_url) {
  const auto u = parsed(server_url);
  if (!u) return {};
  const std::string well_known = "/.well-known/oauth-protected-resource";
  const auto path = path_of(*u);
  std::vector<std::string> out;
  if (!path.empty()) out.push_back(u->with_path(well_known + path));
  out.push_back(u->with_path(well_known));
  return out;
}

std::vector<std::string> server_metadata_urls(std::string_view issuer) {
  const auto u = parsed(issuer);
  if (!u) return {};
  const std::string oauth = "/.well-known/oauth-authorization-server";
  const std::string openid = "/.well-known/openid-configuration";
  const auto path = path_of(*u);
  if (path.empty()) return {u->with_path(oauth), u->with_path(openid)};
  return {u->with_path(oauth + path), u->with_path(openid + path), u->with_path(path + openid)};
}

resource_metadata read_resource_metadata(std::string_view body, std::string_view server_url, schemes allowed) {
  const auto o = object_in(body, "protected-resource metadata");
  resource_metadata m;
  m.resource = text_of(o, "resource");
  const auto server = parsed(server_url);
  const auto resource = parsed(m.resource);
  const auto covers_server = [&] {
    const auto resource_path = path_of(*resource), server_path = path_of(*server);
    return server_path == resource_path || server_path.starts_with(resource_path + "/");
  };
  if (!server || !resource || resource->has_fragment || !server->same_origin(*resource) || !covers_server()) {
    throw protocol_error("its metadata names another resource: " + m.resource.substr(0, 200));
  }
  const auto servers = texts_in(o, "authorization_servers", 1);
  if (servers.empty()) throw protocol_error("its metadata names no authorization server");
  m.authorization_server = servers.front();
  if (!is_usable_url(m.authorization_server, allowed)) {
    throw protocol_error("its metadata names an authorization server that is not usable: " +
                         m.authorization_server.substr(0, 200));
  }
  m.scopes = scope_text(scopes_of(scope_text(texts_in(o, "scopes_supported", 200))));
  return m;
}

server_metadata read_server_metadata(std::string_view body, std::string_view issuer, schemes allowed, consent required,
                                     std::string_view pinned) {
  const auto o = object_in(body, "authorization server's metadata");
  server_metadata m = server_metadata_from(o);
  const bool trusted = !pinned.empty() && (same_issuer(m.issuer, pinned) || same_issuer(issuer, pinned));
  if (!same_issuer(m.issuer, issuer) && !trusted) {
    throw protocol_error("the metadata of the authorization server " + std::string(issuer) +
                         " names another issuer: " + m.issuer.substr(0, 200) +
                         "; if that issuer is correct, set it as `issuer` of the profile or the integration");
  }
  const auto require_usable = [&](const std::string& url, const char* name) {
    if (!is_usable_url(url, allowed)) {
      throw protocol_error("the authorization server " + std::string(issuer) + " names no usable " + name);
    }
  };
  require_usable(m.token_endpoint, "token endpoint");
  if (!m.registration_endpoint.empty()) require_usable(m.registration_endpoint, "registration endpoint");
  // Revocation is best effort, so an unusable endpoint is ignored.
  if (!is_usable_url(m.revocation_endpoint, allowed)) m.revocation_endpoint.clear();
  if (required == consent::none) return m;
  require_usable(m.authorization_endpoint, "authorization endpoint");
  const auto methods = texts_in(o, "code_challenge_methods_supported", max_methods);
  if (std::find(methods.begin(), methods.end(), "S256") == methods.end()) {
    throw protocol_error("the authorization server " + std::string(issuer) + " does not offer PKCE with S256");
  }
  return m;
}

std::string resource_of(std::string_view server_url) {
  return std::string(parsed(server_url) ? server_url.substr(0, server_url.find('#')) : server_url);
}

std::string origin_of(std::string_view url) {
  const auto u = parsed(url);
  return u ? u->origin() : std::string();
}

json::object to_json(const server_metadata& m) {
  json::array methods;
  for (const auto& each : m.auth_methods) methods.emplace_back(each);
  json::array scopes;
  for (const auto& each : scopes_of(m.scopes)) scopes.emplace_back(each);
  return {{"issuer", m.issuer},
          {"authorization_endpoint", m.authorization_endpoint},
          {"token_endpoint", m.token_endpoint},
          {"registration_endpoint", m.registration_endpoint},
          {"revocation_endpoint", m.revocation_endpoint},
          {"token_endpoint_auth_methods_supported", std::move(methods)},
          {"scopes_supported", std::move(scopes)},
          {"client_id_metadata_document_supported", m.client_documents},
          {"authorization_response_iss_parameter_supported", m.names_issuer}};
}

server_metadata server_metadata_from(const json::object& o) {
  server_metadata m;
  m.issuer = text_of(o, "issuer");
  m.authorization_endpoint = text_of(o, "authorization_endpoint");
  m.token_endpoint = text_of(o, "token_endpoint");
  m.registration_endpoint = text_of(o, "registration_endpoint");
  m.revocation_endpoint = text_of(o, "revocation_endpoint");
  m.auth_methods = texts_in(o, "token_endpoint_auth_methods_supported", max_methods);
  m.scopes = scope_text(scopes_of(scope_text(texts_in(o, "scopes_supported", 200))));
  m.client_documents = flag_at(o, "client_id_metadata_document_supported");
  m.names_issuer = flag_at(o, "authorization_response_iss_parameter_supported");
  return m;
}

}  // namespace mcp::oauth
