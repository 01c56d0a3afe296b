// What a tool says while it is called, on its way to the readers of the run. On the run's executor.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "live_run.hpp"
#include "parts.hpp"

namespace runs {

// How often progress is told: `burst` reports at once, then `per_second`. Each report is an event of its own, and its source
// is any server of a user's choice.
class progress_pace {
 public:
  static constexpr std::int64_t burst = 100, per_second = 10;

  // Whether a report may be told now; it then counts.
  bool take(std::int64_t now_us) {
    if (last_us_ != 0) left_us_ = std::min(burst * interval_us, left_us_ + std::max<std::int64_t>(0, now_us - last_us_));
    last_us_ = now_us;
    if (left_us_ < interval_us) return false;
    left_us_ -= interval_us;
    return true;
  }
  // How long until the next one may be.
  std::int64_t wait_us() const { return std::max<std::int64_t>(0, interval_us - left_us_); }

 private:
  static constexpr std::int64_t interval_us = 1'000'000 / per_second;
  std::int64_t left_us_ = burst * interval_us, last_us_ = 0;
};

// Whole characters, and not without bound. Reports of progress that come faster than they are told are told together.
class output_stream {
 public:
  // progress: what comes are reports of progress of a source, which readers may also follow by themselves.
  enum class kind { output, progress };
  output_stream(parts& p, std::shared_ptr<live_run> run, std::string id, kind what);
  output_stream(const output_stream&) = delete;
  ~output_stream();

  void add(std::string_view bytes);
  void end();

 private:
  struct waiter;  // for the turn of the reports in carry_
  static ry::task<void> tell_later(parts& p, std::shared_ptr<waiter> w, std::int64_t us);
  void tell();
  void wait();
  void emit(std::string_view text);

  parts& parts_;
  std::shared_ptr<live_run> run_;
  std::string id_, carry_;
  const kind kind_;
  std::size_t sent_ = 0;
  progress_pace pace_;
  std::shared_ptr<waiter> waiter_;
};

}  // namespace runs
