// Fingerprints of tool definitions: equal for definitions with the same content, regardless of member order.
// Without I/O.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rpc.hpp"

namespace mcp {

// Hash of a value with the members of its objects sorted; 32 hexadecimal digits.
std::string canonical_hash(const json::value& v);

// Hashes of the parts of a definition in tools/list: title and description, parameters, result, annotations.
std::string fingerprint_of(const json::object& tool);
// The names of the parts in which two fingerprints differ.
std::vector<std::string> changed_parts(std::string_view before, std::string_view after);

}  // namespace mcp
