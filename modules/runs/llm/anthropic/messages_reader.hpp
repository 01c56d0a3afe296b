// Parses an answer of the Messages API: an event stream or a JSON document. Sans-io.
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "answer.hpp"
#include "json_text.hpp"
#include "tool_calls.hpp"

namespace anthropic {

class messages_reader final : public llm::answer_reader {
 public:
  // `model` is the requested model; it is recorded in the thinking blocks.
  explicit messages_reader(std::string model = {}) : model_(std::move(model)) {}
  void event(std::string_view name, std::string_view data, llm::receiver& to) override;
  void document(const boost::json::object& o, llm::receiver& to) override;
  void closed(llm::receiver& to) override;
  llm::failure refused(unsigned http_status, std::string_view body) const override;

 private:
  struct tool_block {
    std::int64_t index;
    std::string id, name, start_input;  // start_input: an input that arrived complete, in the start event
    llm::argument_accumulator arguments;
    bool open = true;
  };

  void usage(const boost::json::object& u, bool is_final);
  void dispatch(const boost::json::object& o, std::string_view data, llm::receiver& to);
  void block_start(const boost::json::object& o, llm::receiver& to);
  void block_delta(const boost::json::object& o, std::string_view data, llm::receiver& to);
  void block_stop(const boost::json::object& o, llm::receiver& to);
  tool_block* open_call(const boost::json::object& o);
  void deliver_calls(llm::receiver& to);
  void learn_template(std::string_view data);
  void deliver_thinking_block(boost::json::object block, llm::receiver& to);

  const std::string model_;
  std::vector<tool_block> calls_;  // delivered at the end, when it is certain whether the last one is complete
  struct {
    std::int64_t index = -1;  // -1: no thinking block is open
    std::string text, signature;
  } thinking_;
  int learn_count_ = 0;
  std::size_t argument_bytes_ = 0;  // of all calls
  std::int64_t uncached_input_ = 0, cache_read_ = 0, cache_written_ = 0;
  llm::delta_template text_template_;
};

}  // namespace anthropic
