// Responses of authorization servers and protected MCP servers: challenges, metadata, tokens, registrations, message
// URLs.
#include <string>

#include "check.hpp"
#include "modules/mcp/oauth/challenge.hpp"
#include "modules/mcp/oauth/client.hpp"
#include "modules/mcp/oauth/metadata.hpp"
#include "modules/mcp/transports/common/endpoint.hpp"

using namespace mcp::oauth;

namespace {

bool visible(std::string_view s) {
  for (const char c : s) {
    if (c <= 0x20 || c >= 0x7f) return false;
  }
  return true;
}

// Every exception is a ry::error with a message.
template <class F>
void throws_only_errors(F&& f) {
  try {
    f();
  } catch (const ry::error& e) {
    fuzz::check(!e.message().empty(), "an error has a message");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view input = fuzz::view(data, size);
  const auto kind = fuzz::take(input) % 7;
  if (kind == 0) {
    const auto c = read_challenge(input);
    if (c) fuzz::check(scope_union(c->scope, "") == c->scope, "scopes have no duplicates");
  } else if (kind == 1) {
    throws_only_errors([&] {
      const auto m = read_resource_metadata(input, "https://h/mcp", schemes::https_only);
      fuzz::check(is_usable_url(m.authorization_server, schemes::https_only), "the authorization server is usable");
      fuzz::check(origin_of(m.resource) == "https://h" || origin_of(m.resource) == "https://H" ||
                      m.resource.find("//h") != std::string::npos || m.resource.find("//H") != std::string::npos,
                  "the resource is the server's");
    });
  } else if (kind == 2) {
    throws_only_errors([&] {
      const auto m = read_server_metadata(input, "https://as", schemes::https_only, consent::of_user);
      fuzz::check(is_usable_url(m.token_endpoint, schemes::https_only), "the token endpoint uses https");
      const auto a = authorization_request(m, {"id", "", "", "", "", "https://cb"}, "https://h", m.scopes);
      fuzz::check(a.url.starts_with(m.authorization_endpoint) && a.url.size() <= max_user_url,
                  "the authorization URL is usable");
      fuzz::check(to_json(server_metadata_from(to_json(m))) == to_json(m), "stored metadata round-trip");
    });
  } else if (kind == 3) {
    throws_only_errors([&] {
      const auto t = read_tokens(200, input, "https://as/token", 0);
      fuzz::check(!t.access.empty() && visible(t.access) && visible(t.refresh), "tokens are valid in a header");
    });
  } else if (kind == 6) {
    const auto to = mcp_transport::same_origin_url("https://h/sse", input);
    fuzz::check(to.empty() || origin_of(to) == "https://h" || ry::iequals(to.substr(0, 9), "https://h"),
                "the message URL has the origin of its server");
  } else if (kind == 4) {
    throws_only_errors([&] { (void)read_tokens(400, input, "https://as/token", 0); });
  } else {
    throws_only_errors([&] {
      const auto c = read_registration(201, input, "https://as/register", "https://cb");
      fuzz::check(!c.id.empty() && visible(c.id), "a client has an id");
    });
  }
  return 0;
}
