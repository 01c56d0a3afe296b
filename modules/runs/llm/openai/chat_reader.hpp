// Reads the stream of a chat completion, or the document in its place. Sans-io.
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
  // model: as it was asked for; stands in the blocks that have to come back with the message. Empty: none are given.
  // keep_thoughts: the text of reasoning has to come back with calls, too.
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
  bool declined_ = false;  // text of a refusal was seen
  int learnings_ = 0;
  llm::delta_template content_;
};

}  // namespace openai
