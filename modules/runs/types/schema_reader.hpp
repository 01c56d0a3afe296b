// Reads a JSON Schema. Refuses unsupported keywords, references to other documents, and schemas that apply too many subschemas
// to one value. Pure.
#pragma once
#include <boost/json/fwd.hpp>
#include <string>
#include <vector>

#include "types/subschema.hpp"

namespace runs {

// The subschemas of the document, which must outlive them. Returns an error message that begins with the JSON pointer of the
// invalid part, or an empty string.
std::string read_subschemas(const boost::json::value& document, std::vector<subschema>& out);

}  // namespace runs
