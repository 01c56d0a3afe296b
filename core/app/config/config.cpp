#include "core/app/config/config.hpp"

#include "core/app/config/misplaced_variables.hpp"
#include "core/app/config/name_check.hpp"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <stdexcept>

#include "core/app/config/nearest.hpp"
#include "core/app/config/schema.hpp"

namespace ry::app::config {

namespace json = boost::json;

namespace {

void split(std::string_view text, std::vector<std::string>& out) {
  while (!text.empty()) {
    const auto colon = text.find(':');
    if (colon != 0) out.emplace_back(text.substr(0, colon));
    if (colon == std::string_view::npos) return;
    text.remove_prefix(colon + 1);
  }
}

void list_values(const json::value& value, const node* given, key_path& path, std::string& out) {
  if (const auto* o = value.if_object()) {
    for (const auto& [key, child] : *o) {
      path.emplace_back(key);
      list_values(child, given ? given->find(key) : nullptr, path, out);
      path.pop_back();
    }
    return;
  }
  out += printable_line(to_text(path)) + " = " + json::serialize(value) + "  # " + (given ? given->where : "default") +
         "\n";
}

}  // namespace

config::config(const sources& from, const environment& env, const defaults& places)
    : file_(from.file), schema_(host_schema(places)) {
  const auto keys = host_keys();
  tree_ = read(from, env, {keys, host_settings()}, faults_);
  drop_misplaced_variables(tree_, schema_, {}, faults_);
  node host = tree_;
  std::erase_if(host.members,
                [&](const auto& m) { return std::find(keys.begin(), keys.end(), m.first) == keys.end(); });
  host_ = check(host, schema_, {}, faults_);
  set_warnings_aside();
  if (!faults_.empty()) return;
  const auto both = [&](const char* a, const char* b) {
    if (text(a).empty() == text(b).empty()) return;
    // Reported at the position of the one that is set.
    const auto [missing, set] = text(a).empty() ? std::pair(a, b) : std::pair(b, a);
    faults_.push_back({position_of(set), missing, std::string("is required together with ") + set});
  };
  both("http.tls.cert", "http.tls.key");
  if (!text("auth.jwt.jwks_url").empty() && !text("auth.jwt.jwks_file").empty())
    refuse("auth.jwt.jwks_file", "cannot be combined with auth.jwt.jwks_url; keep one");
}

void config::set_warnings_aside() {
  const auto first = std::stable_partition(faults_.begin(), faults_.end(), [](const problem& p) { return !p.warning; });
  warnings_.insert(warnings_.end(), std::make_move_iterator(first), std::make_move_iterator(faults_.end()));
  faults_.erase(first, faults_.end());
}

void config::refuse(std::string_view key, std::string message) {
  faults_.push_back({position_of(key), std::string(key), std::move(message)});
}

std::string config::position_of(std::string_view text) const {
  const node* at = &tree_;
  std::string_view separator;
  while (true) {
    const node* next = nullptr;
    std::string_view rest;
    const auto consider = [&](const std::string& part, const node& child) {
      if (!text.starts_with(part)) return;
      const auto behind = text.substr(part.size());
      // "a.bc" does not begin with "a.b": after the key, a message continues with a space, a longer key with "." or
      // "[".
      if (!behind.empty() && is_bare(behind.front())) return;
      next = &child;
      rest = behind;
    };
    if (text.starts_with(separator)) {
      text.remove_prefix(separator.size());
      for (const auto& [name, child] : at->members) consider(to_text({name}), child);
    }
    for (std::size_t i = 0; i < at->items.size(); ++i) consider("[" + std::to_string(i) + "]", at->items[i]);
    if (!next) return at->where;
    at = next;
    text = rest;
    separator = ".";
  }
}

const json::value* config::find(std::string_view key) const {
  const auto* v = &host_;
  while (true) {
    const auto dot = key.find('.');
    v = v->as_object().if_contains(key.substr(0, dot));
    if (!v || dot == std::string_view::npos) return v;
    key.remove_prefix(dot + 1);
  }
}

const json::value& config::at(std::string_view key) const {
  const auto* v = find(key);
  if (!v) throw std::logic_error("no such host setting: " + std::string(key));
  return *v;
}

bool config::has(std::string_view key) const {
  return find(key) != nullptr;
}

std::vector<std::string> config::names(std::string_view key) const {
  std::vector<std::string> out;
  for (const auto& member : at(key).as_object()) out.emplace_back(member.key());
  return out;
}

std::string config::text(std::string_view key) const {
  return std::string(at(key).as_string());
}
std::int64_t config::integer(std::string_view key) const {
  return at(key).as_int64();
}
bool config::flag(std::string_view key) const {
  return at(key).as_bool();
}

std::chrono::milliseconds config::duration(std::string_view key) const {
  return std::chrono::milliseconds(static_cast<std::int64_t>(at(key).to_number<double>() * 1000.0 + 0.5));
}

double config::number(std::string_view key) const {
  return at(key).to_number<double>();
}

std::vector<std::string> config::list(std::string_view key) const {
  std::vector<std::string> out;
  const auto& v = at(key);
  if (const auto* one = v.if_string()) {
    if (!one->empty()) out.emplace_back(*one);
  } else {
    for (const auto& item : v.as_array()) out.emplace_back(item.as_string());
  }
  return out;
}

std::vector<module_entry> config::modules() const {
  std::vector<module_entry> out;
  const auto* given = tree_.find("modules");
  for (const auto& [name, v] : at("modules").as_object()) {
    const auto* o = v.if_object();
    if (!o) continue;  // such as modules.path
    const auto* entry = given ? given->find(name) : nullptr;
    out.push_back({std::string(name), o->at("enabled").as_bool(), o->at("required").as_bool(),
                   std::string(o->at("sha256").as_string()), std::string(o->at("path").as_string()),
                   entry ? entry->where : tree_.where, o->at("allow_newer_schema").as_bool()});
  }
  return out;
}

std::vector<std::string> config::module_paths() const {
  std::vector<std::string> out;
  for (const auto& entry : list("modules.path")) split(entry, out);
  return out;
}

void config::check_names(const std::vector<std::string>& module_names) {
  const auto known = [&](const std::string& name) {
    return std::find(module_names.begin(), module_names.end(), name) != module_names.end();
  };
  const auto hosts = host_keys();
  // [a.b] is another spelling of [a_b] if the modules a and a_b both exist.
  for (const auto& name : module_names) {
    for (auto at = name.find('_'); at != std::string::npos; at = name.find('_', at + 1)) {
      auto* outer = known(name.substr(0, at)) ? tree_.find(name.substr(0, at)) : nullptr;
      auto* inner = outer != nullptr ? outer->find(name.substr(at + 1)) : nullptr;
      if (inner == nullptr || inner->is != node::kind::table) continue;
      const auto* other = tree_.find(name);
      for (const auto& [key, value] : inner->members) {
        const auto* twice = other != nullptr ? other->find(key) : nullptr;
        if (twice == nullptr) continue;
        faults_.push_back({value.where, to_text({name.substr(0, at), name.substr(at + 1), key}),
                           "is given twice, also as " + to_text({name, key}) + " (" + twice->where + ")"});
      }
      node moved;
      moved.is = node::kind::table;
      moved.where = inner->where;
      moved.members.emplace_back(name, std::move(*inner));
      std::erase_if(outer->members, [&](const auto& m) { return m.first == name.substr(at + 1); });
      merge(tree_, std::move(moved));
    }
  }
  auto all = module_names;
  all.insert(all.end(), hosts.begin(), hosts.end());
  for (const auto& [name, child] : tree_.members) {
    if (std::find(hosts.begin(), hosts.end(), name) != hosts.end() || known(name)) continue;
    const auto meant = nearest(name, all);
    faults_.push_back({child.where, to_text({name}),
                       std::string("unknown key, and no module of this name is installed") +
                           (meant.empty() ? "" : "; did you mean \"" + meant + "\"?"),
                       is_only_environment(child)});
  }
  std::erase_if(tree_.members, [&](const auto& m) {
    return std::find(all.begin(), all.end(), m.first) == all.end() && is_only_environment(m.second);
  });
  for (const auto& m : modules()) {
    if (known(m.name) || !m.path.empty()) continue;
    const auto* given = tree_.find("modules");
    const auto* entry = given ? given->find(m.name) : nullptr;
    const auto meant = nearest(m.name, module_names);
    faults_.push_back({m.where, to_text({"modules", m.name}),
                       "there is no module \"" + m.name + "\" in modules.path" +
                           (meant.empty() ? "" : "; did you mean \"" + meant + "\"?"),
                       entry != nullptr && is_only_environment(*entry)});
  }
  set_warnings_aside();
}

std::optional<std::string> config::module_settings(const std::string& name, std::string_view schema_json) {
  auto* given = tree_.find(name);
  node empty;
  empty.is = node::kind::table;
  empty.where = tree_.where;
  const auto before = faults_.size();
  json::value schema = json::object();
  if (!schema_json.empty()) {
    boost::system::error_code ec;
    schema = json::parse(schema_json, ec);
    const auto fault = ec ? std::string("no JSON") : schema_fault(schema);
    if (!fault.empty()) {
      faults_.push_back({"module " + name, "", "its settings schema cannot be used: " + fault});
      return std::nullopt;
    }
  }
  // A module without a schema has no settings: every key of its table is unknown.
  schema.as_object()["type"] = "object";
  if (given) drop_misplaced_variables(*given, schema, {name}, faults_);
  auto value = check(given ? *given : empty, schema, {name}, faults_);
  set_warnings_aside();
  if (faults_.size() != before) return std::nullopt;
  auto text = json::serialize(value);
  modules_[name] = {std::move(value), std::move(schema)};
  return text;
}

std::string config::accepted_settings(const std::string& name) const {
  const auto it = modules_.find(name);
  return it == modules_.end() ? std::string() : json::serialize(it->second.first);
}

void config::check_drivers(const std::vector<std::pair<std::string, std::string>>& drivers) {
  for (const auto& [name, entry] : modules_)
    ry::app::config::check_drivers(entry.first, entry.second, tree_.find(name), {name}, drivers, faults_);
}

void config::check_references() {
  name_check names;
  for (const auto& [name, entry] : modules_) names.collect(entry.first, entry.second);
  for (const auto& [name, entry] : modules_)
    names.find_faults(entry.first, entry.second, tree_.find(name), {name}, faults_);
}

problems config::unchecked() const {
  const auto hosts = host_keys();
  problems out;
  for (const auto& [name, table] : tree_.members) {
    if (modules_.contains(name) || std::find(hosts.begin(), hosts.end(), name) != hosts.end()) continue;
    if (table.is == node::kind::table && table.members.empty()) continue;
    out.push_back({table.where, to_text({name}), "has no effect and was not checked: the module is not enabled"});
  }
  return out;
}

std::vector<std::string> config::disabled() const {
  std::vector<std::string> out;
  find_disabled(host_, schema_, {}, out);
  for (const auto& [name, entry] : modules_) find_disabled(entry.first, entry.second, {name}, out);
  return out;
}

std::string config::listing() const {
  std::string out;
  key_path path;
  list_values(masked(host_, schema_), &tree_, path, out);
  for (const auto& [name, entry] : modules_) {
    path = {name};
    list_values(masked(entry.first, entry.second), tree_.find(name), path, out);
  }
  return out;
}

std::vector<std::string> config::secret_texts() const {
  auto out = secrets(host_, schema_);
  for (const auto& [name, entry] : modules_) {
    auto more = secrets(entry.first, entry.second);
    out.insert(out.end(), more.begin(), more.end());
  }
  return out;
}

std::vector<std::string> config::secret_files() const {
  std::vector<std::string> out;
  find_secret_files(host_, schema_, out);
  for (const auto& [name, entry] : modules_) find_secret_files(entry.first, entry.second, out);
  return out;
}

}  // namespace ry::app::config
