#include "metadata.hpp"

#include <algorithm>
#include <boost/url.hpp>

#include "challenge.hpp"
#include "endpoint.hpp"

namespace mcp::oauth {
namespace {

namespace urls = boost::urls;

constexpr std::size_t most_url = 2048;
constexpr std::size_t most_methods = 32;

ry::error trouble(std::string what) {
  return ry::error(RY_DATA_LOSS, "mcp.oauth", std::move(what));
}

std::optional<urls::url> parsed(std::string_view text) {
  if (text.size() > most_url || !mcp_transport::is_http(text)) return std::nullopt;
  const auto r = urls::parse_uri(boost::core::string_view(text.data(), text.size()));
  // Boost.URL 1.81 ends the host of "1.2.3.4.example" after the numbers.
  if (!r || (!r->encoded_path().empty() && !r->encoded_path().starts_with('/'))) return std::nullopt;
  return urls::url(*r);
}

std::string text(const urls::url_view_base& u) {
  return std::string(u.buffer());
}

std::string path_of(const urls::url_view_base& u) {
  std::string path(u.encoded_path());
  while (path.ends_with('/')) path.pop_back();
  return path;
}

std::uint16_t port_of(const urls::url_view_base& u) {
  if (u.has_port() && !u.port().empty()) return u.port_number();
  return u.scheme_id() == urls::scheme::https ? 443 : 80;
}

std::string at(urls::url u, const std::string& path) {
  u.remove_query();
  u.remove_fragment();
  u.set_encoded_path(path);
  return text(u);
}

bool same_origin(const urls::url_view_base& a, const urls::url_view_base& b) {
  return a.scheme_id() == b.scheme_id() && port_of(a) == port_of(b) &&
         ry::iequals(std::string(a.encoded_host()), std::string(b.encoded_host()));
}

json::object object_in(std::string_view body, std::string_view what) {
  json::value v;
  try {
    v = parse(body);
  } catch (const ry::error&) {
    throw trouble("its " + std::string(what) + " is not valid JSON");
  }
  if (!v.is_object()) throw trouble("its " + std::string(what) + " is no JSON object");
  return std::move(v.get_object());
}

std::vector<std::string> texts_in(const json::object& o, std::string_view key, std::size_t most) {
  std::vector<std::string> out;
  const auto* list = array_of(o, key);
  if (list == nullptr) return out;
  for (const auto& v : *list) {
    if (v.is_string() && out.size() < most) out.emplace_back(sv(v.get_string()));
  }
  return out;
}

bool says_true(const json::object& o, std::string_view key) {
  const auto* v = o.if_contains(jv(key));
  return v != nullptr && v->is_bool() && v->get_bool();
}

// RFC 3986: an empty path is the path "/".
std::string_view without_root(std::string_view url) {
  const auto u = parsed(url);
  if (u && u->encoded_path() == "/" && !u->has_query() && url.ends_with('/')) url.remove_suffix(1);
  return url;
}

}  // namespace

bool usable(std::string_view url, schemes allowed) {
  const auto u = parsed(url);
  if (!u || u->host().empty() || u->has_userinfo() || u->has_fragment()) return false;
  return u->scheme_id() == urls::scheme::https ||
         (u->scheme_id() == urls::scheme::http && allowed == schemes::http_too);
}

std::vector<std::string> resource_metadata_urls(std::string_view server_url) {
  const auto u = parsed(server_url);
  if (!u) return {};
  const std::string place = "/.well-known/oauth-protected-resource";
  const auto path = path_of(*u);
  std::vector<std::string> out;
  if (!path.empty()) out.push_back(at(*u, place + path));
  out.push_back(at(*u, place));
  return out;
}

std::vector<std::string> server_metadata_urls(std::string_view issuer) {
  const auto u = parsed(issuer);
  if (!u) return {};
  const std::string oauth = "/.well-known/oauth-authorization-server";
  const std::string openid = "/.well-known/openid-configuration";
  const auto path = path_of(*u);
  if (path.empty()) return {at(*u, oauth), at(*u, openid)};
  return {at(*u, oauth + path), at(*u, openid + path), at(*u, path + openid)};
}

resource_metadata read_resource_metadata(std::string_view body, std::string_view server_url,
                                         schemes allowed) {
  const auto o = object_in(body, "protected-resource metadata");
  resource_metadata m;
  m.resource = text_of(o, "resource");
  const auto server = parsed(server_url);
  const auto resource = parsed(m.resource);
  const auto inside = [&] {
    const auto above = path_of(*resource), here = path_of(*server);
    return here == above || here.starts_with(above + "/");
  };
  if (!server || !resource || resource->has_fragment() || !same_origin(*server, *resource) || !inside()) {
    throw trouble("its metadata speak of another resource: " + m.resource.substr(0, 200));
  }
  const auto servers = texts_in(o, "authorization_servers", 1);
  if (servers.empty()) throw trouble("its metadata name no authorization server");
  m.authorization_server = servers.front();
  if (!usable(m.authorization_server, allowed)) {
    throw trouble("its metadata name an authorization server that is not usable: " +
                  m.authorization_server.substr(0, 200));
  }
  m.scopes = scope_text(scopes_of(scope_text(texts_in(o, "scopes_supported", 200))));
  return m;
}

server_metadata read_server_metadata(std::string_view body, std::string_view issuer, schemes allowed,
                                     consent wanted) {
  const auto o = object_in(body, "authorization server's metadata");
  server_metadata m = server_metadata_from(o);
  if (without_root(m.issuer) != without_root(issuer)) {
    throw trouble("the metadata of the authorization server " + std::string(issuer) +
                  " speak of another issuer: " + m.issuer.substr(0, 200));
  }
  const auto need = [&](const std::string& url, const char* what) {
    if (!usable(url, allowed)) {
      throw trouble("the authorization server " + std::string(issuer) + " names no usable " + what);
    }
  };
  need(m.token_endpoint, "token endpoint");
  if (!m.registration_endpoint.empty()) need(m.registration_endpoint, "registration endpoint");
  // Nobody waits for a revocation; one that is not usable is as good as none.
  if (!usable(m.revocation_endpoint, allowed)) m.revocation_endpoint.clear();
  if (wanted == consent::none) return m;
  need(m.authorization_endpoint, "authorization endpoint");
  const auto methods = texts_in(o, "code_challenge_methods_supported", most_methods);
  if (std::find(methods.begin(), methods.end(), "S256") == methods.end()) {
    throw trouble("the authorization server " + std::string(issuer) + " does not offer PKCE with S256");
  }
  return m;
}

std::string resource_of(std::string_view server_url) {
  auto u = parsed(server_url);
  if (!u) return std::string(server_url);
  u->remove_fragment();
  return text(*u);
}

std::string origin_of(std::string_view url) {
  const auto u = parsed(url);
  return u ? std::string(u->encoded_origin()) : std::string();
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
  m.auth_methods = texts_in(o, "token_endpoint_auth_methods_supported", most_methods);
  m.scopes = scope_text(scopes_of(scope_text(texts_in(o, "scopes_supported", 200))));
  m.client_documents = says_true(o, "client_id_metadata_document_supported");
  m.names_issuer = says_true(o, "authorization_response_iss_parameter_supported");
  return m;
}

}  // namespace mcp::oauth
