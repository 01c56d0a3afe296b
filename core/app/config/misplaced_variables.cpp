#include "core/app/config/misplaced_variables.hpp"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "core/app/config/schema_lookup.hpp"

namespace ry::app::config {

namespace json = boost::json;

namespace {

bool is_table(const node& n) {
  return n.is == node::kind::table;
}

// The schema of one key; nullptr if the table has no such key or allows any value there.
// Whether the schema allows a node of this kind, a table or a single value.
bool has_room_for(const node& n, const json::value& schema) {
  const auto* type = schema.as_object().if_contains("type");
  if (!type) return true;
  if (type->is_string()) return is_table(n) == (type->get_string() == "object");
  if (!type->is_array()) return true;
  const auto& types = type->get_array();
  return !is_table(n) || std::find(types.begin(), types.end(), json::value("object")) != types.end();
}

void warn(const node& n, const std::string& path, const char* why, problems& out) {
  if (!is_table(n)) return out.push_back({n.where, path, why, true});
  for (const auto& m : n.members) warn(m.second, path, why, out);
}

}  // namespace

void drop_misplaced_variables(node& table, const json::value& schema, key_path path, problems& out) {
  std::erase_if(table.members, [&](auto& m) {
    auto& [key, child] = m;
    const auto* s = schema_of(schema, key);
    if (!s) return false;
    path.push_back(key);
    const bool foreign = is_only_environment(child);
    bool dropped = foreign && !has_room_for(child, *s);
    if (dropped) {
      warn(child, to_text(path),
           is_table(child) ? "is not a table; no setting has this name" : "is a table; no setting has this name", out);
    } else if (is_table(child)) {
      drop_misplaced_variables(child, *s, path, out);
      dropped = foreign && child.members.empty();
    }
    path.pop_back();
    return dropped;
  });
}

}  // namespace ry::app::config
