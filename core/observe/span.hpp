// The data of a span of a trace.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/observe/trace.hpp"

namespace ry::observe {

enum class span_kind { internal = 1, server = 2, client = 3, producer = 4, consumer = 5 };  // as in OTLP

struct span_attribute {
  std::string_view key;  // a string literal
  std::variant<std::string, std::int64_t> value;
};

// A span as it is exported to a collector. Attributes hold names and numbers, never data from a client or peer: no
// paths, queries, headers or SQL parameters.
struct span {
  trace_id_bytes trace_id{};
  span_id_bytes span_id{};
  std::optional<span_id_bytes> parent_id;
  bool remote_parent = false;
  std::uint8_t flags = 0;
  std::string state;
  std::string name;
  span_kind kind = span_kind::internal;
  std::int64_t begun_ns = 0, ended_ns = 0;  // Unix time
  std::vector<span_attribute> attributes;
  bool failed = false;
};

}  // namespace ry::observe
