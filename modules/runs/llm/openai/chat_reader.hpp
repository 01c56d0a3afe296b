// Parses the answer of a chat completion: an event stream, or a JSON document instead. Sans-io.
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
  // model: as requested; recorded in the blocks that later requests must return with the message. Empty: no blocks.
  // keep_thoughts: reasoning text must also be returned with calls.
  explicit chat_reader(std::string model = {}, bool keep_thoughts = false)
      : model_(std::move(model)), keep_thoughts_(keep_thoughts) {}
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
  void say(std::string_view s, llm::receiver& to);
  void think(std::string_view s, llm::receiver& to);
  void add_details(const boost::json::array& list, bool thought_elsewhere, llm::receiver& to);
  void took_calls(std::optional<std::size_t> bytes);
  void learn(std::string_view data);
  void give_blocks(const std::vector<llm::assembled_call>& calls, llm::receiver& to) const;
  void conclude(llm::receiver& to);

  const std::string model_;
  const bool keep_thoughts_;
  std::string id_;  // of the answer
  std::string thought_;
  boost::json::array details_;
  std::size_t details_bytes_ = 0;
  llm::tool_call_assembly calls_;
  bool declined_ = false;  // the answer contains a refusal text
  int learnings_ = 0;
  llm::delta_template content_;
};

}  // namespace openai
