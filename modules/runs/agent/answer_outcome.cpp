#include "agent/answer_outcome.hpp"

#include "ry/ext/llm_provider.h"

namespace runs {

std::string_view finish_name(std::int32_t finish, bool has_calls) {
  switch (finish) {
    case RY_LLM_FINISH_LENGTH:
      return "length";
    case RY_LLM_FINISH_FILTER:
      return "content_filter";
    case RY_LLM_FINISH_REFUSAL:
      return "refusal";
    case RY_LLM_FINISH_PAUSE:
      return has_calls ? "tool_calls" : "pause";
    case RY_LLM_FINISH_ERROR:
      return "error";
    default:
      return has_calls ? "tool_calls" : "stop";
  }
}

std::int32_t status_of_answer(std::int32_t finish, bool has_calls) {
  if (finish == RY_LLM_FINISH_ERROR) return RY_UNAVAILABLE;
  if (finish == RY_LLM_FINISH_TOOL_CALLS && !has_calls) return RY_DATA_LOSS;
  return RY_OK;
}

outcome judge_answer(const answer_state& state) {
  if (state.finish == RY_LLM_FINISH_FILTER) return outcome::filtered;
  if (state.finish == RY_LLM_FINISH_REFUSAL) return outcome::refused;
  if (state.has_calls) return outcome::calls;
  if (state.has_text && state.finish == RY_LLM_FINISH_LENGTH) return outcome::truncated;
  if (state.has_text && state.finish == RY_LLM_FINISH_PAUSE) return outcome::paused;
  if (state.has_text) return outcome::complete;
  // The model adds nothing to its earlier text, so that text is the answer.
  const bool ended_normally = state.finish != RY_LLM_FINISH_LENGTH && state.finish != RY_LLM_FINISH_PAUSE;
  return state.continues && ended_normally ? outcome::complete : outcome::empty;
}

bool is_charged(outcome result, bool has_text) {
  switch (result) {
    case outcome::empty:
      return false;
    case outcome::filtered:
    case outcome::refused:
      return has_text;
    default:
      return true;
  }
}

}  // namespace runs
