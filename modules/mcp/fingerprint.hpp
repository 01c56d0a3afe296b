// Fingerprints of the definitions of tools: equal for definitions that say the same, whatever the order of their members.
// Without I/O.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rpc.hpp"

namespace mcp {

// Of a value with the members of its objects in order; 32 hexadecimal digits.
std::string canonical_hash(const json::value& v);

// Hashes of the parts of a definition as tools/list gives it: title and description, parameters, result, annotations.
std::string fingerprint_of(const json::object& tool);
// The names of the parts that differ.
std::vector<std::string> changed_parts(std::string_view before, std::string_view after);

}  // namespace mcp
