// Sends a plan to a sink chunk by chunk, like a streaming model. Thread: the executor of the call.
#pragma once

#include <ry/ext/llm_provider.h>

#include <ry/ry.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "plan.hpp"

namespace offline {

struct playback_rate {
  std::uint64_t delay_ms = 15;  // before each chunk
  std::size_t chunk_bytes = 24;  // bytes
};

class playback {
 public:
  // A status other than RY_OK: not started. *call is valid until on_end has returned.
  static ry_status start(const ry::context& host, plan p, playback_rate rate, std::size_t request_bytes, ry_exec* exec,
                         const ry_llm_sink& sink, void* ctx, void** call);
  static void cancel(void* call);

 private:
  playback(const ry::context& host, plan p, playback_rate rate, std::size_t request_bytes, ry_exec* exec,
           const ry_llm_sink& sink, void* ctx);
  static void step(void* self) noexcept;
  static void on_delay_elapsed(void* self, ry_status st, const ry_error_view*) noexcept;
  bool schedule_step();  // schedules step(); false if that failed
  void end(ry_status st);

  const ry::context& host_;
  const plan plan_;
  const std::vector<std::string_view> chunks_;
  const playback_rate rate_;
  const std::size_t request_bytes_;
  ry_exec* const exec_;
  ry_llm_sink sink_{};
  void* const ctx_;
  std::size_t next_chunk_ = 0, sent_bytes_ = 0;
  ry_op_id sleep_op_ = 0;
  bool cancelled_ = false;
};

}  // namespace offline
