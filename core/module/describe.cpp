#include "core/module/describe.hpp"

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "core/module/describe_text.hpp"

namespace ry::module {

namespace json = boost::json;

namespace {}  // namespace

const char* to_string(module_state s) noexcept {
  switch (s) {
    case module_state::disabled:
      return "disabled";
    case module_state::refused:
      return "refused";
    case module_state::created:
      return "created";
    case module_state::started:
      return "started";
    case module_state::stopped:
      return "stopped";
    case module_state::retired:
      return "retired";
  }
  return "unknown";
}

json::object to_json(const module_manifest& f) {
  json::object o;
  o["name"] = f.name;
  o["version"] = f.version;
  o["abi_major"] = f.abi_major;
  o["abi_minor"] = f.abi_minor;
  o["min_host_minor"] = f.min_host_minor;
  o["flags"] = f.flags;
  json::array needs;
  for (const auto& n : f.needs)
    needs.push_back(json::object{{"id", n.id}, {"optional", n.optional}, {"min_size", n.min_size}});
  o["needs"] = std::move(needs);
  o["provides"] = json_array(f.provides);
  return o;
}

std::string to_json(const std::vector<module_description>& modules) {
  json::array all;
  for (const auto& m : modules) {
    json::object o = to_json(m.manifest);
    o["state"] = to_string(m.state);
    o["required"] = m.required;
    o["file"] = m.file;
    o["sha256"] = m.sha256;
    if (!m.reason.empty()) o["reason"] = m.reason;
    o["routes"] = json_array(m.routes);
    o["jobs"] = json_array(m.jobs);
    o["consumers"] = json_array(m.consumers);
    o["services"] = json_array(m.services);
    o["points"] = json_array(m.points);
    json::array drivers;
    for (const auto& d : m.drivers) drivers.push_back(json::object{{"point", d.point}, {"name", d.name}});
    o["drivers"] = std::move(drivers);
    o["migrations"] = json_array(m.migrations);
    json::error_code ec;
    auto schema = json::parse(m.settings_schema, ec);
    o["settings_schema"] = ec ? json::value(nullptr) : std::move(schema);
    o["instance"] = m.instance;
    o["generation"] = m.instance;  // the old name
    o["slow_callbacks"] = m.slow_callbacks;
    o["violations"] = m.violations;
    o["strikes"] = m.violations;  // the old name
    o["outstanding"] = m.outstanding;
    if (!m.last_violation.empty()) {
      o["last_violation"] = m.last_violation;
      o["last_strike"] = m.last_violation;  // the old name
    }
    all.push_back(std::move(o));
  }
  return json::serialize(all);
}

}  // namespace ry::module
