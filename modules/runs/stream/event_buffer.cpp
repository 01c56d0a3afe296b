#include "stream/event_buffer.hpp"

#include <algorithm>
#include <ry/cpp/memory.hpp>

namespace runs {
namespace {
// Up to this size the complete stream of a new run stays in memory, so that its readers need no database query. Beyond
// it, text is dropped as soon as it is durable.
constexpr std::size_t keep_bytes = 3 * 1024;
constexpr std::uint64_t min_window = 32;  // each unused number costs a row when another node claims the run
constexpr std::uint64_t max_window = 8192;
}  // namespace

void event_buffer::seed(std::string_view wire) {
  std::string_view rest = wire;
  if (const event_view event = next_event(rest); event.sequence != 0) tail_from_ = event.sequence;
  tail_.insert(0, wire);
  forget_hints();
}

std::uint64_t event_buffer::deliverable() const {
  const std::uint64_t end = held_from_ != 0 ? held_from_ - 1 : last();
  return std::min(end, reserved_);
}

std::size_t event_buffer::offset_of(std::uint64_t sequence) const {
  hint best{tail_from_, 0};
  for (const hint& h : hints_)
    if (h.sequence > best.sequence && h.sequence <= sequence) best = h;
  std::size_t offset = best.offset;
  if (sequence > last()) {
    offset = tail_.size();
  } else {
    for (std::uint64_t at = best.sequence; at < sequence; ++at) {
      const std::size_t end = tail_.find("\n\n", offset);
      if (end == std::string::npos) break;
      offset = end + 2;
    }
  }
  if (sequence != best.sequence) hints_[next_hint_++ % 2] = {sequence, offset};
  return offset;
}

void event_buffer::forget_hints() {
  for (hint& h : hints_) h = {};
}

event_buffer::range event_buffer::slice(std::uint64_t from, std::uint64_t to) const {
  if (to < from) return {from, to, {}};
  const std::size_t begin = offset_of(from);
  return {from, to, std::string_view(tail_).substr(begin, offset_of(to + 1) - begin)};
}

void event_buffer::drop_held() {
  if (held_from_ == 0) return;
  drop_from(held_from_);
  held_from_ = 0;
}

void event_buffer::drop_last() {
  if (held_from_ != 0 && last() >= held_from_) drop_from(last());
}

void event_buffer::drop_from(std::uint64_t sequence) {
  tail_.resize(offset_of(sequence));
  next_ = sequence;
  while (!flights_.empty() && flights_.back().to >= next_) {
    taken_ = flights_.back().from - 1;
    flights_.pop_back();
  }
  forget_hints();
}

event_buffer::range event_buffer::take() {
  const range out = slice(taken_ + 1, last());
  if (out.empty()) return out;
  flush_size_ = std::max(flush_size_, out.to - out.from + 1);
  taken_ = out.to;
  flights_.push_back({out.from, out.to, false});
  return out;
}

event_buffer::range event_buffer::take_free() {
  const std::uint64_t end = held_from_ != 0 ? held_from_ - 1 : last();
  const range out = slice(taken_ + 1, end);
  if (out.empty()) return out;
  flush_size_ = std::max(flush_size_, out.to - out.from + 1);
  taken_ = out.to;
  flights_.push_back({out.from, out.to, false});
  return out;
}

void event_buffer::done(std::uint64_t from, std::uint64_t to) {
  for (flight& f : flights_)
    if (f.from == from && f.to == to) f.done = true;
  while (!flights_.empty() && flights_.front().done) {
    durable_ = flights_.front().to;
    flights_.erase(flights_.begin());
  }
  trim();
}

std::uint64_t event_buffer::wanted_reservation() const {
  const std::uint64_t window = std::clamp(flush_size_ * 4, min_window, max_window);
  // Events that are held back wait for their checkpoint, which also extends the reservation.
  if (held_from_ != 0) return held_from_ - 1 > reserved_ ? held_from_ - 1 + window : 0;
  return last() + std::max(flush_size_ * 2, min_window / 4) > reserved_ ? last() + window : 0;
}

event_buffer::range event_buffer::text_from(std::uint64_t sequence) const {
  if (sequence < tail_from_) return {0, 0, {}};
  return slice(sequence, deliverable());
}

void event_buffer::trim() {
  if (tail_.size() <= keep_bytes) return;
  // Readers are served before the next append, so durable and deliverable events can be dropped.
  const std::uint64_t keep_from = std::min(durable_, deliverable()) + 1;
  if (keep_from <= tail_from_) return;
  const std::size_t dropped = offset_of(keep_from);
  // Dropping a small part would move much text; the rest will soon be durable and can be dropped together with it.
  if (dropped < tail_.size() / 2) return;
  tail_.erase(0, dropped);
  tail_from_ = keep_from;
  forget_hints();
  if (tail_.empty() && tail_.capacity() > keep_bytes) ry::give_back(tail_);
}

}  // namespace runs
