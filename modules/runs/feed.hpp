// The numbers and the recent text of one run's events: what may be delivered, what is on its way into the
// log, what is durable. No I/O; see "Durability" in README.md for why it holds.
//
//  - A number is delivered only below the reservation, which is durable: whoever takes the run over
//    goes on above it, so no number is ever given to two events.
//  - Events that belong to a step's transaction are held back until it has committed; everything else
//    is deliverable at once.
//  - take() hands text over to be appended, in order; done() may come out of order.
//
// Thread: that of the run's executor. Errors: none but std::bad_alloc.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "event_text.hpp"

namespace runs {

class event_feed {
 public:
  struct range {
    std::uint64_t from = 0, to = 0;  // to < from: empty
    std::string_view wire;           // valid until the next call that is not const
    bool empty() const { return to < from; }
  };

  // Goes on after `durable`; numbers up to `reserved` may be delivered.
  event_feed(std::uint64_t durable, std::uint64_t reserved)
      : next_(durable + 1), reserved_(reserved), durable_(durable), taken_(durable), tail_from_(durable + 1) {}

  // Keeps an event that is durable already, so that a reader who comes at once needs no look-up.
  void seed(std::string_view wire);

  // Begins the next event; it is complete when the returned object goes.
  event_text append(std::string_view type) { return event_text(tail_, next_++, type); }
  // From the next event on nothing is delivered until release().
  void hold() {
    if (held_from_ == 0) held_from_ = next_;
  }
  void release() { held_from_ = 0; }
  // The events since hold() were not written and never will be: they are gone, and what was taken together
  // with them is there to be taken again. Nothing else may be in flight.
  void drop_held();
  std::uint64_t last() const { return next_ - 1; }
  std::uint64_t durable() const { return durable_; }
  std::uint64_t reserved() const { return reserved_; }
  // Where delivery may go up to.
  std::uint64_t deliverable() const;
  bool all_taken() const { return taken_ == last(); }
  bool all_durable() const { return durable_ == last(); }
  bool in_flight() const { return !flights_.empty(); }
  // Delivery waits for a reservation.
  bool stalled() const { return (held_from_ != 0 ? held_from_ - 1 : last()) > reserved_; }

  // What was not yet taken, up to the end; it counts as taken from now on.
  range take();
  // The same up to what is not held back.
  range take_free();
  void done(std::uint64_t from, std::uint64_t to);
  void reserve(std::uint64_t up_to) {
    if (up_to > reserved_) reserved_ = up_to;
  }
  // How far to reserve so that delivery does not stall before the next flush; 0: far enough.
  std::uint64_t wanted_reservation() const;

  // Events from `sequence` to deliverable(), if they are still in memory. An empty wire and from ==
  // sequence: nothing new. from == 0: look into the log first.
  range text_from(std::uint64_t sequence) const;
  // Bytes held.
  std::size_t memory() const { return tail_.capacity(); }

 private:
  std::size_t offset_of(std::uint64_t sequence) const;
  range slice(std::uint64_t from, std::uint64_t to) const;
  void forget_hints();
  void trim();

  std::uint64_t next_, reserved_, durable_, taken_, tail_from_;
  std::uint64_t held_from_ = 0;
  std::uint64_t flush_size_ = 0;  // events taken at once, the most so far
  std::string tail_;              // wire form of [tail_from_, next_)
  // Where two events begin that were asked for lately: one by delivery, one by the log.
  struct hint {
    std::uint64_t sequence = 0;
    std::size_t offset = 0;
  };
  mutable hint hints_[2];
  mutable unsigned next_hint_ = 0;
  struct flight {
    std::uint64_t from, to;
    bool done;
  };
  std::vector<flight> flights_;
};

}  // namespace runs
