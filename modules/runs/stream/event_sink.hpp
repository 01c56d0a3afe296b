// Receives the events of one reader of a run: the connection of a client, or a follower of the service runs/1.
//
// Thread: that of the reader.
#pragma once
#include <cstdint>
#include <ry/ry.hpp>
#include <string_view>

namespace runs {

class event_sink {
 public:
  virtual ~event_sink() = default;
  // Queues complete events, or parts of a long text that ends with a complete event.
  virtual ry_status write(std::string_view wire) = 0;
  // Queues bytes that several sinks share. Only if shares_buffers().
  virtual ry_status write(const ry::buffer& shared) = 0;
  virtual bool shares_buffers() const = 0;
  // Waits until most of the queued bytes are sent. False: the reader is gone, or was cancelled.
  virtual ry::task<bool> ready() = 0;
  // Sends a ping to a reader without events; some proxies forward a response only with the first byte of its body.
  virtual void ping() = 0;
  // Ends the reader after the queued bytes; later calls have no effect. finished: it has the terminal event, or is gone.
  // draining: this node stops or replaces the module, and the reader must continue on another node or module instance.
  // deleted: the run no longer exists.
  enum class ending { finished, draining, deleted };
  virtual void close(ending how) = 0;
  virtual ry::cancel_token cancel() const = 0;
};

// The connection of a client of the stream route.
class stream_sink final : public event_sink {
 public:
  explicit stream_sink(ry::stream to) : to_(std::move(to)) {}
  ry_status write(std::string_view wire) override { return to_.write(wire); }
  ry_status write(const ry::buffer& shared) override { return to_.write(shared); }
  bool shares_buffers() const override { return true; }
  ry::task<bool> ready() override {
    const ry::result<void> done = co_await to_.ready();
    co_return static_cast<bool>(done);
  }
  void ping() override;
  void close(ending how) override;
  ry::cancel_token cancel() const override { return to_.cancel(); }
  ry::stream& raw() { return to_; }

 private:
  ry::stream to_;
};

}  // namespace runs
