// One request to a language model; the answer is appended to the run's event buffer as it arrives.
// Thread: the run's executor. Lifetime: the frame that awaits it, which must outlive on_end.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <ry/ry.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "models/providers.hpp"
#include "models/sink_guards.hpp"
#include "run/conversation.hpp"
#include "run/event_log_writer.hpp"
#include "run/live_run.hpp"
#include "run_metrics.hpp"

namespace runs {

class model_call : abortable {
 public:
  // Whether clients see the answer as it arrives.
  enum class audience { clients, none };
  model_call(const ry::context& ctx, const run_metrics& metrics, sink_guards& sinks, event_log_writers& writers,
             std::shared_ptr<live_run> run, provider_set::handle provider, audience shown_to);
  model_call(const model_call&) = delete;

  ry_status start(std::string_view request_json);
  // Waits for the end of the answer; an interruption of the run closes the connection first.
  ry::task<void> finished();

  ry_status status() const { return status_; }
  token_usage usage() const { return usage_; }
  // RY_LLM_FINISH_*; 0: not reported.
  std::int32_t finish() const { return finish_; }
  std::uint32_t retry_after_s() const { return retry_after_s_; }
  // The error message for clients.
  std::string error_text(ry_status st) const;
  std::string take_text() { return std::move(text_); }
  std::vector<tool_call> take_calls() { return std::move(calls_); }
  // Blocks that the provider requires with the message in later requests: a JSON array, or empty.
  std::string take_reasoning();

 private:
  void abort() noexcept override;
  // Gives up on a driver that did not end a cancelled answer; the run continues without it.
  void abandon();
  // Updates the metrics at the end of the request, once.
  void count_metrics(ry_status st) const;
  void log_failure(const ry_error_view& err) const;
  void add(std::string_view type, std::string_view text);
  // Reports to the clients and the log that the driver skipped or changed a part of the request.
  void report_notice(std::string_view code, std::string_view message);
  // Counts received bytes of the answer. Returns false if the answer is too long; the request is then cancelled.
  bool fits(std::size_t bytes);
  // Like fits(), for the blocks that later requests return to the provider.
  bool fits_reasoning(std::size_t bytes);
  bool stop_too_long();

  const ry::context& ctx_;
  const run_metrics& metrics_;
  sink_guards& sinks_;
  std::shared_ptr<live_run> run_;
  const provider_set::handle provider_;
  event_log_writer& writer_;
  const audience shown_to_;
  void* call_ = nullptr;
  void* sink_ = nullptr;  // handle of sink_guards
  bool ended_ = false, too_long_ = false, aborted_ = false;
  std::size_t bytes_ = 0, chunks_ = 0;
  std::string text_, message_, reasoning_;
  std::vector<tool_call> calls_;
  token_usage usage_;
  ry_status status_ = RY_UNKNOWN;
  std::int32_t finish_ = 0;
  std::uint32_t retry_after_s_ = 0;
  std::int64_t started_us_ = 0;
  ry::signal done_;  // ended or aborted
  std::optional<ry::cancel_source> grace_;  // ends the wait for a cancelled answer
};

}  // namespace runs
