// Checks references between settings, also across modules: names that one setting defines and another refers to.
// Three keywords of a schema:
// "defines": {"kind": "accounts.tier", "predefined": ["free"]}   on a table: its keys, and these, are such names
// "refers_to": {"kinds": ["runs.model"], "also": ["*"]}          on a string, or on each string in a list
// "keys_refer_to": {"kinds": ["accounts.tier"]}                  on a table: on each of its keys
// A kind in `kinds` that ends with "/" matches the part of a name before its first "/". Kinds that no setting
// defines are not checked: the module that defines them may be disabled.
#pragma once

#include <boost/json/value.hpp>
#include <map>
#include <set>
#include <string>

#include "core/app/config/tree.hpp"

namespace ry::app::config {

class name_check {
 public:
  // Collects the names that these checked settings define.
  void collect(const boost::json::value& value, const boost::json::value& schema);
  // Finds names in these settings that nothing defines. Must be called after all names are collected. `given` is
  // where the value was set; nullptr: nowhere.
  void find_faults(const boost::json::value& value, const boost::json::value& schema, const node* given, key_path path,
                   problems& out) const;

 private:
  void check(const boost::json::value& rule, const std::string& name, const node* given, const key_path& path,
             problems& out) const;

  std::map<std::string, std::set<std::string>, std::less<>> names_;  // by kind
};

// The fault in these keywords of a schema, as the end of an error message; empty if there is none.
std::string name_rule_fault(const boost::json::value& schema);

}  // namespace ry::app::config
