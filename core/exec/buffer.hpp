// Immutable reference-counted bytes: many streams share one copy of an event.
#pragma once

#include <ry/abi.h>

#include <atomic>
#include <string>
#include <string_view>
#include <utility>

// Reference-counted; starts with one reference. [any]
struct ry_buffer {
  explicit ry_buffer(std::string_view bytes) : bytes(bytes) {}
  const std::string bytes;

  void add_ref() noexcept { refs_.fetch_add(1, std::memory_order_relaxed); }
  void release() noexcept {
    if (refs_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

 private:
  ~ry_buffer() = default;
  std::atomic<std::uint32_t> refs_{1};
};

namespace ry::exec {

// Owns one reference to a buffer.
class buffer_ref {
 public:
  buffer_ref() = default;
  explicit buffer_ref(std::string_view bytes) : buffer_(new ry_buffer(bytes)) {}
  // Adds a reference to a borrowed buffer; `buffer` may be null.
  static buffer_ref share(ry_buffer* buffer) noexcept {
    buffer_ref r;
    if (buffer) buffer->add_ref();
    r.buffer_ = buffer;
    return r;
  }
  buffer_ref(const buffer_ref& o) noexcept : buffer_(o.buffer_) {
    if (buffer_) buffer_->add_ref();
  }
  buffer_ref(buffer_ref&& o) noexcept : buffer_(std::exchange(o.buffer_, nullptr)) {}
  buffer_ref& operator=(buffer_ref o) noexcept {
    std::swap(buffer_, o.buffer_);
    return *this;
  }
  ~buffer_ref() {
    if (buffer_) buffer_->release();
  }
  ry_buffer* get() const noexcept { return buffer_; }
  std::string_view view() const noexcept { return buffer_ ? std::string_view(buffer_->bytes) : std::string_view(); }
  // Transfers the reference to the caller.
  ry_buffer* take() noexcept { return std::exchange(buffer_, nullptr); }

 private:
  ry_buffer* buffer_ = nullptr;
};

}  // namespace ry::exec
