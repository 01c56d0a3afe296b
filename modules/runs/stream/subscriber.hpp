// One subscriber of a run's events: the number of its next event, the chunks to merge for it, and a write budget. When
// the budget is used up, the reader waits until its sink has sent the written bytes (backpressure), so a slow client is
// never disconnected; it is served from the log afterwards.
//
// Thread: one at a time; the run's executor while attached to a live run. Lifetime: that of the stream.
#pragma once
#include <memory>
#include <ry/ry.hpp>
#include <string>

#include "stream/event_sink.hpp"
#include "stream/stream_text.hpp"

namespace runs {

class subscriber {
 public:
  enum class merging { off, on };
  // `events` counts the events passed to put(). `to` must outlive this object.
  subscriber(event_sink& to, std::uint64_t next, merging how, ry::metric events) : to(to), next(next), events_(events) {
    if (how == merging::on) merger_ = std::make_unique<chunk_merger>();
  }

  event_sink& to;
  std::uint64_t next;  // the first event that was not sent to the client

  bool takes_buffers() const { return !merger_ && to.shares_buffers(); }
  // Whether merged chunks wait for flush().
  bool pending() const { return merger_ && merger_->pending(); }
  // Writes complete events up to the number `last`.
  ry_status put(std::string_view wire, std::uint64_t last);
  // Writes the same bytes from a buffer that several subscribers share; only if takes_buffers().
  ry_status put(const ry::buffer& shared, std::size_t size, std::uint64_t last);
  ry_status flush();
  // Whether nothing has been written yet.
  bool is_silent() const { return silent_; }
  // Pings if nothing has been written yet.
  void break_silence() {
    if (silent_) to.ping();
    silent_ = false;
  }
  // Writes text of any length in parts, each when there is room. False: the client disconnected, or the request was
  // cancelled.
  ry::task<bool> put_all(std::string_view wire, std::uint64_t last);

  // Whether the written bytes end with a complete event.
  bool whole() const { return whole_; }
  // Whether this many bytes may be written; otherwise call confirm() first.
  bool has_room(std::size_t bytes) const { return bytes_ + bytes <= max_bytes && pieces_ < max_pieces; }
  // Whether half of the write budget is used, so that the caller must check whether the connection keeps up.
  bool should_confirm() const { return bytes_ > max_bytes / 2 || pieces_ > max_pieces / 2; }
  // Waits until less than a quarter of the stream's queue limit is queued. False: the client disconnected, or the
  // request was cancelled.
  ry::task<bool> confirm();

 private:
  // Half of the default limit of a stream's queue; confirm() leaves at most a quarter queued.
  static constexpr std::size_t max_bytes = 512 * 1024, max_pieces = 512;
  ry_status write(std::string_view bytes);

  const ry::metric events_;
  std::unique_ptr<chunk_merger> merger_;
  bool whole_ = true;
  bool silent_ = true;
  std::size_t bytes_ = 0, pieces_ = 0;  // since the last confirm()
};

}  // namespace runs
