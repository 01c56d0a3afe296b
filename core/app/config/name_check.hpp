// Names that one setting defines and another refers to, also across modules. Three words of a schema:
//   "defines": {"kind": "accounts.tier", "predefined": ["free"]}   of a table: its keys, and these, are names of that kind
//   "refers_to": {"kinds": ["runs.model"], "also": ["*"]}          of a text, or of each text in a list
//   "keys_refer_to": {"kinds": ["accounts.tier"]}                  of a table: of each of its keys
// A kind that ends with "/" in `kinds` means the part of a name before its first "/". Kinds that no setting defines are not
// checked: the module that does may not be enabled.
#pragma once

#include <boost/json/value.hpp>
#include <map>
#include <set>
#include <string>

#include "core/app/config/tree.hpp"

namespace ry::app::config {

class name_check {
 public:
  // The names that these checked settings define.
  void collect(const boost::json::value& value, const boost::json::value& schema);
  // After all were collected: the names in these settings that nothing defines. `given` is where the value was set; nullptr:
  // nowhere.
  void find_faults(const boost::json::value& value, const boost::json::value& schema, const node* given, key_path path,
                   problems& out) const;

 private:
  void check(const boost::json::value& rule, const std::string& name, const node* given, const key_path& path,
             problems& out) const;

  std::map<std::string, std::set<std::string>, std::less<>> names_;  // by kind
};

// What is wrong with these words in a schema, as the end of a sentence; empty: nothing.
std::string name_rule_fault(const boost::json::value& schema);

}  // namespace ry::app::config
