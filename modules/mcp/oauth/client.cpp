#include "client.hpp"

#include <algorithm>
#include <ry/cpp/text.hpp>

#include "challenge.hpp"
#include "crypto.hpp"
#include "oauth_error.hpp"
#include "url.hpp"

namespace mcp::oauth {

using ry::percent_encoded;

namespace {

constexpr std::size_t max_text = 16 * 1024;
constexpr std::int64_t max_lifetime_s = 366LL * 24 * 3600;
constexpr std::int64_t assertion_lifetime_s = 60;

bool is_printable_ascii(std::string_view s) {
  return std::all_of(s.begin(), s.end(), [](char c) { return c >= 0x20 && c < 0x7f; });
}
bool is_visible_ascii(std::string_view s) {
  return !s.empty() && s.size() <= max_text &&
         std::all_of(s.begin(), s.end(), [](char c) { return c > 0x20 && c < 0x7f; });
}

std::string form_text(const parameters& p) {
  std::string out;
  for (const auto& [name, value] : p) {
    if (!value.empty()) out += (out.empty() ? "" : "&") + name + "=" + percent_encoded(value);
  }
  return out;
}

// The error code of an authorization server, for the log and for users.
std::string error_code_in(const json::object* o, std::uint32_t status) {
  const auto code = o != nullptr ? text_of(*o, "error") : std::string();
  if (code.empty() || !is_printable_ascii(code)) return "HTTP status " + std::to_string(status);
  return code.substr(0, 100);
}

// The error description, for the log only.
json::object detail_in(const json::object* o) {
  const auto description = o != nullptr ? text_of(*o, "error_description") : std::string();
  return description.empty() ? json::object() : json::object{{"cause", description.substr(0, 1000)}};
}

const std::string oauth_error = "oauth_error";
const std::string token_type_urn = "urn:ietf:params:oauth:token-type:";
const std::string assertion_type = token_type_urn + "id-jag";

// Seconds as a number or, as some servers send them, as a string; -1: neither.
std::int64_t seconds_of(const json::value* v) {
  if (v == nullptr) return -1;
  if (v->is_int64()) return v->get_int64();
  if (v->is_uint64()) return max_lifetime_s;
  if (v->is_double() && v->get_double() >= 0) {
    return static_cast<std::int64_t>(std::min(v->get_double(), static_cast<double>(max_lifetime_s)));
  }
  if (!v->is_string() || v->get_string().empty() || v->get_string().size() > 12) return -1;
  std::int64_t n = 0;
  for (const char c : v->get_string()) {
    if (c < '0' || c > '9') return -1;
    n = n * 10 + (c - '0');
  }
  return n;
}

std::string assertion(const server_metadata& as, const client& c, std::int64_t now_us) {
  json::object header{{"alg", algorithm_of(c.private_key)}, {"typ", "JWT"}};
  if (!c.key_id.empty()) header["kid"] = c.key_id;
  const auto now = now_us / 1'000'000;
  const json::object claims{{"iss", c.id},          {"sub", c.id}, {"aud", as.issuer},
                            {"jti", random_text()}, {"iat", now},  {"exp", now + assertion_lifetime_s}};
  return signed_jwt(json::serialize(header), json::serialize(claims), c.private_key);
}

}  // namespace

settings read_settings(const json::object& o, const std::string& path) {
  settings s;
  const auto reject = [&](const std::string& field, const char* problem) {
    throw ry::bad_request("mcp.oauth", path + "." + field + " " + problem);
  };
  for (const auto& member : o) {
    const std::string name(sv(member.key()));
    if (!member.value().is_string()) reject(name, "must be a string");
    const std::string value(sv(member.value().get_string()));
    if (value.size() > max_text) reject(name, "is too long");
    if (name != "private_key" && !is_printable_ascii(value)) reject(name, "contains characters that are not allowed");
    if (name == "grant") {
      if (value != "authorization_code" && value != "client_credentials" && value != "id_jag") {
        reject(name, "must be authorization_code, client_credentials or id_jag");
      }
      if (value == "client_credentials") s.grant_type = settings::grant::client_credentials;
      if (value == "id_jag") s.grant_type = settings::grant::id_jag;
    } else if (name == "client_id") {
      s.client_id = value;
    } else if (name == "client_secret") {
      s.client_secret = value;
    } else if (name == "private_key") {
      s.private_key = value;
    } else if (name == "key_id") {
      s.key_id = value;
    } else if (name == "token_endpoint_auth_method") {
      s.auth_method = value;
    } else if (name == "scope") {
      s.scope = scope_text(scopes_of(value));
    } else if (name == "issuer") {
      s.issuer = value;
    } else if (name == "idp_issuer") {
      s.idp_issuer = value;
    } else if (name == "idp_client_id") {
      s.idp_client_id = value;
    } else if (name == "idp_client_secret") {
      s.idp_client_secret = value;
    } else if (name == "subject_token") {
      s.subject_token = value;
    } else if (name == "subject_token_type") {
      if (value != "id_token" && value != "saml2" && value != "refresh_token") {
        reject(name, "must be id_token, saml2 or refresh_token");
      }
      s.subject_token_type = token_type_urn + value;
    } else {
      reject(name, "is not a known member");
    }
  }
  if (!s.private_key.empty() && algorithm_of(s.private_key).empty()) {
    reject("private_key", "must be a PEM key for RS256 (2048 bits or more), ES256 or EdDSA");
  }
  const bool has_secret = !s.client_secret.empty() || !s.private_key.empty();
  if (has_secret && s.client_id.empty()) reject("client_id", "is required with a secret or a key");
  if (s.grant_type == settings::grant::client_credentials && !has_secret) {
    reject("client_secret", "or private_key is required for client_credentials");
  }
  const bool is_id_jag = s.grant_type == settings::grant::id_jag;
  for (const auto& [field, value] :
       {std::pair{"idp_issuer", &s.idp_issuer}, std::pair{"idp_client_id", &s.idp_client_id},
        std::pair{"idp_client_secret", &s.idp_client_secret}, std::pair{"subject_token", &s.subject_token},
        std::pair{"subject_token_type", &s.subject_token_type}}) {
    if (!is_id_jag && !value->empty()) reject(field, "is only allowed for the grant id_jag");
  }
  if (is_id_jag && s.client_id.empty()) reject("client_id", "is required for id_jag");
  if (is_id_jag && s.idp_issuer.empty()) reject("idp_issuer", "is required for id_jag");
  if (is_id_jag && s.idp_client_id.empty()) reject("idp_client_id", "is required for id_jag");
  if (is_id_jag && s.subject_token_type.empty()) s.subject_token_type = token_type_urn + "id_token";
  const auto& m = s.auth_method;
  if (!m.empty() && m != "client_secret_basic" && m != "client_secret_post" && m != "private_key_jwt" && m != "none") {
    reject("token_endpoint_auth_method", "must be client_secret_basic, client_secret_post, private_key_jwt or none");
  }
  if ((m == "private_key_jwt" && s.private_key.empty()) ||
      (m.starts_with("client_secret") && s.client_secret.empty())) {
    reject("token_endpoint_auth_method", "does not match the credentials");
  }
  return s;
}

json::object to_json(const client& c) {
  return {{"id", c.id},         {"secret", c.secret},           {"private_key", c.private_key},
          {"key_id", c.key_id}, {"auth_method", c.auth_method}, {"redirect_uri", c.redirect_uri}};
}

client client_from(const json::object& o) {
  return {text_of(o, "id"),     text_of(o, "secret"),      text_of(o, "private_key"),
          text_of(o, "key_id"), text_of(o, "auth_method"), text_of(o, "redirect_uri")};
}

json::object to_json(const tokens& t) {
  return {{"access", t.access}, {"refresh", t.refresh}, {"scope", t.scope}, {"expires_us", t.expires_us}};
}

tokens tokens_from(const json::object& o) {
  tokens t{text_of(o, "access"), text_of(o, "refresh"), text_of(o, "scope"), 0};
  const auto* at = o.if_contains("expires_us");
  if (at != nullptr && at->is_int64()) t.expires_us = at->get_int64();
  return t;
}

std::string auth_method(const client& c, const std::vector<std::string>& offered) {
  if (!c.auth_method.empty()) return c.auth_method;
  const auto offers = [&](const char* m) { return std::find(offered.begin(), offered.end(), m) != offered.end(); };
  if (!c.private_key.empty() && (c.secret.empty() || offers("private_key_jwt"))) return "private_key_jwt";
  if (c.secret.empty()) return "none";
  // RFC 8414: the default if the server lists no methods.
  if (offered.empty() || offers("client_secret_basic")) return "client_secret_basic";
  if (offers("client_secret_post")) return "client_secret_post";
  return offers("none") ? "none" : "client_secret_basic";
}

form token_request(const server_metadata& as, const client& c, parameters p, std::int64_t now_us) {
  form f;
  const auto method = auth_method(c, as.auth_methods);
  if (method == "client_secret_basic") {
    f.fields.emplace_back("Authorization", "Basic " + base64(percent_encoded(c.id) + ":" + percent_encoded(c.secret)));
  } else {
    p.emplace_back("client_id", c.id);
  }
  if (method == "client_secret_post") p.emplace_back("client_secret", c.secret);
  if (method == "private_key_jwt") {
    p.emplace_back("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer");
    p.emplace_back("client_assertion", assertion(as, c, now_us));
  }
  f.body = form_text(p);
  return f;
}

namespace {

// Parses a successful response of a token endpoint; throws for any other response.
json::object read_token_response(std::uint32_t http_status, std::string_view body, const std::string& where) {
  json::value v;
  (void)ry::guard([&] { v = parse(body); });
  auto* o = v.if_object();
  const auto code = o != nullptr ? text_of(*o, "error") : std::string();
  // GitHub reports errors with status 200.
  const bool success = http_status / 100 == 2;
  if (!success || (!code.empty() && !o->contains("access_token"))) {
    const auto message = where + " returned no token: " + error_code_in(o, http_status);
    // Any failure other than an explicit rejection may be temporary.
    const bool temporary = code == "temporarily_unavailable" || code == "server_error" || code == "slow_down";
    if (temporary || (!success && http_status / 100 != 4) || http_status == 408 || http_status == 429) {
      throw ry::error(RY_UNAVAILABLE, "mcp.oauth", message).with_detail(json::serialize(detail_in(o)));
    }
    const bool unknown_client =
        code == "invalid_client" || code == "unauthorized_client" || code == "incorrect_client_credentials";
    const bool invalid_grant =
        code == "invalid_grant" || code == "bad_refresh_token" || code == "bad_verification_code";
    auto detail = detail_in(o);
    detail[oauth_error] = code.substr(0, 100);
    throw ry::error(RY_UNAUTHENTICATED,
                    unknown_client  ? "mcp.oauth.unknown_client"
                    : invalid_grant ? "mcp.oauth.refused"
                                    : "mcp.oauth",
                    message)
        .with_detail(json::serialize(detail));
  }
  if (o == nullptr) throw protocol_error(where + " did not respond with a JSON object");
  return std::move(*o);
}

}  // namespace

tokens read_tokens(std::uint32_t http_status, std::string_view body, std::string_view token_endpoint,
                   std::int64_t now_us) {
  const std::string where(token_endpoint);
  const auto o = read_token_response(http_status, body, where);
  tokens t;
  t.access = text_of(o, "access_token");
  t.refresh = text_of(o, "refresh_token");
  t.scope = scope_text(scopes_of(text_of(o, "scope")));
  if (!is_visible_ascii(t.access) || !ry::iequals(text_of(o, "token_type"), "bearer") ||
      (!t.refresh.empty() && !is_visible_ascii(t.refresh))) {
    throw protocol_error(where + " returned no usable bearer token");
  }
  if (const auto lifetime = seconds_of(o.if_contains("expires_in")); lifetime >= 0) {
    t.expires_us = now_us + std::min(lifetime, max_lifetime_s) * 1'000'000;
  }
  return t;
}

parameters exchange_parameters(const settings& s, std::string_view issuer, std::string_view resource,
                               std::string_view scope) {
  return {{"grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"},
          {"requested_token_type", assertion_type},
          {"audience", std::string(issuer)},
          {"resource", std::string(resource)},
          {"scope", std::string(scope)},
          {"subject_token", s.subject_token},
          {"subject_token_type", s.subject_token_type}};
}

std::string read_assertion(std::uint32_t http_status, std::string_view body, std::string_view token_endpoint) {
  const std::string where(token_endpoint);
  const auto o = read_token_response(http_status, body, where);
  auto assertion = text_of(o, "access_token");
  if (!is_visible_ascii(assertion) || text_of(o, "issued_token_type") != assertion_type) {
    throw protocol_error(where + " returned no identity assertion (" + assertion_type + ")");
  }
  return assertion;
}

parameters assertion_parameters(std::string_view assertion) {
  return {{"grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"}, {"assertion", std::string(assertion)}};
}

bool rejects_resource(std::uint32_t http_status, std::string_view body) {
  if (http_status / 100 != 4) return false;
  json::value v;
  (void)ry::guard([&] { v = parse(body); });
  const auto* o = v.if_object();
  return o != nullptr && text_of(*o, "error") == "invalid_target";
}

bool invalidates_refresh_token(const ry::error& e) {
  if (e.is("mcp.oauth.refused") || e.is("mcp.oauth.unknown_client")) return true;
  if (e.status() != RY_UNAUTHENTICATED || !e.is("mcp.oauth") || e.detail_json().empty()) return false;
  const auto v = parse(e.detail_json());
  return v.is_object() && !text_of(v.get_object(), oauth_error).empty();
}

json::object client_metadata(std::string_view redirect_uri) {
  const auto origin = origin_of(redirect_uri);
  const auto host = origin.substr(std::min(origin.find("://") + 3, origin.size()));
  const auto name = host.starts_with('[') ? host.substr(0, host.find(']') + 1) : host.substr(0, host.find(':'));
  const bool local = name == "localhost" || name == "127.0.0.1" || name == "[::1]";
  return {{"client_name", "Runyard"},
          {"redirect_uris", json::array{jv(redirect_uri)}},
          {"grant_types", json::array{"authorization_code", "refresh_token"}},
          {"response_types", json::array{"code"}},
          // OpenID Connect: loopback addresses are for native applications.
          {"application_type", local ? "native" : "web"}};
}

client read_registration(std::uint32_t http_status, std::string_view body, std::string_view endpoint,
                         std::string_view redirect_uri) {
  json::value v;
  (void)ry::guard([&] { v = parse(body); });
  const auto* o = v.if_object();
  const std::string where(endpoint);
  if (http_status / 100 != 2) {
    throw ry::error(RY_UNAVAILABLE, "mcp.oauth", where + " refused the registration: " + error_code_in(o, http_status))
        .with_detail(json::serialize(detail_in(o)));
  }
  client c;
  if (o != nullptr) {
    c.id = text_of(*o, "client_id");
    c.secret = text_of(*o, "client_secret");
    c.auth_method = text_of(*o, "token_endpoint_auth_method");
  }
  c.redirect_uri = redirect_uri;
  const bool uses_secret = c.auth_method == "client_secret_basic" || c.auth_method == "client_secret_post";
  const bool supported = c.auth_method.empty() || c.auth_method == "none" || (uses_secret && !c.secret.empty());
  if (!is_visible_ascii(c.id) || (!c.secret.empty() && !is_printable_ascii(c.secret)) || !supported) {
    throw protocol_error(where + " returned no usable registration");
  }
  return c;
}

std::string scope_to_request(const settings& s, std::string_view challenged, std::string_view offered,
                             std::string_view granted) {
  if (!s.scope.empty()) return s.scope;
  return scope_union(granted, !challenged.empty() ? challenged : offered);
}

authorization authorization_request(const server_metadata& as, const client& c, std::string_view resource,
                                    std::string_view scope) {
  authorization a;
  a.state = random_text();
  a.verifier = random_text();
  auto requested = std::string(scope);
  // A refresh token avoids asking the user for consent again.
  const bool offline = contains_all(as.scopes, "offline_access");
  if (offline) requested = scope_union(requested, "offline_access");
  const auto query = form_text({{"response_type", "code"},
                                {"client_id", c.id},
                                {"redirect_uri", c.redirect_uri},
                                {"state", a.state},
                                {"code_challenge", base64url(sha256(a.verifier))},
                                {"code_challenge_method", "S256"},
                                {"resource", std::string(resource)},
                                {"scope", requested},
                                // OpenID Connect grants offline access only after a consent prompt.
                                {"prompt", offline ? "consent" : ""}});
  const bool has_query = as.authorization_endpoint.find('?') != std::string::npos;
  a.url = as.authorization_endpoint + (has_query ? "&" : "?") + query;
  if (a.url.size() > max_user_url) {
    throw protocol_error("users cannot be sent to the authorization server " + as.issuer +
                         ": the address is too long with all the requested scopes");
  }
  return a;
}

}  // namespace mcp::oauth
