// The in-memory event buffer of a run: sequence numbers, recent events, and which events may be delivered, are being
// written to the log, or are durable. No I/O. "Durability" in README.md explains why this is correct.
//
//  - An event is delivered only if its number is within the durable reservation. A worker that claims the run later
//    continues above the reservation, so no number is ever used for two events.
//  - Events of a step's transaction are held back until it has committed; all others can be delivered immediately.
//  - take() returns text to append to the log, in order; done() may be called out of order.
//
// Thread: the run's executor. Errors: only std::bad_alloc.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stream/event_text.hpp"

namespace runs {

class event_buffer {
 public:
  struct range {
    std::uint64_t from = 0, to = 0;  // to < from: empty
    std::string_view wire;  // valid until the next non-const call
    bool empty() const { return to < from; }
  };

  // Continues after `durable`; numbers up to `reserved` may be delivered.
  event_buffer(std::uint64_t durable, std::uint64_t reserved)
      : next_(durable + 1), reserved_(reserved), durable_(durable), taken_(durable), tail_from_(durable + 1) {}

  // Adds an event that is already durable, so that a reader that attaches immediately needs no database query.
  void seed(std::string_view wire);

  // Begins the next event; the destructor of the returned object completes it.
  event_text append(std::string_view type) { return event_text(tail_, next_++, type); }
  // Holds back all further events until release().
  void hold() {
    if (held_from_ == 0) held_from_ = next_;
  }
  void release() { held_from_ = 0; }
  // Discards the events since hold(), which were not and will not be written. Earlier events that were taken together
  // with them can be taken again. Requires that no other range is in flight.
  void drop_held();
  // Discards the last event, which is held back and was not and will not be written. Events that were taken together with it
  // can be taken again. Requires that no other range is in flight.
  void drop_last();
  std::uint64_t last() const { return next_ - 1; }
  std::uint64_t durable() const { return durable_; }
  std::uint64_t reserved() const { return reserved_; }
  // The last event that may be delivered.
  std::uint64_t deliverable() const;
  bool all_taken() const { return taken_ == last(); }
  bool all_durable() const { return durable_ == last(); }
  bool in_flight() const { return !flights_.empty(); }
  // Whether delivery waits for a reservation.
  bool stalled() const { return (held_from_ != 0 ? held_from_ - 1 : last()) > reserved_; }

  // Takes all events that were not taken yet.
  range take();
  // Takes the events that are not held back.
  range take_free();
  void done(std::uint64_t from, std::uint64_t to);
  void reserve(std::uint64_t up_to) {
    if (up_to > reserved_) reserved_ = up_to;
  }
  // The reservation that prevents delivery from stalling before the next flush; 0: the current one suffices.
  std::uint64_t wanted_reservation() const;

  // Events from `sequence` to deliverable(), if they are in memory. Empty wire and from == sequence: no new events.
  // from == 0: the caller must read the log first.
  range text_from(std::uint64_t sequence) const;
  // Allocated bytes.
  std::size_t memory() const { return tail_.capacity(); }

 private:
  std::size_t offset_of(std::uint64_t sequence) const;
  range slice(std::uint64_t from, std::uint64_t to) const;
  void forget_hints();
  // Discards the events from this number on.
  void drop_from(std::uint64_t sequence);
  void trim();

  std::uint64_t next_, reserved_, durable_, taken_, tail_from_;
  std::uint64_t held_from_ = 0;
  std::uint64_t flush_size_ = 0;  // highest number of events taken by one call so far
  std::string tail_;  // wire form of [tail_from_, next_)
  // Offsets of two events that were requested recently: one by delivery, one by the log writer.
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
