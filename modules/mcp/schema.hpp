// Whether a value matches a JSON Schema, as far as a client needs to know. Without I/O.
#pragma once

#include <cstdint>
#include <string>

#include "rpc.hpp"

namespace mcp {

// What one check may cost, in units of about a nanosecond: it runs on an event loop, which waits for it.
inline constexpr std::uint64_t most_schema_work = 20'000'000;

struct schema_verdict {
  std::string mismatch;    // where the value differs and how ("/rows/0/id: is not of the type integer"); empty: nowhere
  bool gave_up = false;    // it would have cost too much, or is nested too deeply; then there is no mismatch
  std::uint64_t work = 0;  // never above most_schema_work
};

// Understood: type, enum, const, properties, required, additionalProperties
// (unless there are patternProperties), items, prefixItems, bounds of numbers, lengths and counts, allOf, anyOf, oneOf,
// not, $ref within the document. What is not understood is taken for matched, and so is what costs too
// much: schemas and values come from servers. Every keyword, entry and byte that is looked at is paid for before it is
// looked at. Nothing is ever fetched, and no regular expression is run.
schema_verdict held_against(const json::value& schema, const json::value& v);

// The mismatch alone.
std::string schema_mismatch(const json::value& schema, const json::value& v);

}  // namespace mcp
