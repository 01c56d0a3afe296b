// One model request outside of a run, with limits of time and size; returns the complete answer.
// Thread: the caller's executor.
#pragma once
#include <ry/ry.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include "models/providers.hpp"
#include "run/conversation.hpp"
#include "settings/settings.hpp"

namespace runs {

struct probe_answer {
  ry_status status = RY_UNKNOWN;
  std::int32_t finish = 0;  // RY_LLM_FINISH_*
  std::string error;  // the message, if the request failed
  std::uint32_t retry_after_s = 0;
  bool timed_out = false;

  std::string text;
  std::string reasoning;  // blocks that the next request must return: a JSON array, or empty
  bool has_reasoning = false;
  std::vector<tool_call> calls;
  std::vector<std::string> notices;
  std::size_t chunks = 0;  // of text
  token_usage usage;
  bool estimated = false;  // the provider did not report the complete usage
  // Milliseconds since the request; -1: nothing arrived.
  std::int64_t first_ms = -1, last_ms = -1, end_ms = 0;
  std::int64_t cancel_ms = -1;  // from the cancellation to the end of the answer
};

// Opens the same provider again with other settings; on failure returns an empty handle and sets `problem`. May block.
provider_set::handle open_again(const provider_set::handle& provider, const std::string& config_json,
                                std::string& problem);

enum class probe_cancel { never, at_first_chunk };

// Sends one request. Never throws for a failed request: the answer contains the error.
ry::task<void> probe(const ry::context& ctx, ry_exec* exec, provider_set::handle provider, std::string request,
                     std::uint64_t timeout_ms, probe_cancel cancel, probe_answer& out);

}  // namespace runs
