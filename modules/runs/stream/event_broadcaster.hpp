// The events of a run that this node executes, and the streams that are served from memory: sends deliverable events to
// attached readers and, if there is an event bus, to other nodes.
//
// Thread: constructed on any; afterwards the executor of the run. Lifetime: that of the run.
#pragma once
#include <functional>
#include <memory>
#include <ry/ry.hpp>
#include <vector>

#include "stream/event_buffer.hpp"
#include "stream/subscriber.hpp"

namespace runs {

// One open stream that is served from memory.
struct reader {
  explicit reader(subscriber& out) : out(out) {}
  subscriber& out;
  ry::signal woken;
  // behind: the next event is not in memory, or the connection is slow.
  enum class state { attached, behind, gone, finished } at = state::attached;
};

// The live topic of a run, on which readers on other nodes receive wake-ups and events.
std::string topic_of(const ry::uuid& run);

class event_broadcaster {
 public:
  // owner: returns the object that contains this one; a posted delivery keeps it alive. durable: the last event in the
  // log. reserved: no event beyond this number may be delivered yet.
  event_broadcaster(const ry::context& ctx, ry::uuid run, ry_exec* exec,
                    std::function<std::shared_ptr<const void>()> owner, std::uint64_t durable, std::uint64_t reserved)
      : buffer(durable, reserved), ctx_(ctx), run_(run), exec_(exec), owner_(std::move(owner)), published_(durable) {}
  event_broadcaster(const event_broadcaster&) = delete;

  event_buffer buffer;

  void attach(reader& r);
  void detach(reader& r);
  // Sends all deliverable events to every reader now, and to other nodes if there is a bus.
  void deliver();
  // Calls deliver() at the end of this iteration of the event loop, so that events produced together are sent together.
  void deliver_soon();
  // Ends the delivery. finished: the terminal event was the last one; left: the node no longer executes the
  // run, and readers continue from the log.
  enum class ending { finished, left };
  void end(ending how);
  bool ended() const { return ended_; }
  // Open streams that this run serves, including slow ones that currently read from the log.
  std::size_t streams = 0;

  ry::signal log_moved;  // an event became durable, or waiters must stop: end() was called or the run is aborted
  ry::signal over;  // end() was called

 private:
  void publish_on_bus();

  const ry::context& ctx_;
  const ry::uuid run_;
  ry_exec* const exec_;
  const std::function<std::shared_ptr<const void>()> owner_;
  std::uint64_t published_;  // last event that was published on the bus or does not need to be
  std::vector<reader*> readers_;
  bool delivery_due_ = false, ended_ = false;
};

}  // namespace runs
