#include "integrations.hpp"

#include <algorithm>
#include <ry/cpp/text.hpp>
#include <ry/cpp/types.hpp>
#include <stdexcept>

namespace mcp_prebuilt {

namespace json = boost::json;

namespace {

std::string text(const json::value& v) {
  return std::string(v.get_string().data(), v.get_string().size());
}

// Calls visit(text, is_field) for each part of a template.
template <class F>
void for_each_part(std::string_view s, F&& visit) {
  while (!s.empty()) {
    const auto open = s.find('{');
    const auto close = open == std::string_view::npos ? open : s.find('}', open);
    if (close == std::string_view::npos) return visit(s, false);
    if (open != 0) visit(s.substr(0, open), false);
    visit(s.substr(open + 1, close - open - 1), true);
    s.remove_prefix(close + 1);
  }
}

}  // namespace

std::vector<std::string> integration::fields() const {
  std::vector<std::string> out;
  for (const auto& [name, value] : headers) {
    for_each_part(value, [&](std::string_view part, bool field) {
      if (field && std::find(out.begin(), out.end(), part) == out.end()) out.emplace_back(part);
    });
  }
  const bool needs_subject_token =
      oauth && oauth->grant_type == mcp::oauth::settings::grant::id_jag && oauth->subject_token.empty();
  if (needs_subject_token && std::find(out.begin(), out.end(), subject_field) == out.end())
    out.emplace_back(subject_field);
  return out;
}

integrations read_integrations(std::string_view settings_json) {
  integrations out;
  if (settings_json.empty()) return out;
  const auto v = json::parse(json::string_view(settings_json.data(), settings_json.size()));
  const auto* all = v.as_object().if_contains("integrations");
  if (all == nullptr) return out;
  for (const auto& [name, each] : all->as_object()) {
    const auto& o = each.as_object();
    const auto path = "mcp_prebuilt.integrations." + std::string(name.data(), name.size());
    integration i;
    i.url = text(o.at("url"));
    if (!ry::has_http_scheme(i.url)) {
      throw std::invalid_argument(path + ".url must begin with http:// or https://");
    }
    if (const auto* type = o.if_contains("type")) i.type = text(*type);
    if (const auto* headers = o.if_contains("headers")) {
      for (const auto& [header, value] : headers->as_object()) {
        i.headers.emplace_back(std::string(header.data(), header.size()), text(value));
      }
    }
    // A missing table arrives as an empty one.
    if (const auto* oauth = o.if_contains("oauth"); oauth != nullptr && !oauth->as_object().empty()) {
      i.oauth = mcp::oauth::read_settings(oauth->as_object(), path + ".oauth");
      // The MCP server chooses its authorization server and could name one that collects secrets.
      const bool has_secret = !i.oauth->client_secret.empty() || !i.oauth->private_key.empty();
      if (has_secret && i.oauth->issuer.empty()) {
        throw std::invalid_argument(path +
                                    ".oauth.issuer is required with a client_secret or a private_key: "
                                    "the authorization server to which these credentials may be sent");
      }
    }
    out.emplace(std::string(name.data(), name.size()), std::move(i));
  }
  return out;
}

json::object read_credentials(const integration& i, const json::value* given) {
  const auto required = i.fields();
  const auto* o = given != nullptr ? given->if_object() : nullptr;
  if (given != nullptr && !given->is_null() && o == nullptr) {
    throw ry::bad_request("mcp.profile", "credentials must be an object");
  }
  json::object out;
  for (const auto& field : required) {
    const auto* v = o != nullptr ? o->if_contains(field) : nullptr;
    const bool usable = v != nullptr && v->is_string() && !v->get_string().empty() && v->get_string().size() <= 8192;
    if (!usable) throw ry::bad_request("mcp.profile", "credentials." + field + " is required");
    const auto s = text(*v);
    if (std::any_of(s.begin(), s.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; })) {
      throw ry::bad_request("mcp.profile", "credentials." + field + " contains control characters");
    }
    out[field] = *v;
  }
  if (o == nullptr) return out;
  for (const auto& member : *o) {
    const std::string name(member.key().data(), member.key().size());
    if (!out.contains(name)) {
      throw ry::bad_request("mcp.profile", "credentials." + name + " is not known to the integration");
    }
  }
  return out;
}

json::object filled_headers(const integration& i, const json::object& credentials) {
  json::object headers;
  for (const auto& [name, value] : i.headers) {
    std::string filled;
    for_each_part(value, [&](std::string_view part, bool field) {
      const auto* v = field ? credentials.if_contains(json::string_view(part.data(), part.size())) : nullptr;
      if (!field) filled += part;
      if (v != nullptr && v->is_string()) filled += text(*v);
    });
    headers[name] = filled;
  }
  return headers;
}

}  // namespace mcp_prebuilt
