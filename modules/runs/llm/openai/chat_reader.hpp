// Parses the answer of a chat completion: an event stream or a JSON document. Sans-io.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "answer.hpp"
#include "json_text.hpp"
#include "tool_calls.hpp"

namespace openai {

class chat_reader final : public llm::answer_reader {
 public:
  // `model` is the requested model, recorded in the blocks that later requests must return with the message; empty: no
  // blocks. `keep_reasoning`: the reasoning text must also be returned with calls.
  explicit chat_reader(std::string model = {}, bool keep_reasoning = false)
      : model_(std::move(model)), keep_reasoning_(keep_reasoning) {}
  void event(std::string_view name, std::string_view data, llm::receiver& to) override;
  void document(const boost::json::object& o, llm::receiver& to) override;
  void closed(llm::receiver& to) override;
  llm::failure refused(unsigned http_status, std::string_view body) const override;

 private:
  void chunk(const boost::json::object& o, llm::receiver& to);
  void usage(const boost::json::object& u);
  void delta(const boost::json::object& d, llm::receiver& to);
  void content(const boost::json::value& v, llm::receiver& to);
  void part(const boost::json::object& p, llm::receiver& to);
  void add_text(std::string_view s, llm::receiver& to);
  void add_reasoning(std::string_view s, llm::receiver& to);
  void add_details(const boost::json::array& list, bool has_reasoning_text, llm::receiver& to);
  void count_call_bytes(std::optional<std::size_t> bytes);
  void learn_template(std::string_view data);
  void deliver_blocks(const std::vector<llm::assembled_call>& calls, llm::receiver& to) const;
  void deliver_calls(llm::receiver& to);

  const std::string model_;
  const bool keep_reasoning_;
  std::string id_;  // of the answer
  std::string reasoning_text_;
  boost::json::array details_;
  std::size_t details_bytes_ = 0;
  llm::tool_call_assembly calls_;
  bool has_refusal_ = false;  // the answer contains a refusal text
  int learn_count_ = 0;
  llm::delta_template content_template_;
};

}  // namespace openai
