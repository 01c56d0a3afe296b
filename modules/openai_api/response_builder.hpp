// Builds the response and its stream from the events of a run. The result depends only on these events, so every replay
// has the same items, ids and sequence numbers. Pure.
#pragma once
#include <boost/json/object.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <ry/cpp/types.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "run_event.hpp"

namespace openai_api {

struct response_identity {
  ry::uuid run, thread;
  bool stored = true;
  json::object base;  // members of the response that repeat the request
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
  // Whether the first events of the run have been deleted.
  bool trimmed() const { return trimmed_; }
  // The response so far.
  json::object response() const;

 private:
  struct item {
    enum class kind { reasoning, message, function_call, mcp_call } of = kind::message;
    json::object value{};
    std::string text{};  // reasoning, message
    bool open = true;
    bool is_void = false;  // belongs to an attempt that failed; not a part of the final output
  };
  using events = std::vector<json::object>;

  void emit(events& out, json::object event);
  void emit_item(events& out, std::string_view type, std::size_t index, json::object members = {});
  void emit_lifecycle(events& out, std::string_view type);
  void begin(events& out);
  void resume(events& out);
  void on_status(const json::object& event, events& out);
  void on_answer_start(const json::object& event, events& out);
  void on_chunk(item::kind of, std::string_view text, events& out);
  void on_answer_end(const json::object& event, events& out);
  void on_tool_call(const json::object& event, events& out);
  void on_tool_result(const json::object& event, events& out);

  std::size_t add_item(item::kind of, json::object value, events& out);
  void begin_text(item::kind of, events& out);
  void close_text(std::string_view status, events& out);
  void void_attempt(events& out);
  void close_call(std::size_t index, std::string_view status, events& out);
  void finish(const run_result& result, events& out);
  json::object item_value(const item& i) const;
  json::object content_of(const item& i) const;

  const response_identity who_;
  std::vector<item> items_;
  std::map<std::string, std::size_t> calls_;  // items of calls without a result, by id of the call
  std::optional<std::size_t> text_;  // the open item with text
  std::size_t attempt_begin_ = 0;  // the first item of the current answer
  std::int64_t step_ = -1;
  std::string status_ = "in_progress";
  json::value error_ = nullptr, incomplete_ = nullptr, completed_at_ = nullptr;
  token_usage usage_;
  bool begun_ = false, ended_ = false, trimmed_ = false;
  std::uint64_t sequence_ = 0;  // of the run's event
  std::uint64_t position_ = 0;  // of the next event of the stream among those of the run's event
};

}  // namespace openai_api
