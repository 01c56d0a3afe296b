// Checks settings against a JSON Schema (the subset of ry/if/registrar.h), fills in defaults, finds
// secrets. Collects every fault instead of stopping at the first.
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/app/config/tree.hpp"

namespace ry::app::config {

// The value as JSON with defaults filled in; faults go to `out` (then the result is of no use).
// `path` is where `value` stands; it is the prefix of every reported key.
boost::json::value check(const node& value, const boost::json::value& schema, key_path path,
                         problems& out);

// What is wrong with the schema itself, as one sentence; empty = usable.
std::string schema_fault(const boost::json::value& schema);

// Where the schema says "driver_of": "<extension point>", the text must name one of the drivers,
// given as pairs of point and name. `given` is where the value was set; nullptr: nowhere.
void check_drivers(const boost::json::value& value, const boost::json::value& schema,
                   const node* given, key_path path,
                   const std::vector<std::pair<std::string, std::string>>& drivers, problems& out);

// Appends "key = value" of each setting whose value equals the member "off" of its schema.
void find_disabled(const boost::json::value& value, const boost::json::value& schema, key_path path,
                   std::vector<std::string>& out);

// A copy for the eyes of people: what the schema calls secret is "********" (empty stays empty), and
// so is what stands before the '@' of an address.
boost::json::value masked(const boost::json::value& value, const boost::json::value& schema);

// The texts of all secrets in a checked value, those of addresses too, for the log's redaction.
std::vector<std::string> secrets(const boost::json::value& value, const boost::json::value& schema);

// The candidate that was probably meant by `name`; empty when none is near.
std::string nearest(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace ry::app::config
