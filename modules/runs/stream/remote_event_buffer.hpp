// Event buffer for a client of a run on another node: the latest events that the executing node sent ahead of the log.
// Bounded; all other events are in the log, or soon will be. Pure.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace runs {

class remote_event_buffer {
 public:
  static constexpr std::size_t max_bytes = 128 * 1024;

  // Adds a text in wire form whose last event is `last`. Skips events that it already holds. After a gap, or without
  // room, the text replaces what is held. False: the text is not a sequence of consecutive events up to `last`; it was
  // not added.
  bool add(std::string_view wire, std::uint64_t last);

  // Events from `next` on; take() removes them. Empty if `next` is not among them.
  struct text {
    std::string wire;
    std::uint64_t last = 0;
    bool ends_run = false;
  };
  text take(std::uint64_t next);

 private:
  std::string wire_;
  std::uint64_t first_ = 0, last_ = 0;  // 0: empty
  bool ends_run_ = false;
};

}  // namespace runs
