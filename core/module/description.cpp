#include "core/module/description.hpp"

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <cctype>
#include <vector>

#include "core/module/text.hpp"

namespace ry::module {

namespace json = boost::json;

namespace {

constexpr std::array<std::string_view, 7> component_kinds = {"schemas",       "responses", "parameters", "examples",
                                                             "requestBodies", "headers",   "links"};
constexpr std::string_view reference_begin = "#/components/";

bool is_component_name(std::string_view s) {
  return !s.empty() && s.size() <= 100 &&
         std::all_of(s.begin(), s.end(), [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '-'; });
}

bool is_method(std::string_view s) {
  static constexpr std::array<std::string_view, 7> known = {"get", "head", "post", "put", "patch", "delete", "options"};
  return std::find(known.begin(), known.end(), s) != known.end();
}

std::string upper(std::string_view s) {
  std::string out(s);
  for (char& c : out) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return out;
}

std::string fault_of_paths(const json::value& paths) {
  if (!paths.is_object()) return "has \"paths\" that are not an object";
  for (const auto& [path, item] : paths.get_object()) {
    if (!item.is_object()) return "has a path " + in_quotes(path) + " that is not an object";
    for (const auto& [key, value] : item.get_object()) {
      if (key == "parameters" && value.is_array()) continue;
      if (!is_method(key) || !value.is_object())
        return "has a member " + in_quotes(key) + " of the path " + in_quotes(path) + " that is not an operation";
    }
  }
  return {};
}

std::string fault_of_components(const json::value& components) {
  if (!components.is_object()) return "has \"components\" that are not an object";
  for (const auto& [kind, list] : components.get_object()) {
    if (std::find(component_kinds.begin(), component_kinds.end(), std::string_view(kind)) == component_kinds.end() ||
        !list.is_object())
      return "has components " + in_quotes(kind) + ", which are unknown";
    for (const auto& [name, value] : list.get_object())
      if (!is_component_name(name) || !(value.is_object() || value.is_bool()))
        return "has a component " + in_quotes(name) + " whose name or value cannot be one";
  }
  return {};
}

std::string fault_of_tags(const json::value& tags) {
  const auto is_tag = [](const json::value& t) {
    const auto* o = t.if_object();
    const auto* name = o ? o->if_contains("name") : nullptr;
    return name && name->is_string();
  };
  if (!tags.is_array() || !std::all_of(tags.get_array().begin(), tags.get_array().end(), is_tag))
    return "has \"tags\" that are not a list of objects with a \"name\"";
  return {};
}

// Merges and checks the parts of one module's description.
class collector {
 public:
  collector(const registration& r, const std::set<std::string>& host_components)
      : registered_(r), components_(host_components) {}

  std::string run() {
    std::vector<json::value> parts;
    for (const auto& text : registered_.descriptions)
      if (auto part = parsed_description(text)) parts.emplace_back(std::move(*part));
    for (const auto& part : parts) collect(part.get_object());
    for (auto& part : parts) resolve(part);
    for (const auto& r : registered_.routes) {
      if (r.openapi_json.empty()) continue;
      note(described_.insert(upper(r.method) + " " + described_path(r.pattern)).second,
           "the route " + r.method + " " + r.pattern + " twice");
      json::value operation(*parsed_description(r.openapi_json));
      resolve(operation);
    }
    return problem_;
  }

 private:
  void note(bool good, const std::string& problem) {
    if (!good && problem_.empty()) problem_ = problem;
  }
  bool is_route(std::string_view method, std::string_view path) const {
    return std::any_of(registered_.routes.begin(), registered_.routes.end(),
                       [&](const auto& r) { return r.method == method && described_path(r.pattern) == path; });
  }
  void collect(const json::object& part) {
    if (const auto* components = part.if_contains("components"))
      for (const auto& [kind, list] : components->get_object())
        for (const auto& [name, value] : list.get_object()) {
          const auto id = std::string(kind) + "/" + std::string(name);
          note(components_.insert(id).second, "the component " + id + " twice");
        }
    if (const auto* paths = part.if_contains("paths"))
      for (const auto& [path, item] : paths->get_object())
        for (const auto& [key, value] : item.get_object()) {
          if (key == "parameters") continue;
          const auto route = upper(key) + " " + std::string(path);
          note(is_route(upper(key), path), "the route " + route + ", which it does not register");
          note(described_.insert(route).second, "the route " + route + " twice");
        }
  }
  void resolve(json::value& v) {
    for_each_reference(v, [&](std::string_view to) {
      const bool good =
          to.starts_with(reference_begin) && components_.contains(std::string(to.substr(reference_begin.size())));
      note(good, "something by " + in_quotes(to) + ", which neither it nor the host has");
      return std::string(to);
    });
  }

  const registration& registered_;
  std::set<std::string> components_, described_;
  std::string problem_;
};

}  // namespace

std::optional<json::object> parsed_description(std::string_view text) {
  json::parse_options options;
  options.max_depth = 100;
  boost::system::error_code ec;
  auto doc = json::parse(text, ec, {}, options);
  if (ec || !doc.is_object()) return std::nullopt;
  return std::move(doc.get_object());
}

std::string description_fault(std::string_view text) {
  const auto doc = parsed_description(text);
  if (!doc) return "is not a JSON object";
  for (const auto& [key, value] : *doc) {
    std::string fault;
    if (key == "paths")
      fault = fault_of_paths(value);
    else if (key == "components")
      fault = fault_of_components(value);
    else if (key == "tags")
      fault = fault_of_tags(value);
    else
      fault = "has " + in_quotes(key) + " in addition to paths, components and tags";
    if (!fault.empty()) return fault;
  }
  return {};
}

std::string description_problem(const registration& r, const std::set<std::string>& host_components) {
  return collector(r, host_components).run();
}

std::string described_path(std::string_view pattern) {
  std::string out(pattern);
  if (out.ends_with("...}")) out.erase(out.size() - 4, 3);
  return out;
}

void for_each_reference(json::value& v, const std::function<std::string(std::string_view)>& f) {
  if (auto* list = v.if_array()) {
    for (auto& each : *list) for_each_reference(each, f);
    return;
  }
  auto* object = v.if_object();
  if (!object) return;
  for (auto& [key, value] : *object) {
    if (key == "$ref" && value.is_string())
      value = f(value.get_string());
    else
      for_each_reference(value, f);
  }
}

}  // namespace ry::module
