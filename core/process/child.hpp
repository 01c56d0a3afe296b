// One running child process: its pipes, its time limit and its end. Pipes and callbacks belong to one loop.
#pragma once

#include <ry/if/process.h>

#include <atomic>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "core/exec/loop.hpp"
#include "core/module/host.hpp"
#include "core/process/launch.hpp"

namespace ry::process {

class child : public std::enable_shared_from_this<child> {
 public:
  static constexpr std::size_t max_queued = 1024 * 1024;

  // `before_reap` runs once, on the loop, just before the child is reaped.
  child(ry_exec& loop, launched l, const ry_process_handler& handler, void* ctx, module::hold hold,
        std::uint64_t wall_ms, std::function<void(child&)> before_reap);
  ~child();

  // [loop]
  void start();
  // [any]
  ry_status write(const ry_host* host, std::string_view bytes, ry_done done);
  void close_stdin();
  void resume();
  void kill(int signal, int why);
  void release();
  pid_t pid() const noexcept { return pid_; }
  // For use after the loops have ended: kills the group and waits for the leader, without callbacks.
  void abandon();

 private:
  using descriptor = boost::asio::posix::basic_stream_descriptor<boost::asio::io_context::executor_type>;
  using timer =
      boost::asio::basic_waitable_timer<std::chrono::steady_clock, boost::asio::wait_traits<std::chrono::steady_clock>,
                                        boost::asio::io_context::executor_type>;
  struct output {
    std::optional<descriptor> pipe;
    decltype(ry_process_handler::on_stdout) fn = nullptr;
    const char* what = "";
    bool waiting = false, paused = false;
  };
  struct queued {
    std::string bytes;
    std::size_t written = 0;
    ry_done done{};
    module::hold hold;
    observe::trace_ref trace;
  };

  bool adopt(std::optional<descriptor>& to, unique_fd from);
  void enqueue(queued q);
  void wait_output(output& o);
  void read_output(output& o);
  void write_some();
  void written(std::size_t bytes);
  void end_input(ry_status st);
  void complete(queued& q, ry_status st);
  void leader_ended();
  void expire(std::chrono::milliseconds after, void (child::*then)());
  void kill_rest();
  void cut_pipes();
  void finish_if_ended();
  void finish();
  bool signal_group(int signal);

  ry_exec& loop_;
  const pid_t pid_;
  launched fresh_;  // descriptors until start()
  ry_process_handler handler_;
  void* ctx_;
  module::hold hold_;
  // The trace of the caller that started the child, then of the last caller that wrote to it, because the child's
  // output answers that input. A child started in advance thus joins the trace of its first input. [loop]
  observe::trace_ref trace_ = observe::current_trace();
  const std::uint64_t wall_ms_;
  std::function<void(child&)> before_reap_;

  std::optional<descriptor> watch_, in_;
  output out_, err_;
  std::deque<queued> queue_;
  bool flushing_ = false;  // write_some() is posted
  bool writing_ = false, closing_ = false, leader_gone_ = false;
  std::optional<timer> wall_, grace_;

  std::atomic<std::size_t> queued_bytes_{0};
  std::atomic<bool> input_closed_{false}, released_{false};
  std::mutex mutex_;  // serialises signals and reaping
  bool reaped_ = false;
  int why_ = 0;
};

}  // namespace ry::process
