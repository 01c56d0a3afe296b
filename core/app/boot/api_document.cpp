#include "core/app/boot/api_document.hpp"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <cctype>
#include <map>
#include <optional>
#include <ry/cpp/text.hpp>
#include <string_view>

#include "core/app/boot/module_names.hpp"
#include "core/module/description.hpp"
#include "core/module/pattern.hpp"
#include "host_openapi.hpp"

namespace ry::app {

namespace json = boost::json;

namespace {

constexpr std::string_view reference_prefix = "#/components/";
constexpr std::string_view host_prefix = "host.";

// "GET", "/agent-run/{id}/stream" -> "get_agent_run_id_stream"
std::string operation_name(std::string_view method, std::string_view path) {
  std::string out = lower_ascii(method);
  bool word = false;
  for (const char c : path) {
    const bool part = std::isalnum(static_cast<unsigned char>(c)) != 0;
    if (part && !word) out += '_';
    if (part) out += c;
    word = part;
  }
  return out;
}

std::string without_slash(std::string path) {
  while (path.ends_with('/')) path.pop_back();
  return path;
}

// "#/components/schemas/Run" of module runs -> "#/components/schemas/runs.Run"; leaves references to the host's
// components unchanged.
std::string with_owner(std::string_view reference, const std::string& owner) {
  const auto at = reference.rfind('/');
  if (!reference.starts_with(reference_prefix) || reference.substr(at + 1).starts_with(host_prefix))
    return std::string(reference);
  return std::string(reference.substr(0, at + 1)) + owner + "." + std::string(reference.substr(at + 1));
}

json::object refer(std::string_view component) {
  return {{"$ref", std::string(reference_prefix) + std::string(component)}};
}

json::object* object_in(json::object& in, std::string_view key) {
  auto* v = in.if_contains(key);
  return v ? v->if_object() : nullptr;
}

bool is_text(const json::value* v, std::string_view text) {
  return v && v->is_string() && std::string_view(v->get_string()) == text;
}

class builder {
 public:
  explicit builder(const api_parts& parts) : parts_(parts) {
    for (const auto& text : parts.texts) add_descriptions(text);
    for (const auto& r : parts.routes) add_route(r);
  }

  std::string text() {
    json::object paths;
    for (auto& [path, item] : paths_) {
      json::object methods;
      for (auto& [method, operation] : item) methods[method] = std::move(operation);
      paths[path] = std::move(methods);
    }
    json::object components;
    for (auto& [kind, list] : components_) {
      json::object all;
      for (auto& [name, value] : list) all[name] = std::move(value);
      components[kind] = std::move(all);
    }
    json::array tags;
    for (auto& [name, tag] : tags_) tags.push_back(std::move(tag));
    info_["version"] = parts_.version;
    return json::serialize(
        json::object{{"openapi", "3.1.1"},
                     {"info", std::move(info_)},
                     {"servers", json::array{json::object{{"url", parts_.base_path.empty() ? "/" : parts_.base_path}}}},
                     {"tags", std::move(tags)},
                     {"paths", std::move(paths)},
                     {"components", std::move(components)}});
  }

 private:
  void add_descriptions(const module::module_text& from) {
    for (const auto& text : from.parts) {
      auto part = module::parsed_description(text);
      if (!part) continue;
      json::value whole(std::move(*part));
      module::for_each_reference(whole, [&](std::string_view to) { return with_owner(to, from.module); });
      auto& o = whole.get_object();
      if (auto* info = object_in(o, "info")) info_ = std::move(*info);
      if (auto* list = o.if_contains("tags"); list && list->is_array())
        for (auto& tag : list->get_array()) {
          const auto* t = tag.if_object();
          const auto* name = t ? t->if_contains("name") : nullptr;
          if (name && name->is_string()) tags_.try_emplace(name->get_string().c_str(), tag);
        }
      if (auto* components = object_in(o, "components"))
        for (auto& [kind, list] : *components)
          if (auto* named = list.if_object())
            for (auto& [name, value] : *named)
              components_[kind][from.module + "." + std::string(name)] = std::move(value);
      if (auto* paths = object_in(o, "paths"))
        for (auto& [path, item] : *paths)
          if (auto* methods = item.if_object()) keep_operations(from.module, path, *methods);
    }
  }
  void keep_operations(const std::string& owner, const std::string& path, json::object& methods) {
    const auto* shared = methods.if_contains("parameters");
    for (auto& [method, operation] : methods) {
      auto* o = operation.if_object();
      if (!o) continue;
      if (shared && shared->is_array()) {
        auto& own = (*o)["parameters"];
        if (!own.is_array()) own = json::array();
        for (const auto& p : shared->get_array()) own.get_array().push_back(p);
      }
      described_[owner + " " + std::string(method) + " " + path] = std::move(*o);
    }
  }

  json::object operation_of(const api_route& r, const std::string& path) {
    if (!r.openapi_json.empty())
      if (auto given = module::parsed_description(r.openapi_json)) {
        json::value v(std::move(*given));
        module::for_each_reference(v, [&](std::string_view to) { return with_owner(to, r.owner); });
        return std::move(v.get_object());
      }
    const auto it = described_.find(r.owner + " " + lower_ascii(r.method) + " " + path);
    return it == described_.end() ? json::object() : std::move(it->second);
  }

  void add_route(const api_route& r) {
    const std::string path = module::described_path(r.pattern);
    auto o = operation_of(r, path);
    if (!o.contains("tags")) o["tags"] = json::array{r.owner};
    const auto* id = o.if_contains("operationId");
    o["operationId"] =
        r.owner + "." + (id && id->is_string() ? std::string(id->get_string()) : operation_name(r.method, path));
    add_parameters(r, o);
    add_security(r, o);
    add_host_responses(r, o);
    if ((r.flags & RY_ROUTE_NO_PREFIX) && !parts_.base_path.empty())
      o["servers"] = json::array{json::object{{"url", "/"}}};
    paths_[path].emplace(lower_ascii(r.method), std::move(o));
  }
  // A parameter, or the component that it refers to.
  const json::object* parameter(const json::value& v) const {
    const auto* p = v.if_object();
    const auto* to = p ? p->if_contains("$ref") : nullptr;
    if (!to) return p;
    constexpr std::string_view parameters = "#/components/parameters/";
    const std::string_view where = to->is_string() ? std::string_view(to->get_string()) : std::string_view();
    const auto all = components_.find("parameters");
    if (!where.starts_with(parameters) || all == components_.end()) return nullptr;
    const auto found = all->second.find(std::string(where.substr(parameters.size())));
    return found == all->second.end() ? nullptr : found->second.if_object();
  }
  bool has_path_parameter(const json::value* list, std::string_view name) const {
    const auto* all = list ? list->if_array() : nullptr;
    if (!all) return false;
    return std::any_of(all->begin(), all->end(), [&](const json::value& v) {
      const auto* p = parameter(v);
      return p && is_text(p->if_contains("in"), "path") && is_text(p->if_contains("name"), name);
    });
  }
  void add_parameters(const api_route& r, json::object& o) const {
    const module::pattern where(r.pattern);
    for (const auto& s : where.segments()) {
      if (s.what == module::pattern_segment::kind::literal) continue;
      if (has_path_parameter(o.if_contains("parameters"), s.text)) continue;
      auto& list = o["parameters"];
      if (!list.is_array()) list = json::array();
      list.get_array().push_back(json::object{
          {"name", s.text}, {"in", "path"}, {"required", true}, {"schema", json::object{{"type", "string"}}}});
    }
  }
  static void add_security(const api_route& r, json::object& o) {
    if (o.contains("security")) return;
    json::array ways;
    if (!(r.flags & RY_ROUTE_PUBLIC)) ways.push_back(json::object{{"host.bearer", json::array()}});
    if (r.flags & RY_ROUTE_QUERY_TOKEN) ways.push_back(json::object{{"host.query_token", json::array()}});
    o["security"] = std::move(ways);
  }
  // Adds the responses that the host itself sends.
  static void add_host_responses(const api_route& r, json::object& o) {
    auto& all = o["responses"];
    if (!all.is_object()) {
      all = json::object{{"default", json::object{{"description", "Not described by the module"}}}};
    }
    const auto also = [&](const char* status, std::string_view what) {
      all.get_object().emplace(status, refer("responses/host." + std::string(what)));
    };
    if (!(r.flags & RY_ROUTE_PUBLIC)) also("401", "NotAuthenticated");
    also("403", r.flags & RY_ROUTE_ADMIN ? "Forbidden" : "ForeignSite");
    if (r.method != "GET" && r.method != "HEAD") {
      also("408", "BodyTooSlow");
      also("413", "TooLarge");
    }
    // The host answers 422 to a path parameter that is not valid UTF-8.
    if (r.pattern.find('{') != std::string::npos) also("422", "Unprocessable");
    also("429", "TooManyRequests");
    also("500", "InternalError");
    also("503", "Unavailable");
    if (!(r.flags & RY_ROUTE_LONG)) also("504", "TimedOut");
  }

  const api_parts& parts_;
  json::object info_{{"title", "Runyard"}};
  std::map<std::string, json::object> described_;  // key: "owner method path"
  std::map<std::string, std::map<std::string, json::object>> paths_;
  std::map<std::string, std::map<std::string, json::value>> components_;
  std::map<std::string, json::value> tags_;
};

}  // namespace

std::string api_text(const api_parts& parts) {
  return builder(parts).text();
}

std::set<std::string> host_components() {
  std::set<std::string> out;
  const auto host = module::parsed_description(ry_openapi::host);
  for (const auto& [kind, list] : host->at("components").as_object())
    for (const auto& [name, value] : list.as_object())
      out.insert(std::string(kind) + "/" + std::string(host_prefix) + std::string(name));
  return out;
}

api_document::api_document(http::server& server, std::string base_path)
    : server_(server), base_path_(without_slash(std::move(base_path))) {
  http::host_route at{"GET", "/openapi.json", [this](auto&) { return answer(); }, http::runs_on::loop};
  server.add_host_route(at);
  if (base_path_.empty()) return;
  at.flags = RY_ROUTE_PUBLIC;  // served below the base path, so that pages there can use a relative URL
  server.add_host_route(std::move(at));
}

void api_document::update(const std::vector<module::route>& routes, std::vector<module::module_text> texts) {
  api_parts parts{RY_VERSION, base_path_, {}, std::move(texts)};
  parts.texts.push_back({host_part, RY_VERSION, {std::string(ry_openapi::host)}});
  for (const auto& h : server_.host_routes()) parts.routes.push_back({host_part, h.method, h.pattern, {}, h.flags});
  for (const auto& r : routes) parts.routes.push_back({r.owner->name, r.method, r.pattern, r.openapi_json, r.flags});
  auto text = std::make_shared<const std::string>(api_text(parts));
  std::lock_guard lock(mutex_);
  text_ = std::move(text);
}

http::host_answer api_document::answer() const {
  std::shared_ptr<const std::string> text;
  {
    std::lock_guard lock(mutex_);
    text = text_;
  }
  if (!text) return {503, "application/json", R"({"detail": "The server is starting"})"};
  return {200, "application/json", *text};
}

}  // namespace ry::app
