// Cooperative cancellation: a source cancels work, tokens observe it, callbacks react to it.
//
// A token is cheap to copy and may be empty (never cancelled). cancel() may be called on any thread. A callback runs
// once, on the cancelling thread, or immediately on the registering thread if the source is already cancelled. It must
// be quick and must not resume a coroutine. After remove() or the destructor of cancel_callback has returned, the
// callback neither runs nor will run, unless remove() was called from inside it.
#pragma once

#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <memory>
#include <mutex>

#include <ry/cpp/types.hpp>

namespace ry {

class cancel_token;

namespace detail {

struct cancel_node {
  void (*fire)(cancel_node* self, std::int32_t why) noexcept = nullptr;
  cancel_node* next = nullptr;
  cancel_node* prev = nullptr;
  bool linked = false;
};

class cancel_state {
 public:
  cancel_state() { parent_node_.node.fire = &parent_fired; }
  cancel_state(const cancel_state&) = delete;
  cancel_state& operator=(const cancel_state&) = delete;
  ~cancel_state() {
    if (parent_) parent_->remove(parent_node_.node);
  }

  // Call once, before this state is shared: it is cancelled when `parent` is.
  void follow(std::shared_ptr<cancel_state> parent) {
    parent_ = std::move(parent);
    parent_node_.owner = this;
    if (parent_) parent_->add(parent_node_.node);
  }

  std::int32_t why() const noexcept { return why_.load(std::memory_order_acquire); }

  void cancel(std::int32_t why) noexcept {
    std::unique_lock lock(mutex_);
    if (why_.load(std::memory_order_relaxed) != 0) return;
    why_.store(why == 0 ? RY_REASON_SHUTDOWN : why, std::memory_order_release);
    thread_ = &errno;
    while (head_ != nullptr) {
      cancel_node* node = head_;
      unlink(*node);
      running_ = node;
      lock.unlock();
      node->fire(node, this->why());
      lock.lock();
      running_ = nullptr;
      idle_.notify_all();
    }
    thread_ = nullptr;
  }

  void add(cancel_node& node) noexcept {
    {
      std::lock_guard lock(mutex_);
      if (why_.load(std::memory_order_relaxed) == 0) {
        node.next = head_;
        node.prev = nullptr;
        if (head_ != nullptr) head_->prev = &node;
        head_ = &node;
        node.linked = true;
        return;
      }
    }
    node.fire(&node, why());
  }

  void remove(cancel_node& node) noexcept {
    std::unique_lock lock(mutex_);
    if (node.linked) {
      unlink(node);
      return;
    }
    // The address of errno identifies a thread without the cost of <thread>.
    if (running_ == &node && thread_ == &errno) return;
    while (running_ == &node) idle_.wait(lock);
  }

 private:
  struct parent_link {
    cancel_node node;  // first: the callback gets its address
    cancel_state* owner = nullptr;
  };
  static void parent_fired(cancel_node* node, std::int32_t why) noexcept {
    reinterpret_cast<parent_link*>(node)->owner->cancel(why);
  }
  void unlink(cancel_node& node) noexcept {
    (node.prev != nullptr ? node.prev->next : head_) = node.next;
    if (node.next != nullptr) node.next->prev = node.prev;
    node.linked = false;
  }

  std::mutex mutex_;
  std::condition_variable idle_;
  std::atomic<std::int32_t> why_{0};
  cancel_node* head_ = nullptr;
  cancel_node* running_ = nullptr;
  const void* thread_ = nullptr;
  std::shared_ptr<cancel_state> parent_;
  parent_link parent_node_;
};

}  // namespace detail

class cancel_token {
 public:
  cancel_token() = default;
  explicit cancel_token(std::shared_ptr<detail::cancel_state> state) noexcept : state_(std::move(state)) {}
  bool cancelled() const noexcept { return state_ && state_->why() != 0; }
  std::int32_t why() const noexcept { return state_ ? state_->why() : 0; }  // RY_REASON_*; 0: not cancelled
  explicit operator bool() const noexcept { return state_ != nullptr; }
  // Throws RY_CANCELLED if cancelled: for long computations between two awaits.
  void check() const {
    if (cancelled()) throw error(RY_CANCELLED, "cancelled", "The work was cancelled");
  }
  const std::shared_ptr<detail::cancel_state>& state() const noexcept { return state_; }

 private:
  std::shared_ptr<detail::cancel_state> state_;
};

class cancel_source {
 public:
  cancel_source() : state_(std::make_shared<detail::cancel_state>()) {}
  // Also cancelled when `parent` is.
  explicit cancel_source(const cancel_token& parent) : cancel_source() { state_->follow(parent.state()); }
  void cancel(std::int32_t why = RY_REASON_USER) const noexcept { state_->cancel(why); }
  bool cancelled() const noexcept { return state_->why() != 0; }
  cancel_token token() const noexcept { return cancel_token(state_); }

 private:
  std::shared_ptr<detail::cancel_state> state_;
};

// Calls f(why) when the token is cancelled, during the lifetime of this object.
template <class F>
class cancel_callback : detail::cancel_node {
 public:
  cancel_callback(cancel_token token, F f) : token_(std::move(token)), f_(std::move(f)) {
    fire = [](cancel_node* node, std::int32_t why) noexcept { static_cast<cancel_callback*>(node)->f_(why); };
    if (token_) token_.state()->add(*this);
  }
  cancel_callback(const cancel_callback&) = delete;
  cancel_callback& operator=(const cancel_callback&) = delete;
  ~cancel_callback() {
    if (token_) token_.state()->remove(*this);
  }

 private:
  cancel_token token_;
  F f_;
};

}  // namespace ry
