// Validates settings against a JSON Schema (the subset of ry/if/registrar.h), fills in defaults, and finds secrets.
// Collects all faults instead of stopping at the first.
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/app/config/tree.hpp"

namespace ry::app::config {

// Returns the value as JSON with defaults. Faults go to `out`; the result must then not be used. `path` is the
// position of `value` and prefixes every reported key.
boost::json::value check(const node& value, const boost::json::value& schema, key_path path, problems& out);

// The fault in the schema itself, as an error message; empty if there is none.
std::string schema_fault(const boost::json::value& schema);

// Where the schema has "driver_of": "<extension point>", the string must name one of the drivers, given as pairs of
// extension point and name. `given` is where the value was set; nullptr: nowhere.
void check_drivers(const boost::json::value& value, const boost::json::value& schema, const node* given, key_path path,
                   const std::vector<std::pair<std::string, std::string>>& drivers, problems& out);

// Appends "key = value" of each setting whose value equals the "off" member of its schema.
void find_disabled(const boost::json::value& value, const boost::json::value& schema, key_path path,
                   std::vector<std::string>& out);

// Appends each path that the schema marks with "secret_file": true.
void find_secret_files(const boost::json::value& value, const boost::json::value& schema,
                       std::vector<std::string>& out);

// A copy for display: values that the schema marks as secret become "********" (an empty value stays empty), and so
// does the user information of a URL (before its '@').
boost::json::value masked(const boost::json::value& value, const boost::json::value& schema);

// All secrets in a checked value, including those in URLs, for redaction in the log.
std::vector<std::string> secrets(const boost::json::value& value, const boost::json::value& schema);

}  // namespace ry::app::config
