#include "connection.hpp"

namespace mcp_prebuilt {
namespace {

json::object part(const json::object& o, std::string_view key) {
  const auto* p = mcp::object_at(o, key);
  return p != nullptr ? *p : json::object();
}

json::object read(std::string_view text) {
  auto v = mcp::parse(text);
  return v.is_object() ? std::move(v.get_object()) : json::object();
}

}  // namespace

std::string to_text(const connection& c) {
  return json::serialize(
      json::object{{"id", c.id},
                   {"resource", c.resource},
                   {"as", to_json(c.as)},
                   {"who", to_json(c.who)},
                   {"tokens", to_json(c.tokens)},
                   {"wanted", {{"resource_metadata", c.wanted.resource_metadata}, {"scope", c.wanted.scope}}}});
}

connection connection_from(std::string_view text) {
  const auto o = read(text);
  const auto wanted = part(o, "wanted");
  connection c;
  c.id = mcp::text_of(o, "id");
  c.resource = mcp::text_of(o, "resource");
  c.as = oauth::server_metadata_from(part(o, "as"));
  c.who = oauth::client_from(part(o, "who"));
  c.tokens = oauth::tokens_from(part(o, "tokens"));
  c.wanted.resource_metadata = mcp::text_of(wanted, "resource_metadata");
  c.wanted.scope = mcp::text_of(wanted, "scope");
  return c;
}

std::string to_text(const consent_flow& f) {
  return json::serialize(json::object{{"verifier", f.verifier},
                                      {"resource", f.resource},
                                      {"scope", f.scope},
                                      {"url", f.url},
                                      {"as", to_json(f.as)},
                                      {"who", to_json(f.who)}});
}

consent_flow consent_flow_from(std::string_view text) {
  const auto o = read(text);
  return {mcp::text_of(o, "verifier"),
          mcp::text_of(o, "resource"),
          mcp::text_of(o, "scope"),
          mcp::text_of(o, "url"),
          oauth::server_metadata_from(part(o, "as")),
          oauth::client_from(part(o, "who"))};
}

}  // namespace mcp_prebuilt
