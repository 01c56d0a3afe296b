// Event buffer for a client of a run on another node: the latest events that the executing node published before they
// were in the log. Bounded; all other events are in the log, or soon will be. No I/O.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace runs {

class remote_event_buffer {
 public:
  static constexpr std::size_t max_bytes = 128 * 1024;

  // Adds a text in wire form whose last event is `last`. Skips events that the buffer already contains. After a gap, or
  // if there is no room, the text replaces the contents. False: the text was not added, because it does not consist of
  // consecutive events up to `last`.
  bool add(std::string_view wire, std::uint64_t last);

  // The events from `next` on; take() removes them. Empty if the buffer does not contain `next`.
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
