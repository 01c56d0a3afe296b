// The way out to one reader: what it has got, chunks that wait to be merged for it, and how much may be
// written before its connection must have taken what was written before. Nothing is written beyond
// that, so a slow reader is never cut; it is served from the log when it is ready again.
//
// Thread: one at a time; that of the run while it is attached to one. Lifetime: that of the stream.
#pragma once
#include <memory>
#include <ry/ry.hpp>
#include <string>

#include "stream_text.hpp"

namespace runs {

class outlet {
 public:
  enum class merging { off, on };
  // `events` counts what put() was given.
  outlet(ry::stream to, std::uint64_t next, merging how, ry::metric events)
      : to(std::move(to)), next(next), events_(events) {
    if (how == merging::on) merger_ = std::make_unique<chunk_merger>();
  }

  ry::stream to;
  std::uint64_t next;  // the first event that the reader has not got

  bool merges() const { return merger_ != nullptr; }
  // Chunks wait for flush().
  bool pending() const { return merger_ && merger_->pending(); }
  // Whole events up to the number `last`.
  ry_status put(std::string_view wire, std::uint64_t last);
  // The same bytes in a buffer that several readers share; not when it merges.
  ry_status put(const ry::buffer& shared, std::size_t size, std::uint64_t last);
  ry_status flush();
  // Nothing was written yet.
  bool is_silent() const { return silent_; }
  // Sends `event` if nothing was written yet.
  void break_silence(std::string_view event) {
    if (silent_) write(event);
  }
  // Any length, in pieces, each when there is room for it. False: the reader is gone or called off.
  ry::task<bool> put_all(std::string_view wire, std::uint64_t last);

  // What was written ends with an event.
  bool whole() const { return whole_; }
  // False: so much more would not be safe before confirm().
  bool has_room(std::size_t bytes) const { return bytes_ + bytes <= most_bytes && pieces_ < most_pieces; }
  // Half of what may be written was: time to look whether the connection keeps up.
  bool should_confirm() const { return bytes_ > most_bytes / 2 || pieces_ > most_pieces / 2; }
  // Waits until less than a quarter of the stream's bound is queued. False: the reader is gone or
  // called off.
  ry::task<bool> confirm();

 private:
  // Half of the bound that a stream's queue has by default; confirm() leaves at most a quarter queued.
  static constexpr std::size_t most_bytes = 512 * 1024, most_pieces = 512;
  ry_status write(std::string_view bytes);

  const ry::metric events_;
  std::unique_ptr<chunk_merger> merger_;
  bool whole_ = true;
  bool silent_ = true;
  std::size_t bytes_ = 0, pieces_ = 0;  // since the last confirm()
};

}  // namespace runs
