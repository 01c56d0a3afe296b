// Encodes spans as the body of an OTLP/HTTP request in JSON (opentelemetry-proto 1.x, ExportTraceServiceRequest: ids
// in hex, enumerations as numbers, 64-bit integers as strings), and reads the collector's response.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/observe/span.hpp"

namespace ry::observe {

// Attributes of the process, e.g. {"service.name", "runyard"}.
using otlp_resource = std::vector<std::pair<std::string, std::string>>;

// Text values are masked like log lines and truncated to max_span_text.
std::string otlp_request(const otlp_resource& resource, std::string_view version, std::span<const span> spans);
inline constexpr std::size_t max_span_text = 1024;

// The number of spans that a collector rejected in a successful response (partial success), with its reason. A body
// that cannot be read counts as 0.
struct otlp_refusal {
  std::uint64_t spans = 0;
  std::string why;
};
otlp_refusal otlp_refused(std::string_view answer);

}  // namespace ry::observe
