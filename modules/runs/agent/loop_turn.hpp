// The amount of work for one turn of an event loop.
#pragma once
#include <cstdint>

namespace runs {

// Bytes of text to process in one turn of an event loop (a few milliseconds); larger texts go to a blocking thread.
inline constexpr std::uint64_t max_bytes_per_loop_turn = 512u << 10;

}  // namespace runs
