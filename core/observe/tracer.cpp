#include "core/observe/tracer.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <random>

namespace ry::observe {

namespace {

// Ids need to be unique, not secret.
std::uint64_t random_bits() noexcept {
  thread_local std::mt19937_64 source = [] {
    std::random_device device;
    std::seed_seq seed{device(), device(), device(), device()};
    return std::mt19937_64(seed);
  }();
  for (;;)
    if (const auto bits = source()) return bits;
}

constexpr std::uint64_t all_63 = ~std::uint64_t{0} >> 1;

}  // namespace

std::int64_t unix_ns() noexcept {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

tracer::tracer(trace_settings settings)
    : settings_(settings),
      threshold_(settings.ratio >= 1   ? all_63
                 : settings.ratio <= 0 ? 0
                                       : static_cast<std::uint64_t>(settings.ratio * static_cast<double>(all_63))) {}

bool tracer::sampled(const trace_id_bytes& id) const noexcept {
  if (threshold_ == all_63) return true;
  std::uint64_t low = 0;
  for (std::size_t i = 8; i < id.size(); ++i) low = low << 8 | id[i];
  return (low & all_63) < threshold_;
}

span_id_bytes tracer::new_span_id() noexcept {
  const auto bits = random_bits();
  span_id_bytes out;
  std::memcpy(out.data(), &bits, sizeof bits);
  return out;
}

trace_ref tracer::begin(const std::optional<trace_parent>& parent, std::string_view state) {
  const bool on = settings_.record == recording::on;
  if (!parent && !on) return {};
  auto node = boost::intrusive_ptr<ry_trace>(new ry_trace);
  if (parent) {
    node->trace_id = parent->trace_id;
    node->flags = parent->flags;
    node->state = state;
    node->remote_parent = true;
    if (on) {
      node->parent_id = parent->span_id;
      node->span_id = new_span_id();
    } else {
      node->span_id = parent->span_id;  // a span that is not exported must not be named as a parent
    }
  } else {
    const std::uint64_t bits[] = {random_bits(), random_bits()};
    std::memcpy(node->trace_id.data(), bits, sizeof bits);
    node->span_id = new_span_id();
    node->flags = sampled(node->trace_id) ? trace_sampled | trace_random : trace_random;
  }
  if (on) node->home = this;
  return node;
}

void tracer::record(span&& s) noexcept {
  bool wake = false;
  {
    std::lock_guard lock(mutex_);
    ++counts_.recorded;
    if (waiting_.size() >= settings_.max_queue) {
      ++counts_.dropped;
      return;
    }
    try {
      waiting_.push_back(std::move(s));
    } catch (const std::bad_alloc&) {
      ++counts_.dropped;
      return;
    }
    if (waiting_.size() >= settings_.batch && !woken_) wake = woken_ = true;
  }
  if (wake && wake_) wake_();
}

std::vector<span> tracer::take(std::size_t most) {
  std::vector<span> out;
  std::lock_guard lock(mutex_);
  woken_ = false;
  if (waiting_.size() <= most) {
    out.swap(waiting_);
  } else {
    const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(most);
    out.assign(std::make_move_iterator(waiting_.begin()), std::make_move_iterator(end));
    waiting_.erase(waiting_.begin(), end);
  }
  return out;
}

void tracer::note_exported(std::size_t n) {
  std::lock_guard lock(mutex_);
  counts_.exported += n;
}
void tracer::note_failed(std::size_t n) {
  std::lock_guard lock(mutex_);
  counts_.failed += n;
}
void tracer::note_failed_request() {
  std::lock_guard lock(mutex_);
  ++counts_.failed_requests;
}

tracer::counts tracer::stats() const {
  std::lock_guard lock(mutex_);
  auto out = counts_;
  out.waiting = waiting_.size();
  return out;
}

}  // namespace ry::observe
