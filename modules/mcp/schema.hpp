// Validates values against the part of JSON Schema that a client needs. Without I/O.
#pragma once

#include <cstdint>
#include <string>

#include "rpc.hpp"

namespace mcp {

// The work limit of one validation, in units of about a nanosecond; validation runs on an event loop and blocks it.
inline constexpr std::uint64_t max_schema_work = 20'000'000;

struct validation_result {
  std::string mismatch;  // where and how the value differs ("/rows/0/id: is not of the type integer"); empty: none
  bool limit_exceeded = false;  // too much work, or nested too deeply; mismatch is then empty
  std::uint64_t work = 0;  // never exceeds max_schema_work
};

// Supported keywords: type, enum, const, properties, required, additionalProperties (without patternProperties), items,
// prefixItems, limits on numbers, lengths and counts, allOf, anyOf, oneOf, not, and $ref within the document.
// Unsupported keywords count as matched, and so does a validation that exceeds the work limit, because servers supply
// both schemas and values. Work is charged before it is done, for every keyword, entry and byte. Nothing is fetched,
// and no regular expression is run.
validation_result validate(const json::value& schema, const json::value& v);

// The mismatch alone.
std::string schema_mismatch(const json::value& schema, const json::value& v);

}  // namespace mcp
