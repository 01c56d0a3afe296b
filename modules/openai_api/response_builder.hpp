// Builds the response and its stream from the events of a run. The result depends only on these events, so every replay
// has the same items, ids and sequence numbers. Pure.
//
// A run that waits for approvals ends the response; the answers to the approval requests begin another response, which
// continues the run. The events of a run therefore belong to a chain of responses. Each one ends at the first event after
// which the run waits, and all approvals that the client answered to begin it are decided.
#pragma once
#include <boost/json/object.hpp>
#include <common/call_states.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <ry/cpp/types.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "run_event.hpp"

namespace openai_api {

struct response_identity {
  ry::uuid run, thread;
  bool stored = true;
  json::object base;  // members of the response that repeat the request
  std::optional<ry::uuid> id{};  // of a response that continues the run; nullopt: that of the run
  // The approvals that the client answered to begin each response of the chain except the first, up to this response.
  std::vector<std::set<std::string>> answered{};
  bool ends_at_waits = true;  // false: the response contains the whole run
  // The run has a schema: answers that are not its validated output are not a part of the response.
  bool only_output = false;
};

class response_builder {
 public:
  // The number of an event of the stream is (number of the run's event - 1) * stride + its position among the events
  // that the run's event becomes. It is therefore the same in every replay, even if a crash has removed events in
  // between.
  // Only the terminal event may become more than `stride` events, because no other event follows it.
  static constexpr std::uint64_t stride = 16;

  explicit response_builder(response_identity who) : who_(std::move(who)) {}

  // Applies an event of the run. Appends the events of the stream to `out`.
  void apply(std::uint64_t sequence, std::string_view text, std::vector<json::object>& out);
  // No other event follows.
  bool ended() const { return ended_; }
  // The run continues only after decisions about approvals.
  bool waits() const { return states_.waiting(); }
  // Ends a response that cannot be continued, because its run waits. Appends the events of the stream to `out`.
  void refuse_wait(std::vector<json::object>& out);
  // Whether the first events of the run have been deleted.
  bool trimmed() const { return trimmed_; }
  // The response so far.
  json::object response() const;

 private:
  struct item {
    enum class kind { reasoning, message, function_call, mcp_call, approval_request } of = kind::message;
    json::object value{};
    std::string text{};  // reasoning, message
    bool open = true;
    bool is_void = false;  // belongs to an attempt that failed; not a part of the final output
  };
  struct approval {
    json::object call{};  // the event that requested it
    bool resolved = false, approved = false;
    bool listed = false;  // this response contains the request
    bool called = false;  // this response contains the call
    bool finished = false;  // the model has the result
  };
  using events = std::vector<json::object>;

  void emit(events& out, json::object event);
  void emit_item(events& out, std::string_view type, std::size_t index, json::object members = {});
  void emit_lifecycle(events& out, std::string_view type);
  void emit_done(json::object item, std::size_t index, events& out);
  void begin(events& out);
  void resume(events& out);
  void on_status(const json::object& event, events& out);
  void on_answer_start(const json::object& event, events& out);
  void on_chunk(item::kind of, std::string_view text, events& out);
  void on_answer_end(const json::object& event, events& out);
  void on_event(std::string_view type, const json::object& event, events& out);
  void on_tool_call(const json::object& event, events& out);
  void on_results_requested(events& out);
  void on_approval_requested(const json::object& event, events& out);
  void on_approval_resolved(const json::object& event, events& out);
  void on_tool_result(const json::object& event, events& out);

  std::size_t add_item(item::kind of, json::object value, events& out);
  void begin_text(item::kind of, events& out);
  void close_text(std::string_view status, events& out);
  void void_attempt(events& out);
  void close_call(std::size_t index, std::string_view status, events& out);
  void void_call(std::size_t index, events& out);
  void add_call(const json::object& event, std::string_view approval_id, events& out);
  void add_function_call(const json::object& event, std::uint64_t sequence, events& out);
  void list_approval(std::string_view id, approval& a, events& out);
  bool is_earlier() const { return part_ < who_.answered.size(); }
  bool ends_here() const;
  void end_part(events& out);
  void begin_next_part();
  void finish(const run_result& result, events& out);
  json::object item_value(const item& i) const;
  json::object content_of(const item& i) const;

  const response_identity who_;
  std::vector<item> items_;
  std::map<std::string, std::size_t> calls_;  // items of calls without a result, by id of the call
  // Calls of the client's tools, with the number of their event. The client can answer them only when the run has ended.
  std::vector<std::pair<std::uint64_t, json::object>> client_calls_;
  std::map<std::string, approval> approvals_;  // in the order of their creation: UUIDv7
  tool_calls::call_states states_;
  std::size_t part_ = 0;  // position of the current event's response in the chain
  std::optional<std::size_t> text_;  // the open item with text
  std::size_t attempt_begin_ = 0;  // the first item of the current answer
  std::int64_t step_ = -1;
  std::string status_ = "in_progress";
  json::value error_ = nullptr, incomplete_ = nullptr, completed_at_ = nullptr;
  token_usage usage_;
  bool has_usage_ = false;
  bool begun_ = false, ended_ = false, trimmed_ = false;
  std::uint64_t sequence_ = 0;  // of the run's event
  std::uint64_t position_ = 0;  // of the next event of the stream among those of the run's event
};

}  // namespace openai_api
