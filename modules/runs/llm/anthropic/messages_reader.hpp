// Parses the answer of the messages API: an event stream, or a JSON document instead. Sans-io.
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
  // model: as requested; recorded in the thinking blocks.
  explicit messages_reader(std::string model = {}) : model_(std::move(model)) {}
  void event(std::string_view name, std::string_view data, llm::receiver& to) override;
  void document(const boost::json::object& o, llm::receiver& to) override;
  void closed(llm::receiver& to) override;
  llm::failure refused(unsigned http_status, std::string_view body) const override;

 private:
  struct tool_block {
    std::int64_t index;
    std::string id, name, given;  // given: an input that arrived whole
    llm::argument_text arguments;
    bool open = true;
  };

  void usage(const boost::json::object& u, bool whole);
  void take(const boost::json::object& o, std::string_view data, llm::receiver& to);
  void block_start(const boost::json::object& o, llm::receiver& to);
  void block_delta(const boost::json::object& o, std::string_view data, llm::receiver& to);
  void block_stop(const boost::json::object& o, llm::receiver& to);
  tool_block* open_call(const boost::json::object& o);
  void conclude(llm::receiver& to);
  void learn(std::string_view data);
  void thought(boost::json::object block, llm::receiver& to);

  const std::string model_;
  std::vector<tool_block> calls_;  // delivered at the end, when it is known whether the last one is complete
  struct {
    std::int64_t index = -1;  // -1: none is open
    std::string text, signature;
  } thinking_;
  int learnings_ = 0;
  std::size_t argument_bytes_ = 0;  // of all calls
  std::int64_t fresh_ = 0, cache_read_ = 0, cache_written_ = 0;
  llm::delta_template text_;
};

}  // namespace anthropic
