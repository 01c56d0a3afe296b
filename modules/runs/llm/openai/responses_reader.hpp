// Parses an answer of the Responses API: an event stream or a JSON document. Sans-io.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "answer.hpp"
#include "reasoning_items.hpp"

namespace openai {

class responses_reader final : public llm::answer_reader {
 public:
  // `origin` is recorded in received reasoning items. `sent` are the items of the request; they are added to `refusals`
  // (may be nullptr) if the provider cannot decrypt them.
  explicit responses_reader(reasoning_origin origin, std::shared_ptr<reasoning_refusals> refusals = nullptr,
                            std::vector<reasoning_refusals::mark> sent = {})
      : origin_(std::move(origin)), refusals_(std::move(refusals)), sent_(std::move(sent)) {}
  void event(std::string_view name, std::string_view data, llm::receiver& to) override;
  void document(const boost::json::object& o, llm::receiver& to) override;
  void closed(llm::receiver& to) override;
  llm::failure refused(unsigned http_status, std::string_view body) const override;

 private:
  enum class kind { message, reasoning, call, other };
  struct part {
    std::int64_t index = 0;
    std::string text;
  };
  struct output_item {
    kind type = kind::other;
    std::optional<std::int64_t> index;
    std::string id;
    bool announced = false, done = false;
    bool incomplete = false;  // of a call: according to its provider
    bool complete_arguments = false;  // they arrived in one piece, not only as deltas
    std::vector<part> parts;  // of a message
    std::string phase;
    std::size_t reasoning_bytes = 0;  // delivered so far
    boost::json::object replayable;  // of reasoning
    std::string call_id, name, arguments, announced_arguments;  // of a call
  };
  // How an event or an item identifies an output item. Gateways omit some ids, or change them between events.
  struct reference {
    std::string_view id, call_id;
    std::optional<std::int64_t> index;
  };
  struct span {  // of the delivered text
    const output_item* of;
    std::size_t at, size;
  };
  using handler = void (responses_reader::*)(const boost::json::object&, llm::receiver&);
  static handler handler_of(std::string_view type);
  static kind kind_of(const boost::json::object& item);
  static reference reference_of(const boost::json::object& event);
  static bool is_different_item(const output_item& i, const reference& announced);
  static reference reference_of(const boost::json::object& item, std::optional<std::int64_t> index);

  void dispatch(const boost::json::object& o, std::string_view name, llm::receiver& to);
  void item_added(const boost::json::object& o, llm::receiver& to);
  void item_done(const boost::json::object& o, llm::receiver& to);
  void text_delta(const boost::json::object& o, llm::receiver& to);
  void refusal_delta(const boost::json::object& o, llm::receiver& to);
  void text_done(const boost::json::object& o, llm::receiver& to);
  void part_done(const boost::json::object& o, llm::receiver& to);
  void summary_delta(const boost::json::object& o, llm::receiver& to);
  void reasoning_delta(const boost::json::object& o, llm::receiver& to);
  void arguments_delta(const boost::json::object& o, llm::receiver& to);
  void arguments_done(const boost::json::object& o, llm::receiver& to);
  void completed(const boost::json::object& o, llm::receiver& to);
  void incomplete(const boost::json::object& o, llm::receiver& to);
  void response_failed(const boost::json::object& o, llm::receiver& to);
  void cancelled(const boost::json::object& o, llm::receiver& to);
  void error(const boost::json::object& o, llm::receiver& to);

  output_item* find_named(kind k, const reference& r);
  output_item* find_open(kind k, const reference& r);
  output_item* first_call_without_complete_arguments();
  output_item* add(kind k, const reference& r);
  output_item* item_of_delta(kind k, const boost::json::object& event);
  output_item* item_of_complete(kind k, const boost::json::object& event);
  bool is_known(kind k, const boost::json::object& item, std::optional<std::int64_t> index) const;
  static bool has_delivered(const output_item& m, std::string_view text);
  void merge_output(const boost::json::object& response, llm::receiver& to);
  void merge_item(output_item& into, const boost::json::object& item, llm::receiver& to);
  void merge_message(output_item& m, const boost::json::object& item, llm::receiver& to);
  void merge_reasoning(output_item& r, const boost::json::object& item, llm::receiver& to);
  void merge_arguments(output_item& call, const boost::json::object& from);
  void add_text(output_item& m, std::int64_t content_index, std::string_view text, llm::receiver& to);
  void complete_part(output_item& m, std::int64_t content_index, std::string_view text, llm::receiver& to);
  void add_reasoning(output_item& r, std::int64_t part_index, std::string_view text, llm::receiver& to);
  bool count_bytes(std::size_t bytes);
  void fail_too_large();
  void usage(const boost::json::object& response);
  void finish_answer(std::int32_t finish, llm::receiver& to);
  void deliver_items(llm::receiver& to);
  llm::failure with_learned_rejections(llm::failure f, const boost::json::object& body) const;
  bool learn_rejection(std::string_view code, std::string_view param, std::string_view message) const;

  const reasoning_origin origin_;
  const std::shared_ptr<reasoning_refusals> refusals_;
  const std::vector<reasoning_refusals::mark> sent_;
  std::deque<output_item> items_;  // a deque keeps the addresses stable
  std::vector<span> spans_;
  std::size_t text_bytes_ = 0, held_bytes_ = 0, calls_ = 0;
  std::pair<const output_item*, std::int64_t> last_reasoning_part_{nullptr,
                                                                   0};  // the part that delivered the latest reasoning
  bool has_refusal_ = false;
};

}  // namespace openai
