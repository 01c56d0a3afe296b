// Spans as the body of an OTLP/HTTP request, JSON encoded (opentelemetry-proto 1.x,
// ExportTraceServiceRequest: ids in hex, enumerations as numbers, 64-bit integers as text), and what the
// collector answers.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/observe/trace.hpp"

namespace ry::observe {

// Attributes of the process, e.g. {"service.name", "runyard"}.
using otlp_resource = std::vector<std::pair<std::string, std::string>>;

// Texts pass the log's masks and are cut to max_span_text.
std::string otlp_request(const otlp_resource& resource, std::string_view version, std::span<const span> spans);
inline constexpr std::size_t max_span_text = 1024;

// Spans that a collector took and refused all the same, with its reason; 0: none. Anything that cannot be read: none.
struct otlp_refusal {
  std::uint64_t spans = 0;
  std::string why;
};
otlp_refusal otlp_refused(std::string_view answer);

}  // namespace ry::observe
