#include <gmock/gmock.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include "challenge.hpp"
#include "client.hpp"
#include "crypto.hpp"
#include "metadata.hpp"

namespace mcp::oauth {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// ---- challenge --------------------------------------------------------------------------------

TEST(challenge, reads_the_parameters_of_a_bearer_challenge) {
  const auto c = read_challenge(
      R"(Basic realm="x, y", Bearer error="insufficient_scope", scope="files:read  files:write files:read",)"
      R"( resource_metadata="https://h/.well-known/oauth-protected-resource/m\"x")");
  ASSERT_TRUE(c);
  EXPECT_EQ(c->error, "insufficient_scope");
  EXPECT_EQ(c->scope, "files:read files:write");
  EXPECT_EQ(c->resource_metadata, "https://h/.well-known/oauth-protected-resource/m\"x");
}

TEST(challenge, ignores_other_schemes_and_further_bearer_challenges) {
  EXPECT_FALSE(read_challenge(""));
  EXPECT_FALSE(read_challenge("=a, ="));
  EXPECT_FALSE(read_challenge(R"(Basic realm="Bearer scope=evil")"));
  EXPECT_FALSE(read_challenge("Negotiate dG9rZW4=="));
  EXPECT_TRUE(read_challenge("bearer"));
  EXPECT_EQ(read_challenge(R"(Bearer scope="a", Bearer scope="b")")->scope, "a");
  EXPECT_EQ(read_challenge(R"(Bearer scope="a", DPoP scope="b")")->scope, "a");
}

TEST(challenge, parsing_stops_at_a_syntax_error) {
  EXPECT_EQ(read_challenge(R"(Bearer scope="a", error="open)")->error, "");
  EXPECT_EQ(read_challenge("Bearer scope=\"" + std::string(100'000, 'a') + "\"")->scope, "");
  EXPECT_TRUE(read_challenge("Bearer =,=,\"\x01\xff")->scope.empty());
}

TEST(challenge, scopes_are_treated_as_sets) {
  EXPECT_EQ(scope_union("a b", "b c"), "a b c");
  EXPECT_TRUE(contains_all("a b c", "c a"));
  EXPECT_FALSE(contains_all("a b", "a c"));
  EXPECT_TRUE(contains_all("", ""));
  EXPECT_THAT(scopes_of("a \"b\" c\\d e\xc3\xa9 f"), ElementsAre("a", "f"));
}

// ---- metadata ---------------------------------------------------------------------------------

TEST(metadata, urls_are_queried_in_the_order_of_the_specification) {
  EXPECT_THAT(resource_metadata_urls("https://h:8443/public/mcp/?x=1"),
              ElementsAre("https://h:8443/.well-known/oauth-protected-resource/public/mcp",
                          "https://h:8443/.well-known/oauth-protected-resource"));
  EXPECT_THAT(resource_metadata_urls("https://h"), ElementsAre("https://h/.well-known/oauth-protected-resource"));
  EXPECT_THAT(server_metadata_urls("https://as/t1"), ElementsAre("https://as/.well-known/oauth-authorization-server/t1",
                                                                 "https://as/.well-known/openid-configuration/t1",
                                                                 "https://as/t1/.well-known/openid-configuration"));
  EXPECT_THAT(server_metadata_urls("https://as/"), ElementsAre("https://as/.well-known/oauth-authorization-server",
                                                               "https://as/.well-known/openid-configuration"));
}

std::string resource_text(const std::string& resource, const std::string& server = "https://as") {
  return json::serialize(json::object{{"resource", resource}, {"authorization_servers", json::array{server}}});
}

TEST(metadata, the_resource_must_be_the_server_or_a_parent_of_it) {
  for (const char* good : {"https://h/mcp", "https://h", "https://h/", "https://H:443/mcp"}) {
    EXPECT_EQ(read_resource_metadata(resource_text(good), "https://h/mcp", schemes::https_only).resource, good);
  }
  for (const char* bad : {"https://evil/mcp", "http://h/mcp", "https://h:444/mcp", "https://h/mc", "https://h/mcp/x",
                          "https://h/mcp#f", "mcp", ""}) {
    EXPECT_THROW(read_resource_metadata(resource_text(bad), "https://h/mcp", schemes::https_only), ry::error) << bad;
  }
}

TEST(metadata, authorization_servers_must_use_https_except_in_local_mode) {
  const auto read = [](const std::string& as, schemes s) {
    return read_resource_metadata(resource_text("https://h", as), "https://h", s).authorization_server;
  };
  EXPECT_EQ(read("http://localhost:7", schemes::http_too), "http://localhost:7");
  for (const char* bad : {"http://as", "ftp://as", "https://u:p@as", "https://as#x", "javascript:alert(1)", "as",
                          "httsps.a:?", "https:?", "https:a"}) {
    EXPECT_THROW(read(bad, schemes::https_only), ry::error) << bad;
  }
  EXPECT_THROW(read_resource_metadata(R"({"resource":"https://h"})", "https://h", schemes::https_only), ry::error);
  EXPECT_THROW(read_resource_metadata("[]", "https://h", schemes::https_only), ry::error);
  EXPECT_THROW(read_resource_metadata("{", "https://h", schemes::https_only), ry::error);
}

json::object metadata_json() {
  return {{"issuer", "https://as"},
          {"authorization_endpoint", "https://as/authorize?tenant=a"},
          {"token_endpoint", "https://as/token"},
          {"code_challenge_methods_supported", json::array{"plain", "S256"}},
          {"scopes_supported", json::array{"a", "offline_access"}},
          {"token_endpoint_auth_methods_supported", json::array{"client_secret_post"}}};
}

TEST(metadata, the_issuer_must_be_the_queried_one) {
  const auto read = [](const json::object& o, const char* issuer, consent c = consent::of_user) {
    return read_server_metadata(json::serialize(o), issuer, schemes::https_only, c);
  };
  EXPECT_EQ(read(metadata_json(), "https://as").token_endpoint, "https://as/token");
  EXPECT_NO_THROW(read(metadata_json(), "https://as/"));  // RFC 3986: equal
  for (const char* other : {"https://other", "https://as/t", "https://AS.evil"}) {
    EXPECT_THROW(read(metadata_json(), other), ry::error) << other;
  }
  auto o = metadata_json();
  o["token_endpoint"] = "http://as/token";
  EXPECT_THROW(read(o, "https://as"), ry::error);
  o = metadata_json();
  o.erase("code_challenge_methods_supported");
  EXPECT_THROW(read(o, "https://as"), ry::error);
  EXPECT_NO_THROW(read(o, "https://as", consent::none));
  o["revocation_endpoint"] = "file:///x";
  EXPECT_EQ(read(o, "https://as", consent::none).revocation_endpoint, "");
  o = metadata_json();
  o["authorization_endpoint"] = "javascript:alert(1)";
  EXPECT_THROW(read(o, "https://as"), ry::error);
}

TEST(metadata, another_issuer_is_rejected_unless_the_profile_pins_it) {
  const auto text = json::serialize(metadata_json());  // issuer https://as
  const auto read = [&](const char* queried, const char* pinned) {
    return read_server_metadata(text, queried, schemes::https_only, consent::of_user, pinned).issuer;
  };
  try {
    read("https://as/tenant", "");
    FAIL();
  } catch (const ry::error& e) {
    EXPECT_THAT(std::string(e.message()), HasSubstr("https://as/tenant names another issuer: https://as;"));
  }
  EXPECT_EQ(read("https://as/tenant", "https://as"), "https://as");
  EXPECT_EQ(read("https://as/tenant", "https://as/"), "https://as");
  EXPECT_EQ(read("https://mcp.as/x", "https://mcp.as/x"), "https://as") << "the queried URL itself is trusted";
  EXPECT_THROW(read("https://as/tenant", "https://other"), ry::error);
}

TEST(metadata, a_url_is_on_the_host_of_an_issuer_or_on_a_subdomain) {
  EXPECT_TRUE(on_host_of("https://auth.example.com/t", "https://auth.example.com"));
  EXPECT_TRUE(on_host_of("https://mcp.slack.com", "https://slack.com"));
  for (const auto& [url, issuer] : {std::pair{"https://evilslack.com", "https://slack.com"},
                                    {"https://slack.com.evil", "https://slack.com"},
                                    {"http://slack.com", "https://slack.com"},
                                    {"https://slack.com", "https://mcp.slack.com"},
                                    {"https://a.com", "https://com"},
                                    {"no address", "https://a.com"},
                                    {"https://a.com", ""}}) {
    EXPECT_FALSE(on_host_of(url, issuer)) << url << " " << issuer;
  }
}

TEST(metadata, web_pages_are_not_metadata_documents) {
  for (const char* page :
       {"", "<!doctype html><div></div>", "not found", "[]", "null", "{}", R"({"error":"not_found"})", "\xff"}) {
    EXPECT_NE(document_problem(page, document::resource), "") << page;
    EXPECT_NE(document_problem(page, document::server), "") << page;
  }
  EXPECT_EQ(document_problem(R"({"resource":"https://h"})", document::resource), "");
  EXPECT_EQ(document_problem(R"({"authorization_servers":[]})", document::resource), "");
  EXPECT_EQ(document_problem(R"({"issuer":"https://as"})", document::server), "");
  EXPECT_NE(document_problem(R"({"issuer":"https://as"})", document::resource), "");
}

TEST(metadata, the_default_endpoints_are_those_of_revision_2025_03_26) {
  const auto m = default_metadata("https://api.example.com/v1/mcp");
  EXPECT_EQ(m.issuer, "https://api.example.com");
  EXPECT_EQ(m.authorization_endpoint, "https://api.example.com/authorize");
  EXPECT_EQ(m.token_endpoint, "https://api.example.com/token");
  EXPECT_EQ(m.registration_endpoint, "https://api.example.com/register");
}

TEST(metadata, survives_a_round_trip_through_json) {
  auto o = metadata_json();
  o["client_id_metadata_document_supported"] = true;
  const auto m = server_metadata_from(server_metadata_from(o).issuer.empty() ? json::object() : o);
  const auto copy = server_metadata_from(to_json(m));
  EXPECT_EQ(copy.authorization_endpoint, m.authorization_endpoint);
  EXPECT_THAT(copy.auth_methods, ElementsAre("client_secret_post"));
  EXPECT_EQ(copy.scopes, "a offline_access");
  EXPECT_TRUE(copy.client_documents);
  EXPECT_FALSE(copy.names_issuer);
}

// ---- requests ---------------------------------------------------------------------------------

server_metadata as_of(std::vector<std::string> methods) {
  server_metadata m;
  m.issuer = "https://as";
  m.token_endpoint = "https://as/token";
  m.authorization_endpoint = "https://as/authorize?tenant=a";
  m.auth_methods = std::move(methods);
  return m;
}

TEST(requests, the_client_authenticates_with_a_method_that_both_sides_support) {
  client c{"id:1", "s&c rt", "", "", "", ""};
  auto f = token_request(as_of({}), c, {{"grant_type", "x y"}, {"scope", ""}}, 0);
  ASSERT_EQ(f.fields.size(), 1u);
  EXPECT_EQ(f.fields[0].second, "Basic " + base64("id%3A1:s%26c%20rt"));
  EXPECT_EQ(f.body, "grant_type=x%20y");
  f = token_request(as_of({"client_secret_post"}), c, {}, 0);
  EXPECT_TRUE(f.fields.empty());
  EXPECT_THAT(f.body, HasSubstr("client_secret=s%26c%20rt"));
  f = token_request(as_of({"none"}), c, {}, 0);
  EXPECT_THAT(f.body, Not(HasSubstr("secret")));
  c.auth_method = "client_secret_post";
  EXPECT_THAT(token_request(as_of({"client_secret_basic"}), c, {}, 0).body, HasSubstr("client_secret"));
}

struct key_pair {
  EVP_PKEY* key;
  std::string pem;
  explicit key_pair(EVP_PKEY* k) : key(k) {
    BIO* out = BIO_new(BIO_s_mem());
    PEM_write_bio_PrivateKey(out, k, nullptr, nullptr, 0, nullptr, nullptr);
    char* p = nullptr;
    const auto n = BIO_get_mem_data(out, &p);
    pem.assign(p, static_cast<std::size_t>(n));
    BIO_free(out);
  }
  ~key_pair() { EVP_PKEY_free(key); }
};

std::string decoded(std::string_view text) {
  std::string padded(text);
  for (auto& c : padded) c = c == '-' ? '+' : c == '_' ? '/' : c;
  while (padded.size() % 4 != 0) padded += '=';
  std::string out(padded.size(), '\0');
  const auto n =
      EVP_DecodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                      reinterpret_cast<const unsigned char*>(padded.data()), static_cast<int>(padded.size()));
  out.resize(static_cast<std::size_t>(n));
  for (std::size_t i = padded.size(); i > 0 && padded[i - 1] == '='; --i) out.pop_back();
  return out;
}

TEST(requests, client_assertions_are_signed_and_name_client_and_issuer) {
  for (const auto& [algorithm, pair] :
       {std::pair{"ES256", std::make_shared<key_pair>(EVP_EC_gen("P-256"))},
        std::pair{"RS256", std::make_shared<key_pair>(EVP_RSA_gen(2048))},
        std::pair{"EdDSA", std::make_shared<key_pair>(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"))}}) {
    EXPECT_EQ(algorithm_of(pair->pem), algorithm);
    const client c{"me", "", pair->pem, "k1", "", ""};
    const auto f = token_request(as_of({"private_key_jwt"}), c, {}, 1'000'000'000'000'000);
    const auto at = f.body.find("client_assertion=");
    ASSERT_NE(at, std::string::npos);
    const auto jwt = f.body.substr(at + 17);
    const auto one = jwt.find('.'), two = jwt.rfind('.');
    const auto header = json::parse(decoded(jwt.substr(0, one)));
    const auto claims = json::parse(decoded(jwt.substr(one + 1, two - one - 1)));
    EXPECT_EQ(header.at("alg"), algorithm);
    EXPECT_EQ(header.at("kid"), "k1");
    EXPECT_EQ(claims.at("iss"), "me");
    EXPECT_EQ(claims.at("sub"), "me");
    EXPECT_EQ(claims.at("aud"), "https://as");
    EXPECT_EQ(claims.at("exp").as_int64(), 1'000'000'060);
    const auto signature = decoded(jwt.substr(two + 1));
    if (algorithm == std::string_view("ES256")) {
      EXPECT_EQ(signature.size(), 64u);
      continue;
    }
    EVP_MD_CTX* ctx = EVP_MD_CTX_new();
    const auto* digest = algorithm == std::string_view("EdDSA") ? nullptr : EVP_sha256();
    ASSERT_EQ(EVP_DigestVerifyInit(ctx, nullptr, digest, nullptr, pair->key), 1);
    EXPECT_EQ(EVP_DigestVerify(ctx, reinterpret_cast<const unsigned char*>(signature.data()), signature.size(),
                               reinterpret_cast<const unsigned char*>(jwt.data()), two),
              1);
    EVP_MD_CTX_free(ctx);
  }
  EXPECT_EQ(algorithm_of("no key"), "");
  EXPECT_EQ(algorithm_of(key_pair(EVP_RSA_gen(1024)).pem), "");
  EXPECT_EQ(algorithm_of(key_pair(EVP_EC_gen("P-384")).pem), "");
  EXPECT_THROW(signed_jwt("{}", "{}", "no key"), ry::error);
}

TEST(requests, authorization_requests_contain_pkce_and_the_resource) {
  auto as = as_of({});
  as.scopes = "a offline_access";
  const client c{"me", "", "", "", "none", "https://run/cb?x=1"};
  const auto a = authorization_request(as, c, "https://h/mcp", "a b");
  EXPECT_THAT(a.url, testing::StartsWith("https://as/authorize?tenant=a&response_type=code&client_id=me"));
  EXPECT_THAT(a.url, HasSubstr("&code_challenge=" + base64url(sha256(a.verifier)) + "&code_challenge_method=S256"));
  EXPECT_THAT(a.url, HasSubstr("state=" + a.state));
  EXPECT_THAT(a.url, HasSubstr("scope=a%20b%20offline_access"));
  EXPECT_THAT(a.url, HasSubstr("prompt=consent"));
  EXPECT_THAT(a.url, HasSubstr("resource=https%3A%2F%2Fh%2Fmcp&"));
  EXPECT_EQ(a.state.size(), 43u);
  EXPECT_NE(a.state, authorization_request(as, c, "", "").state);
  as.scopes = "a";
  EXPECT_THAT(authorization_request(as, c, "", "").url, Not(HasSubstr("scope")));
}

TEST(requests, the_length_of_the_authorization_url_is_limited) {
  const client c{"me", "", "", "", "none", "https://run/cb"};
  EXPECT_THAT(authorization_request(as_of({}), c, "https://h/mcp", std::string(2000, '/')).url, HasSubstr("scope="));
  try {
    authorization_request(as_of({}), c, "https://h/mcp", std::string(2700, '/'));
    FAIL();
  } catch (const ry::error& e) {
    EXPECT_THAT(std::string(e.message()), HasSubstr("too long"));
  }
}

// ---- responses --------------------------------------------------------------------------------

TEST(responses, only_bearer_tokens_are_accepted) {
  const auto t = read_tokens(200, R"({"access_token":"abc","token_type":"bearer","expires_in":3600,"scope":"b a"})",
                             "https://as/token", 5'000'000);
  EXPECT_EQ(t.access, "abc");
  EXPECT_EQ(t.expires_us, 3605'000'000);
  EXPECT_EQ(t.scope, "b a");
  for (const char* bad :
       {"", "[]", "{}", R"({"access_token":"abc"})", R"({"access_token":"a\r\nb","token_type":"Bearer"})",
        R"({"access_token":"abc","token_type":"DPoP"})", R"({"access_token":"","token_type":"Bearer"})"}) {
    EXPECT_THROW(read_tokens(200, bad, "https://as/token", 0), ry::error) << bad;
  }
  const auto long_lived =
      read_tokens(200, R"({"access_token":"abc","token_type":"Bearer","expires_in":9223372036854775807})", "", 0);
  EXPECT_LT(long_lived.expires_us, 400LL * 24 * 3600 * 1'000'000);
}

ry::error failure(std::uint32_t status, const char* body) {
  try {
    (void)read_tokens(status, body, "https://as/token", 0);
  } catch (const ry::error& e) {
    return e;
  }
  return ry::error(RY_OK);
}

TEST(responses, rejections_and_temporary_failures_are_distinguished) {
  EXPECT_TRUE(failure(400, R"({"error":"invalid_grant","error_description":"gone"})").is("mcp.oauth.refused"));
  const auto invalid_grant =
      failure(400, R"({"error":"invalid_grant","error_description":"no user 7 at db.internal"})");
  EXPECT_TRUE(std::string(invalid_grant.message()).ends_with("invalid_grant")) << invalid_grant.message();
  EXPECT_THAT(std::string(invalid_grant.detail_json()), HasSubstr("db.internal"));
  EXPECT_TRUE(failure(400, R"({"error":"invalid_scope"})").is("mcp.oauth"));
  EXPECT_EQ(failure(503, "").status(), RY_UNAVAILABLE);
  EXPECT_EQ(failure(429, R"({"error":"invalid_grant"})").status(), RY_UNAVAILABLE);
  EXPECT_THAT(std::string(failure(400, "{\"error\":\"x\\u0007\"}").message()), HasSubstr("HTTP status 400"));
}

TEST(responses, any_2xx_status_may_carry_a_token_or_an_error) {
  const char* good = R"({"access_token":"abc","token_type":"bearer","expires_in":"3600"})";
  for (const unsigned status : {200u, 201u, 202u}) {
    EXPECT_EQ(read_tokens(status, good, "https://as/token", 0).access, "abc") << status;
    const auto e = failure(status, R"({"error":"bad_verification_code","error_description":"expired"})");
    EXPECT_TRUE(e.is("mcp.oauth.refused")) << status;
    EXPECT_THAT(std::string(e.message()), HasSubstr("bad_verification_code"));
  }
  EXPECT_EQ(read_tokens(200, good, "", 0).expires_us, 3600'000'000);
  for (const auto& [lifetime, seconds] :
       {std::pair{"60.5", 60}, {"\"60\"", 60}, {"-1", 0}, {"\"soon\"", 0}, {"null", 0}, {"\"\"", 0}}) {
    const auto text = R"({"access_token":"abc","token_type":"bearer","expires_in":)" + std::string(lifetime) + "}";
    EXPECT_EQ(read_tokens(200, text, "", 0).expires_us, seconds * 1'000'000) << lifetime;
  }
}

TEST(responses, permanent_oauth_errors_invalidate_the_refresh_token) {
  for (const char* code : {"invalid_grant", "invalid_request", "invalid_client", "unauthorized_client", "invalid_scope",
                           "invalid_target", "bad_refresh_token", "unsupported_grant_type"}) {
    for (const unsigned status : {200u, 400u, 401u, 403u}) {
      const auto body = R"({"error":")" + std::string(code) + "\"}";
      EXPECT_TRUE(invalidates_refresh_token(failure(status, body.c_str()))) << status << " " << code;
    }
  }
  for (const auto& [status, body] : {std::pair{400u, ""},
                                     {404u, "<html>"},
                                     {429u, R"({"error":"invalid_grant"})"},
                                     {503u, R"({"error":"invalid_grant"})"},
                                     {400u, R"({"error":"temporarily_unavailable"})"},
                                     {400u, R"({"error":"server_error"})"}}) {
    EXPECT_FALSE(invalidates_refresh_token(failure(status, body))) << status << " " << body;
  }
  EXPECT_FALSE(invalidates_refresh_token(ry::error(RY_UNAVAILABLE, "mcp.oauth", "not reached")));
}

TEST(responses, an_unknown_client_and_an_invalid_grant_are_distinguished) {
  for (const char* code : {"invalid_client", "unauthorized_client"}) {
    const auto body = R"({"error":")" + std::string(code) + "\"}";
    EXPECT_TRUE(failure(401, body.c_str()).is("mcp.oauth.unknown_client")) << code;
  }
  EXPECT_TRUE(rejects_resource(400, R"({"error":"invalid_target"})"));
  EXPECT_FALSE(rejects_resource(400, R"({"error":"invalid_grant"})"));
  EXPECT_FALSE(rejects_resource(200, R"({"error":"invalid_target"})"));
  EXPECT_FALSE(rejects_resource(400, "<html>"));
}

TEST(responses, unusable_registrations_are_rejected) {
  const auto c = read_registration(201, R"({"client_id":"x","client_secret":"y"})", "https://as/r", "https://cb");
  EXPECT_EQ(c.id, "x");
  EXPECT_EQ(auth_method(c, {"none"}), "none");
  EXPECT_EQ(auth_method(c, {}), "client_secret_basic");
  for (const char* bad : {"", "{}", R"({"client_id":""})", R"({"client_id":"a b"})",
                          R"({"client_id":"x","token_endpoint_auth_method":"client_secret_jwt"})",
                          R"({"client_id":"x","token_endpoint_auth_method":"client_secret_basic"})"}) {
    EXPECT_THROW(read_registration(201, bad, "https://as/r", ""), ry::error) << bad;
  }
  EXPECT_THROW(read_registration(403, R"({"client_id":"x"})", "https://as/r", ""), ry::error);
}

TEST(responses, the_scope_is_the_configured_else_the_challenged_else_the_supported_one) {
  settings s;
  EXPECT_EQ(scope_to_request(s, "asked", "offered", ""), "asked");
  EXPECT_EQ(scope_to_request(s, "", "offered too", ""), "offered too");
  EXPECT_EQ(scope_to_request(s, "", "", ""), "");
  EXPECT_EQ(scope_to_request(s, "more", "offered", "some"), "some more");
  s.scope = "only";
  EXPECT_EQ(scope_to_request(s, "asked", "offered", "some"), "only");
}

TEST(responses, loopback_redirect_uris_make_a_native_application) {
  for (const char* local : {"http://127.0.0.1:8080/cb", "http://localhost/cb", "http://[::1]:1/cb"}) {
    EXPECT_EQ(client_metadata(local).at("application_type"), "native") << local;
  }
  for (const char* web : {"https://run.example/cb", "https://localhost.example/cb", "https://127.0.0.example:1/"}) {
    EXPECT_EQ(client_metadata(web).at("application_type"), "web") << web;
  }
}

// ---- settings ---------------------------------------------------------------------------------

std::string settings_error(const json::object& o) {
  try {
    (void)read_settings(o, "oauth");
  } catch (const ry::error& e) {
    return std::string(e.message());
  }
  return "";
}

json::object id_jag_settings() {
  return {{"grant", "id_jag"},
          {"client_id", "a"},
          {"idp_issuer", "https://idp"},
          {"idp_client_id", "b"},
          {"subject_token", "me"}};
}

TEST(settings, identity_provider_settings_require_the_grant_id_jag) {
  EXPECT_EQ(settings_error(id_jag_settings()), "");
  for (const char* field : {"client_id", "idp_issuer", "idp_client_id"}) {
    auto o = id_jag_settings();
    o.erase(field);
    EXPECT_THAT(settings_error(o), HasSubstr("oauth." + std::string(field))) << field;
  }
  auto o = id_jag_settings();
  o["subject_token_type"] = "jwt";
  EXPECT_THAT(settings_error(o), HasSubstr("oauth.subject_token_type"));
  o["subject_token_type"] = "saml2";
  EXPECT_EQ(read_settings(o, "oauth").subject_token_type, "urn:ietf:params:oauth:token-type:saml2");
  o["grant"] = "authorization_code";
  EXPECT_THAT(settings_error(o), HasSubstr("oauth.idp_issuer is only allowed for the grant id_jag"));
}

TEST(requests, the_subject_token_is_exchanged_for_an_identity_assertion) {
  const auto p = exchange_parameters(read_settings(id_jag_settings(), "oauth"), "https://as/", "https://mcp/x", "read");
  const parameters expected{{"grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"},
                            {"requested_token_type", "urn:ietf:params:oauth:token-type:id-jag"},
                            {"audience", "https://as/"},
                            {"resource", "https://mcp/x"},
                            {"scope", "read"},
                            {"subject_token", "me"},
                            {"subject_token_type", "urn:ietf:params:oauth:token-type:id_token"}};
  EXPECT_EQ(p, expected);
  EXPECT_EQ(assertion_parameters("x.y.z"),
            (parameters{{"grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"}, {"assertion", "x.y.z"}}));
}

TEST(responses, only_tokens_of_the_type_id_jag_are_assertions) {
  const auto read = [](const char* body) { return read_assertion(200, body, "https://idp/token"); };
  EXPECT_EQ(
      read(
          R"({"access_token":"x.y","issued_token_type":"urn:ietf:params:oauth:token-type:id-jag","token_type":"N_A"})"),
      "x.y");
  EXPECT_THROW(
      read(R"({"access_token":"x.y","issued_token_type":"urn:ietf:params:oauth:token-type:jwt","token_type":"N_A"})"),
      ry::error);
  EXPECT_THROW(read(R"({"issued_token_type":"urn:ietf:params:oauth:token-type:id-jag"})"), ry::error);
  EXPECT_THROW(read("[]"), ry::error);
  try {
    (void)read_assertion(400, R"({"error":"invalid_grant"})", "https://idp/token");
    FAIL();
  } catch (const ry::error& e) {
    EXPECT_TRUE(e.is("mcp.oauth.refused")) << e.reason();
  }
}

TEST(settings, invalid_settings_are_reported_by_name) {
  EXPECT_EQ(settings_error({}), "");
  EXPECT_EQ(settings_error({{"grant", "client_credentials"}, {"client_id", "a"}, {"client_secret", "b"}}), "");
  EXPECT_THAT(settings_error({{"grant", "password"}}), HasSubstr("oauth.grant"));
  EXPECT_THAT(settings_error({{"client_id", 7}}), HasSubstr("oauth.client_id"));
  EXPECT_THAT(settings_error({{"client_secret", "b"}}), HasSubstr("oauth.client_id"));
  EXPECT_THAT(settings_error({{"grant", "client_credentials"}, {"client_id", "a"}}), HasSubstr("oauth.client_secret"));
  EXPECT_THAT(settings_error({{"client_id", "a"}, {"private_key", "x"}}), HasSubstr("oauth.private_key"));
  EXPECT_THAT(settings_error({{"token_endpoint_auth_method", "private_key_jwt"}}),
              HasSubstr("token_endpoint_auth_method"));
  EXPECT_THAT(settings_error({{"client_id", "a\r\nb"}}), HasSubstr("oauth.client_id"));
  EXPECT_THAT(settings_error({{"secret", "x"}}), HasSubstr("oauth.secret"));
}

}  // namespace
}  // namespace mcp::oauth
