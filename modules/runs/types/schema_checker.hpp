// Checks a value against a JSON Schema, in limited time. Pure.
#pragma once
#include <boost/json/fwd.hpp>
#include <string>
#include <vector>

#include "types/subschema.hpp"

namespace runs {

// The errors of a value, at most ten, each with the JSON pointer of the part that does not match; empty: the value is valid.
std::vector<std::string> schema_errors(const std::vector<subschema>& schemas, const boost::json::value& value);

}  // namespace runs
