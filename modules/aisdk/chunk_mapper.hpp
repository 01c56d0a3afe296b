// Maps the events of runs to the UI message stream of the AI SDK, as server-sent events. Pure.
//
// A stream is one assistant message. It contains the events of one run, or of a chain of runs in which each run except
// the first continues with the outputs of the client's tools.
#pragma once
#include <boost/json/object.hpp>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace aisdk {

class chunk_mapper {
 public:
  // The part `start`.
  void begin_message(std::string_view message_id, std::string_view run_id, std::string_view thread_id);
  // The events that follow belong to this run. last: its end is the end of the message.
  void begin_run(std::string_view run_id, bool last);
  // An output that the client sent for a call of one of the previous runs.
  void add_client_output(std::string_view call_id, std::string_view content, bool is_error);
  // The object of an event, as in ry_run_event. Unknown and malformed events are ignored.
  void add_event(std::string_view event_json);
  // The end of a stream whose run has not ended: the client resumes.
  void interrupt(std::string_view message);
  // The marker that ends every stream.
  void end();

  // The server-sent events since the last call. Consecutive deltas become one.
  std::string take();

 private:
  using object = boost::json::object;
  enum class part { none, text, reasoning };
  struct call {
    bool client = false;
    std::int64_t step = 0;
  };

  void write(const object& chunk);
  void write_delta();
  void write_data(std::string_view type, object data);
  void add_text(part kind, std::string_view text);
  void close_part();
  void begin_step(const object& event);
  void reset_step();
  void finish_step();
  void add_call(const object& event);
  void add_result(const object& event);
  void add_status(const object& event);
  void fail_open_calls(std::string_view message);
  object metadata_of(const object& event) const;

  std::string wire_;
  std::string delta_;  // not yet written
  part open_ = part::none;
  std::string open_id_;
  std::string run_tag_;  // distinguishes the part ids of the runs of a chain
  std::string run_id_;
  std::uint64_t parts_ = 0;
  std::int64_t step_ = 0;  // number of the open step; 0: none
  bool step_has_parts_ = false;
  bool last_run_ = true;
  std::map<std::string, call, std::less<>> open_calls_;
};

}  // namespace aisdk
