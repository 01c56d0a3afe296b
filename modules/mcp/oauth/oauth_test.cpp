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

TEST(challenge, reads_what_a_bearer_server_says) {
  const auto c = read_challenge(
      R"(Basic realm="x, y", Bearer error="insufficient_scope", scope="files:read  files:write files:read",)"
      R"( resource_metadata="https://h/.well-known/oauth-protected-resource/m\"x")");
  ASSERT_TRUE(c);
  EXPECT_EQ(c->error, "insufficient_scope");
  EXPECT_EQ(c->scope, "files:read files:write");
  EXPECT_EQ(c->resource_metadata, "https://h/.well-known/oauth-protected-resource/m\"x");
}

TEST(challenge, other_schemes_and_second_ones_do_not_count) {
  EXPECT_FALSE(read_challenge(""));
  EXPECT_FALSE(read_challenge("=a, ="));
  EXPECT_FALSE(read_challenge(R"(Basic realm="Bearer scope=evil")"));
  EXPECT_FALSE(read_challenge("Negotiate dG9rZW4=="));
  EXPECT_TRUE(read_challenge("bearer"));
  EXPECT_EQ(read_challenge(R"(Bearer scope="a", Bearer scope="b")")->scope, "a");
  EXPECT_EQ(read_challenge(R"(Bearer scope="a", DPoP scope="b")")->scope, "a");
}

TEST(challenge, what_is_not_well_formed_ends_it) {
  EXPECT_EQ(read_challenge(R"(Bearer scope="a", error="open)")->error, "");
  EXPECT_EQ(read_challenge("Bearer scope=\"" + std::string(100'000, 'a') + "\"")->scope, "");
  EXPECT_TRUE(read_challenge("Bearer =,=,\"\x01\xff")->scope.empty());
}

TEST(challenge, scopes_are_sets) {
  EXPECT_EQ(united("a b", "b c"), "a b c");
  EXPECT_TRUE(contains_all("a b c", "c a"));
  EXPECT_FALSE(contains_all("a b", "a c"));
  EXPECT_TRUE(contains_all("", ""));
  EXPECT_THAT(scopes_of("a \"b\" c\\d e\xc3\xa9 f"), ElementsAre("a", "f"));
}

// ---- metadata ---------------------------------------------------------------------------------

TEST(metadata, places_are_asked_in_the_order_of_the_specification) {
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

TEST(metadata, the_resource_is_the_server_or_lies_above_it) {
  for (const char* good : {"https://h/mcp", "https://h", "https://h/", "https://H:443/mcp"}) {
    EXPECT_EQ(read_resource_metadata(resource_text(good), "https://h/mcp", schemes::https_only).resource, good);
  }
  for (const char* bad : {"https://evil/mcp", "http://h/mcp", "https://h:444/mcp", "https://h/mc", "https://h/mcp/x",
                          "https://h/mcp#f", "mcp", ""}) {
    EXPECT_THROW(read_resource_metadata(resource_text(bad), "https://h/mcp", schemes::https_only), ry::error) << bad;
  }
}

TEST(metadata, authorization_servers_are_https_unless_all_is_local) {
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

TEST(metadata, the_issuer_is_the_one_that_was_asked) {
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

TEST(metadata, another_issuer_is_refused_with_both_names_unless_the_profile_names_it) {
  const auto text = json::serialize(metadata_json());  // issuer https://as
  const auto read = [&](const char* asked, const char* pinned) {
    return read_server_metadata(text, asked, schemes::https_only, consent::of_user, pinned).issuer;
  };
  try {
    read("https://as/tenant", "");
    FAIL();
  } catch (const ry::error& e) {
    EXPECT_THAT(std::string(e.message()), HasSubstr("https://as/tenant names another issuer: https://as;"));
  }
  EXPECT_EQ(read("https://as/tenant", "https://as"), "https://as");
  EXPECT_EQ(read("https://as/tenant", "https://as/"), "https://as");
  EXPECT_EQ(read("https://mcp.as/x", "https://mcp.as/x"), "https://as") << "the place itself is trusted";
  EXPECT_THROW(read("https://as/tenant", "https://other"), ry::error);
}

TEST(metadata, an_address_is_on_the_host_of_an_issuer_or_below_it) {
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

TEST(metadata, pages_are_no_documents) {
  for (const char* page :
       {"", "<!doctype html><div></div>", "not found", "[]", "null", "{}", R"({"error":"not_found"})", "\xff"}) {
    EXPECT_NE(no_document(page, document::resource), "") << page;
    EXPECT_NE(no_document(page, document::server), "") << page;
  }
  EXPECT_EQ(no_document(R"({"resource":"https://h"})", document::resource), "");
  EXPECT_EQ(no_document(R"({"authorization_servers":[]})", document::resource), "");
  EXPECT_EQ(no_document(R"({"issuer":"https://as"})", document::server), "");
  EXPECT_NE(no_document(R"({"issuer":"https://as"})", document::resource), "");
}

TEST(metadata, without_any_the_endpoints_are_those_of_revision20250326) {
  const auto m = default_metadata("https://api.example.com/v1/mcp");
  EXPECT_EQ(m.issuer, "https://api.example.com");
  EXPECT_EQ(m.authorization_endpoint, "https://api.example.com/authorize");
  EXPECT_EQ(m.token_endpoint, "https://api.example.com/token");
  EXPECT_EQ(m.registration_endpoint, "https://api.example.com/register");
}

TEST(metadata, comes_back_as_it_was_kept) {
  auto o = metadata_json();
  o["client_id_metadata_document_supported"] = true;
  const auto m = server_metadata_from(server_metadata_from(o).issuer.empty() ? json::object() : o);
  const auto again = server_metadata_from(to_json(m));
  EXPECT_EQ(again.authorization_endpoint, m.authorization_endpoint);
  EXPECT_THAT(again.auth_methods, ElementsAre("client_secret_post"));
  EXPECT_EQ(again.scopes, "a offline_access");
  EXPECT_TRUE(again.client_documents);
  EXPECT_FALSE(again.names_issuer);
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

TEST(requests, a_client_proves_itself_as_both_can) {
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

TEST(requests, assertions_are_signed_by_the_key_and_say_for_whom) {
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

TEST(requests, users_are_sent_with_pkce_and_the_resource) {
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

TEST(requests, users_are_sent_to_no_address_without_end) {
  const client c{"me", "", "", "", "none", "https://run/cb"};
  EXPECT_THAT(authorization_request(as_of({}), c, "https://h/mcp", std::string(2000, '/')).url, HasSubstr("scope="));
  try {
    authorization_request(as_of({}), c, "https://h/mcp", std::string(2700, '/'));
    FAIL();
  } catch (const ry::error& e) {
    EXPECT_THAT(std::string(e.message()), HasSubstr("too long"));
  }
}

// ---- answers ----------------------------------------------------------------------------------

TEST(answers, tokens_are_bearer_tokens) {
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

TEST(answers, refusals_are_told_from_failures) {
  EXPECT_TRUE(failure(400, R"({"error":"invalid_grant","error_description":"gone"})").is("mcp.oauth.refused"));
  const auto gone = failure(400, R"({"error":"invalid_grant","error_description":"no user 7 at db.internal"})");
  EXPECT_TRUE(std::string(gone.message()).ends_with("invalid_grant")) << gone.message();
  EXPECT_THAT(std::string(gone.detail_json()), HasSubstr("db.internal"));
  EXPECT_TRUE(failure(400, R"({"error":"invalid_scope"})").is("mcp.oauth"));
  EXPECT_EQ(failure(503, "").status(), RY_UNAVAILABLE);
  EXPECT_EQ(failure(429, R"({"error":"invalid_grant"})").status(), RY_UNAVAILABLE);
  EXPECT_THAT(std::string(failure(400, "{\"error\":\"x\\u0007\"}").message()), HasSubstr("HTTP status 400"));
}

TEST(answers, any_success_status_gives_a_token_and_an_error_in_one_is_an_error) {
  const char* good = R"({"access_token":"abc","token_type":"bearer","expires_in":"3600"})";
  for (const unsigned status : {200u, 201u, 202u}) {
    EXPECT_EQ(read_tokens(status, good, "https://as/token", 0).access, "abc") << status;
    const auto e = failure(status, R"({"error":"bad_verification_code","error_description":"expired"})");
    EXPECT_TRUE(e.is("mcp.oauth.refused")) << status;
    EXPECT_THAT(std::string(e.message()), HasSubstr("bad_verification_code"));
  }
  EXPECT_EQ(read_tokens(200, good, "", 0).expires_us, 3600'000'000);
  for (const auto& [life, seconds] :
       {std::pair{"60.5", 60}, {"\"60\"", 60}, {"-1", 0}, {"\"soon\"", 0}, {"null", 0}, {"\"\"", 0}}) {
    const auto text = R"({"access_token":"abc","token_type":"bearer","expires_in":)" + std::string(life) + "}";
    EXPECT_EQ(read_tokens(200, text, "", 0).expires_us, seconds * 1'000'000) << life;
  }
}

TEST(answers, a_refresh_token_is_void_after_any_refusal_that_does_not_pass) {
  for (const char* code : {"invalid_grant", "invalid_request", "invalid_client", "unauthorized_client", "invalid_scope",
                           "invalid_target", "bad_refresh_token", "unsupported_grant_type"}) {
    for (const unsigned status : {200u, 400u, 401u, 403u}) {
      const auto body = R"({"error":")" + std::string(code) + "\"}";
      EXPECT_TRUE(voids_refresh(failure(status, body.c_str()))) << status << " " << code;
    }
  }
  for (const auto& [status, body] : {std::pair{400u, ""},
                                     {404u, "<html>"},
                                     {429u, R"({"error":"invalid_grant"})"},
                                     {503u, R"({"error":"invalid_grant"})"},
                                     {400u, R"({"error":"temporarily_unavailable"})"},
                                     {400u, R"({"error":"server_error"})"}}) {
    EXPECT_FALSE(voids_refresh(failure(status, body))) << status << " " << body;
  }
  EXPECT_FALSE(voids_refresh(ry::error(RY_UNAVAILABLE, "mcp.oauth", "not reached")));
}

TEST(answers, a_client_that_is_not_known_is_told_from_a_grant_that_is_void) {
  for (const char* code : {"invalid_client", "unauthorized_client"}) {
    const auto body = R"({"error":")" + std::string(code) + "\"}";
    EXPECT_TRUE(failure(401, body.c_str()).is("mcp.oauth.unknown_client")) << code;
  }
  EXPECT_TRUE(refuses_resource(400, R"({"error":"invalid_target"})"));
  EXPECT_FALSE(refuses_resource(400, R"({"error":"invalid_grant"})"));
  EXPECT_FALSE(refuses_resource(200, R"({"error":"invalid_target"})"));
  EXPECT_FALSE(refuses_resource(400, "<html>"));
}

TEST(answers, registrations_are_usable_or_refused) {
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

TEST(answers, scope_is_what_was_decided_else_asked_else_offered) {
  settings s;
  EXPECT_EQ(wanted_scope(s, "asked", "offered", ""), "asked");
  EXPECT_EQ(wanted_scope(s, "", "offered too", ""), "offered too");
  EXPECT_EQ(wanted_scope(s, "", "", ""), "");
  EXPECT_EQ(wanted_scope(s, "more", "offered", "some"), "some more");
  s.scope = "only";
  EXPECT_EQ(wanted_scope(s, "asked", "offered", "some"), "only");
}

TEST(answers, applications_of_this_machine_are_native) {
  for (const char* local : {"http://127.0.0.1:8080/cb", "http://localhost/cb", "http://[::1]:1/cb"}) {
    EXPECT_EQ(client_metadata(local).at("application_type"), "native") << local;
  }
  for (const char* web : {"https://run.example/cb", "https://localhost.example/cb", "https://127.0.0.example:1/"}) {
    EXPECT_EQ(client_metadata(web).at("application_type"), "web") << web;
  }
}

// ---- settings ---------------------------------------------------------------------------------

std::string complaint(const json::object& o) {
  try {
    (void)read_settings(o, "oauth");
  } catch (const ry::error& e) {
    return std::string(e.message());
  }
  return "";
}

json::object by_identity() {
  return {{"grant", "id_jag"},
          {"client_id", "a"},
          {"idp_issuer", "https://idp"},
          {"idp_client_id", "b"},
          {"subject_token", "me"}};
}

TEST(settings, of_an_identity_provider_go_with_its_grant_only) {
  EXPECT_EQ(complaint(by_identity()), "");
  for (const char* field : {"client_id", "idp_issuer", "idp_client_id"}) {
    auto o = by_identity();
    o.erase(field);
    EXPECT_THAT(complaint(o), HasSubstr("oauth." + std::string(field))) << field;
  }
  auto o = by_identity();
  o["subject_token_type"] = "jwt";
  EXPECT_THAT(complaint(o), HasSubstr("oauth.subject_token_type"));
  o["subject_token_type"] = "saml2";
  EXPECT_EQ(read_settings(o, "oauth").subject_token_type, "urn:ietf:params:oauth:token-type:saml2");
  o["grant"] = "authorization_code";
  EXPECT_THAT(complaint(o), HasSubstr("oauth.idp_issuer is only allowed for the grant id_jag"));
}

TEST(requests, an_identity_is_exchanged_for_an_assertion) {
  const auto p = exchange_parameters(read_settings(by_identity(), "oauth"), "https://as/", "https://mcp/x", "read");
  const parameters wanted{{"grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"},
                          {"requested_token_type", "urn:ietf:params:oauth:token-type:id-jag"},
                          {"audience", "https://as/"},
                          {"resource", "https://mcp/x"},
                          {"scope", "read"},
                          {"subject_token", "me"},
                          {"subject_token_type", "urn:ietf:params:oauth:token-type:id_token"}};
  EXPECT_EQ(p, wanted);
  EXPECT_EQ(assertion_parameters("x.y.z"),
            (parameters{{"grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"}, {"assertion", "x.y.z"}}));
}

TEST(answers, an_assertion_is_one_by_its_type) {
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

TEST(settings, are_read_and_refused_by_name) {
  EXPECT_EQ(complaint({}), "");
  EXPECT_EQ(complaint({{"grant", "client_credentials"}, {"client_id", "a"}, {"client_secret", "b"}}), "");
  EXPECT_THAT(complaint({{"grant", "password"}}), HasSubstr("oauth.grant"));
  EXPECT_THAT(complaint({{"client_id", 7}}), HasSubstr("oauth.client_id"));
  EXPECT_THAT(complaint({{"client_secret", "b"}}), HasSubstr("oauth.client_id"));
  EXPECT_THAT(complaint({{"grant", "client_credentials"}, {"client_id", "a"}}), HasSubstr("oauth.client_secret"));
  EXPECT_THAT(complaint({{"client_id", "a"}, {"private_key", "x"}}), HasSubstr("oauth.private_key"));
  EXPECT_THAT(complaint({{"token_endpoint_auth_method", "private_key_jwt"}}), HasSubstr("token_endpoint_auth_method"));
  EXPECT_THAT(complaint({{"client_id", "a\r\nb"}}), HasSubstr("oauth.client_id"));
  EXPECT_THAT(complaint({{"secret", "x"}}), HasSubstr("oauth.secret"));
}

}  // namespace
}  // namespace mcp::oauth
