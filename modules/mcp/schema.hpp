// Whether a value matches a JSON Schema, as far as a client needs to know. Without I/O.
#pragma once

#include <string>

#include "rpc.hpp"

namespace mcp {

// Where v differs from the schema and how ("/rows/0/id: is not of the type integer"); empty: nowhere.
//
// Understood: type, enum, const, properties, required, additionalProperties
// (unless there are patternProperties), items, prefixItems, bounds of numbers, lengths and counts, allOf, anyOf, oneOf,
// not, $ref within the document. What is not understood is taken for matched, and so is what costs too
// many steps: schemas come from servers. Nothing is ever fetched, and no regular expression is run.
std::string schema_mismatch(const json::value& schema, const json::value& v);

}  // namespace mcp
