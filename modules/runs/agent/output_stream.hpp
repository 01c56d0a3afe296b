// Sends the output of a running tool to the run's event stream. Thread: the run's executor.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <ry/ry.hpp>
#include <string>
#include <string_view>

#include "run/event_log_writer.hpp"
#include "run/live_run.hpp"

namespace runs {

// Rate limit of progress events: a burst of `burst`, then `per_second`. The MCP servers that send the reports are
// chosen by users, and each report would otherwise become an event.
class progress_rate_limiter {
 public:
  static constexpr std::int64_t burst = 100, per_second = 10;

  // Takes a permit for one report; false if the rate is exceeded.
  bool take(std::int64_t now_us) {
    if (last_us_ != 0)
      credit_us_ = std::min(burst * interval_us, credit_us_ + std::max<std::int64_t>(0, now_us - last_us_));
    last_us_ = now_us;
    if (credit_us_ < interval_us) return false;
    credit_us_ -= interval_us;
    return true;
  }
  // Time until the next permit.
  std::int64_t wait_us() const { return std::max<std::int64_t>(0, interval_us - credit_us_); }

 private:
  static constexpr std::int64_t interval_us = 1'000'000 / per_second;
  std::int64_t credit_us_ = burst * interval_us, last_us_ = 0;
};

// Sends complete characters, up to a size limit. Progress reports above the rate limit are combined into one event.
class output_stream {
 public:
  // progress: the text consists of progress reports, which are also sent as `tool_progress` events.
  enum class kind { output, progress };
  output_stream(const ry::context& ctx, event_log_writers& writers, std::shared_ptr<live_run> run, std::string id,
                kind k);
  output_stream(const output_stream&) = delete;
  ~output_stream();

  void add(std::string_view bytes);
  void end();

 private:
  struct send_timer;  // timer for the reports in pending_
  static ry::task<void> run_timer(const ry::context& ctx, std::shared_ptr<send_timer> w, std::int64_t us);
  void send_pending();
  void start_timer();
  void emit(std::string_view text);

  const ry::context& ctx_;
  event_log_writers& writers_;
  std::shared_ptr<live_run> run_;
  std::string id_, pending_;
  const kind kind_;
  std::size_t sent_ = 0;
  progress_rate_limiter rate_limiter_;
  std::shared_ptr<send_timer> timer_;
};

}  // namespace runs
