// Builds a chat completion, or the chunks of its stream, from the events of a run. Pure.
#pragma once
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <common/call_states.hpp>
#include <cstdint>
#include <ry/cpp/types.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "errors.hpp"
#include "run_event.hpp"

namespace openai_api {

struct chat_identity {
  ry::uuid run;
  std::string model;
  bool include_usage = false;  // in the stream
  bool only_output = false;  // see response_identity
};

class chat_builder {
 public:
  explicit chat_builder(chat_identity who) : who_(std::move(who)) {}

  // Applies an event of the run. Appends the chunks of the stream to `out`.
  void apply(std::string_view text, std::vector<json::object>& out);
  // No other chunk follows.
  bool ended() const { return ended_; }
  // The run continues only after decisions about approvals.
  bool waits() const { return states_.waiting(); }
  // Ends the completion with an error, because its run waits.
  void refuse_wait();
  bool failed() const { return ended_ && result_.end == run_end::failed; }
  // The error of a run that failed.
  api_error failure() const;
  // The complete response. Requires ended().
  json::object completion() const;

 private:
  using chunks = std::vector<json::object>;

  json::object envelope(std::string_view object) const;
  void emit(chunks& out, json::object delta, json::value finish_reason = nullptr);
  void begin(chunks& out);
  void on_text(std::string_view text, chunks& out);
  void on_tool_call(const json::object& event, chunks& out);
  void finish(run_result result, chunks& out);
  std::string_view finish_reason() const;
  json::object usage() const;

  const chat_identity who_;
  // Text of the finished answers, and of the current answer, which is discarded if its attempt fails.
  std::string text_, answer_, reasoning_, answer_reasoning_;
  bool separate_ = false;  // the current answer is not a continuation of the text before it
  json::array calls_;
  tool_calls::call_states states_;  // of the server's tools
  token_usage usage_;
  run_result result_;
  bool begun_ = false, ended_ = false;
};

}  // namespace openai_api
