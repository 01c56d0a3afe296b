#include "connection.hpp"

namespace mcp_prebuilt {
namespace {

json::object object_in(const json::object& o, std::string_view key) {
  const auto* p = mcp::object_at(o, key);
  return p != nullptr ? *p : json::object();
}

json::object parse_object(std::string_view text) {
  auto v = mcp::parse(text);
  return v.is_object() ? std::move(v.get_object()) : json::object();
}

}  // namespace

std::string to_text(const connection& c) {
  return json::serialize(
      json::object{{"id", c.id},
                   {"resource", c.resource},
                   {"as", to_json(c.as)},
                   {"who", to_json(c.client)},
                   {"tokens", to_json(c.tokens)},
                   {"wanted", {{"resource_metadata", c.pending.resource_metadata}, {"scope", c.pending.scope}}}});
}

connection connection_from(std::string_view text) {
  const auto o = parse_object(text);
  const auto pending = object_in(o, "wanted");
  connection c;
  c.id = mcp::text_of(o, "id");
  c.resource = mcp::text_of(o, "resource");
  c.as = oauth::server_metadata_from(object_in(o, "as"));
  c.client = oauth::client_from(object_in(o, "who"));
  c.tokens = oauth::tokens_from(object_in(o, "tokens"));
  c.pending.resource_metadata = mcp::text_of(pending, "resource_metadata");
  c.pending.scope = mcp::text_of(pending, "scope");
  return c;
}

std::string to_text(const consent_flow& f) {
  return json::serialize(json::object{{"verifier", f.verifier},
                                      {"resource", f.resource},
                                      {"scope", f.scope},
                                      {"url", f.url},
                                      {"as", to_json(f.as)},
                                      {"who", to_json(f.client)}});
}

consent_flow consent_flow_from(std::string_view text) {
  const auto o = parse_object(text);
  return {mcp::text_of(o, "verifier"),
          mcp::text_of(o, "resource"),
          mcp::text_of(o, "scope"),
          mcp::text_of(o, "url"),
          oauth::server_metadata_from(object_in(o, "as")),
          oauth::client_from(object_in(o, "who"))};
}

}  // namespace mcp_prebuilt
