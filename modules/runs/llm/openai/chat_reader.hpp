// Reads the stream of a chat completion. Sans-io.
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "answer.hpp"
#include "json_text.hpp"

namespace openai {

class chat_reader final : public llm::answer_reader {
 public:
  // keep_for: the model whose reasoning is to come back with the message; empty: none.
  explicit chat_reader(std::string keep_for = {}) : keep_for_(std::move(keep_for)) {}
  void event(std::string_view name, std::string_view data, llm::receiver& to) override;
  void closed(llm::receiver& to) override;
  llm::failure refused(unsigned http_status, std::string_view body) const override;

 private:
  struct call {
    std::int64_t index;
    std::string id, name, arguments;
  };

  void chunk(const boost::json::object& o, std::string_view data, llm::receiver& to);
  void usage(const boost::json::object& u);
  void delta(const boost::json::object& d, llm::receiver& to);
  void tool_delta(const boost::json::value& v);
  void learn(std::string_view data);
  void conclude(llm::receiver& to);

  const std::string keep_for_;
  std::string thought_;
  std::vector<call> calls_;
  bool finished_ = false;  // a finish_reason was seen
  int learnings_ = 0;
  llm::delta_template content_;
};

}  // namespace openai
