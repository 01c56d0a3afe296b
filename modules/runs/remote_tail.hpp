// What the node that executes a run sent to one reader on another node, ahead of the log: the latest events,
// bounded. The log has whatever is not here, or soon will. Pure.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace runs {

class remote_tail {
 public:
  static constexpr std::size_t most_bytes = 128 * 1024;

  // A piece in wire form whose last event is `last`. Events that are here already are left out; with a gap before
  // it, or without room, it takes the place of what is here. False: it is no text of events that follow each
  // other up to `last`, and was not taken.
  bool add(std::string_view wire, std::uint64_t last);

  // Events from `next` on, which are no longer kept here. Empty when `next` is not among them.
  struct text {
    std::string wire;
    std::uint64_t last = 0;
    bool ends_run = false;
  };
  text take(std::uint64_t next);

 private:
  std::string wire_;
  std::uint64_t first_ = 0, last_ = 0;  // 0: nothing is here
  bool ends_run_ = false;
};

}  // namespace runs
