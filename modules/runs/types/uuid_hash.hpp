// The hash of ids as keys of unordered containers.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ry/ry.hpp>

namespace runs {

struct uuid_hash {
  std::size_t operator()(const ry::uuid& u) const noexcept {
    std::uint64_t low;
    std::memcpy(&low, u.bytes + 8, sizeof low);  // the random half of a UUIDv7
    return static_cast<std::size_t>(low);
  }
};

}  // namespace runs
