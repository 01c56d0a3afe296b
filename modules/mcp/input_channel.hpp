// Passes answers of the person to an open call, whose connection may be on another executor. Created for one call and shared by its
// caller and its client.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <ry/ry.hpp>
#include <utility>

#include "rpc.hpp"

namespace mcp {

class input_channel : public std::enable_shared_from_this<input_channel> {
 public:
  using deliver_fn = std::function<void(const json::array& answers)>;
  explicit input_channel(const ry::context& ctx) : ctx_(ctx) {}

  // Delivers the answers on the executor of the client. They are dropped if the call has ended. Any thread.
  void answer(json::array answers) {
    std::lock_guard lock(mutex_);
    if (exec_ == nullptr) return;
    ctx_.post(exec_, [self = shared_from_this(), given = std::move(answers)] {
      if (self->on_answered) self->on_answered();
      if (self->deliver_) self->deliver_(given);
    });
  }
  // Begins and ends the delivery. On the executor of the client.
  void open(ry_exec* exec, deliver_fn deliver) {
    deliver_ = std::move(deliver);
    std::lock_guard lock(mutex_);
    exec_ = exec;
  }
  void close() { deliver_ = nullptr; }

  std::function<void()> on_answered;  // on the executor of the client; set before open()

 private:
  const ry::context& ctx_;
  std::mutex mutex_;
  ry_exec* exec_ = nullptr;
  deliver_fn deliver_;
};

}  // namespace mcp
