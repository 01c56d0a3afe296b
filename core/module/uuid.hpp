// Generates UUIDv7s that increase monotonically within the process (RFC 9562, 12-bit counter below the millisecond).
#pragma once

#include <ry/abi.h>

#include <atomic>
#include <cstdint>

namespace ry::module {

class uuid7_source {
 public:
  // Throws std::runtime_error if the system has no randomness. [any]
  ry_uuid next();

 private:
  std::atomic<std::uint64_t> last_{0};  // milliseconds << 12 | counter
};

}  // namespace ry::module
