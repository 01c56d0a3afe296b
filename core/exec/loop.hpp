// Event loops: one io_context per core. The ABI's ry_exec *is* a loop: everything bound to one executor runs on one
// thread, so serial execution needs neither a strand nor a lock.
#pragma once

#include <ry/abi.h>

#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <cstddef>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

// Created before the first module and destroyed after the last one.
struct ry_exec {
  explicit ry_exec(std::size_t index) : index(index) {}
  ry_exec(const ry_exec&) = delete;
  ry_exec& operator=(const ry_exec&) = delete;

  boost::asio::io_context ctx{1};
  const std::size_t index;

  // True on this loop's thread. [any]
  bool is_current() const noexcept { return current() == this; }
  // The loop that runs on the calling thread; nullptr on other threads. [any]
  static ry_exec* current() noexcept;

  // Runs f on the loop, never within this call. [any]
  template <class F>
  void post(F&& f) {
    boost::asio::post(ctx, std::forward<F>(f));
  }
};

namespace ry::exec {

using loop = ::ry_exec;

class loop_pool {
 public:
  // Starts `n` threads (0 = usable_cores()).
  explicit loop_pool(std::size_t n = 0);
  ~loop_pool();  // stop_and_join

  std::size_t size() const noexcept { return loops_.size(); }
  loop& at(std::size_t i) noexcept { return *loops_[i]; }
  // Round robin. [any]
  loop& pick() noexcept;
  // Stops the loops and joins their threads; drops pending handlers. Call once, and not from a loop.
  void stop_and_join();

 private:
  using guard = boost::asio::executor_work_guard<boost::asio::io_context::executor_type>;
  std::vector<std::unique_ptr<loop>> loops_;
  std::vector<guard> guards_;
  std::vector<std::thread> threads_;
  std::atomic<std::size_t> next_{0};
};

}  // namespace ry::exec
