#include "history.hpp"

#include <algorithm>
#include <boost/json/array.hpp>
#include <cstddef>
#include <map>
#include <set>
#include <utility>

#include "json/exact.hpp"

namespace llm {

namespace json = boost::json;

namespace {

constexpr std::string_view interrupted_result = "The call was interrupted and has no result.";
constexpr std::string_view no_output = "(no output)";
constexpr std::string_view continue_prompt = "Continue.";
constexpr std::string_view began_earlier = "(The conversation began earlier.)";

// An image of the request: its content part, and the result of the check.
struct found_image {
  const json::object* part = nullptr;
  bool recent = false;  // the model has not answered since
  checked_image checked;
};
using image_map = std::map<const json::object*, found_image*>;

std::vector<found_image> check_images(const json::array& messages, const image_limits& limits) {
  std::size_t last_answer = 0;
  for (std::size_t i = 0; i < messages.size(); ++i)
    if (text_at(messages[i].get_object(), "role") == "assistant") last_answer = i;
  std::vector<found_image> out;
  for (std::size_t i = 0; i < messages.size(); ++i)
    for (const auto* part : content_images(messages[i].get_object()))
      out.push_back({part, i >= last_answer, check_image(text_at(*part, "data"), limits)});
  const auto usable_count = [&out] {
    return static_cast<std::size_t>(
        std::count_if(out.begin(), out.end(), [](const found_image& f) { return f.checked.problem.empty(); }));
  };
  if (limits.many > 0 && usable_count() > limits.many)
    for (auto& f : out)
      if (f.checked.problem.empty() && std::max(f.checked.width, f.checked.height) > limits.side_of_many)
        f.checked.problem = "has " + std::to_string(f.checked.width) + " x " + std::to_string(f.checked.height) +
                            " pixels, above the limit of " + std::to_string(limits.side_of_many) +
                            " pixels for a side in requests with more than " + std::to_string(limits.many) + " images";
  std::size_t count = 0, bytes = 0;
  for (auto f = out.rbegin(); f != out.rend(); ++f) {  // keeps the latest
    if (!f->checked.problem.empty()) continue;
    ++count;
    bytes += f->checked.data.size();
    if ((limits.count > 0 && count > limits.count) ||
        (limits.total_encoded_bytes > 0 && bytes > limits.total_encoded_bytes))
      f->checked.problem = "exceeds the limits for the images of one request";
  }
  return out;
}

class history_reader {
 public:
  history_reader(const json::object& request, const history_rules& rules, tool_set& tools, std::vector<notice>& notices)
      : messages_(*array_at(request, "messages")),
        ids_(rules.ids),
        tools_(tools),
        notices_(notices),
        found_(check_images(messages_, rules.images)) {
    for (auto& f : found_) images_[f.part] = &f;
  }

  std::vector<turn> read() {
    for (const auto& m : messages_) {
      const auto& message = m.get_object();
      const auto role = text_at(message, "role");
      if (role == "user")
        user(message);
      else if (role == "assistant")
        assistant(message);
      else
        result(message);
    }
    return with_valid_order();
  }

 private:
  struct content {
    std::string text;
    std::vector<shown_image> images;
  };

  // The text, and the images that the provider accepts. Every other image is replaced with a text.
  content content_of(const json::object& message) {
    content out{content_text(message), {}};
    if (is_blank(out.text)) out.text.clear();
    for (const auto* part : content_images(message)) {
      found_image& f = *images_.at(part);
      if (f.checked.problem.empty()) {
        out.images.push_back({f.checked.media_type, std::move(f.checked.data)});
        continue;
      }
      const std::string notice = "An image was omitted: it " + f.checked.problem + ".";
      out.text.append(out.text.empty() ? "[" : "\n[").append(notice).append("]");
      if (f.recent) notices_.push_back({"image_skipped", notice});
    }
    return out;
  }

  void user(const json::object& message) {
    auto c = content_of(message);
    if (c.text.empty() && c.images.empty()) return;
    turn t;
    t.text = std::move(c.text);
    t.images = std::move(c.images);
    turns_.push_back(std::move(t));
  }

  void assistant(const json::object& message) {
    turn t;
    t.role = turn::speaker::assistant;
    t.text = content_text(message);
    if (is_blank(t.text)) t.text.clear();
    if (const auto* list = array_at(message, "tool_calls"))
      for (const auto& c : *list) {
        if (!c.is_object()) throw bad_request("an element of \"tool_calls\" is not an object");
        t.calls.push_back(call(c.get_object()));
      }
    if (t.text.empty() && t.calls.empty()) return;  // includes answers that consist of reasoning only
    if (const auto* list = array_at(message, "reasoning"))
      for (const auto& r : *list)
        if (r.is_object()) t.reasoning.push_back(&r.get_object());
    turns_.push_back(std::move(t));
  }

  past_call call(const json::object& o) {
    past_call out;
    out.stored_id = text_at(o, "id");
    out.id = ids_.next(out.stored_id);
    out.name = tools_.wire_name(text_at(o, "name"));
    // Providers accept only objects, so malformed arguments cannot be returned.
    const auto* arguments = o.if_contains("arguments");
    if (arguments && arguments->is_object()) {
      out.arguments = arguments->get_object();
    } else if (arguments && arguments->is_string()) {
      constexpr std::size_t max_depth = 64;
      boost::system::error_code ec;
      json::value v = module_json::parse_exactly(arguments->get_string(), max_depth, ec);
      if (!ec && v.is_object()) out.arguments = std::move(v.get_object());
    }
    out.arguments = tools_.wire_arguments(text_at(o, "name"), std::move(out.arguments));
    out.result = {std::string(interrupted_result), {}, true};
    return out;
  }

  // Assigns the result to the latest call with that id and without a result. A result without a call becomes text.
  void result(const json::object& message) {
    const auto id = text_at(message, "tool_call_id");
    auto c = content_of(message);
    for (auto t = turns_.rbegin(); t != turns_.rend(); ++t)
      for (auto& call : t->calls) {
        if (call.stored_id != id || calls_with_results_.contains(call.id)) continue;
        calls_with_results_.insert(call.id);
        if (c.text.empty() && c.images.empty()) c.text = no_output;
        call.result = {std::move(c.text), std::move(c.images), flag_at(message, "is_error")};
        return;
      }
    if (c.text.empty() && c.images.empty()) return;
    turn orphan;
    orphan.text = "[A result of the tool " + std::string(text_at(message, "name")) + " without its call]";
    if (!c.text.empty()) orphan.text += "\n" + c.text;
    orphan.images = std::move(c.images);
    turns_.push_back(std::move(orphan));
  }

  std::vector<turn> with_valid_order() {
    std::vector<turn> out;
    const auto add_user_turn = [&out](std::string_view text) {
      turn t;
      t.text = text;
      out.push_back(std::move(t));
    };
    for (auto& t : turns_) {
      if (t.role == turn::speaker::assistant) {
        if (out.empty())
          add_user_turn(began_earlier);
        else if (out.back().role == turn::speaker::assistant && out.back().calls.empty())
          add_user_turn(continue_prompt);
      }
      out.push_back(std::move(t));
    }
    if (out.empty() || (out.back().role == turn::speaker::assistant && out.back().calls.empty()))
      add_user_turn(continue_prompt);
    return out;
  }

  const json::array& messages_;
  id_allocator ids_;
  tool_set& tools_;
  std::vector<notice>& notices_;
  std::vector<found_image> found_;
  image_map images_;
  std::set<std::string, std::less<>> calls_with_results_;
  std::vector<turn> turns_;
};

}  // namespace

std::vector<turn> read_history(const json::object& request, const history_rules& rules, tool_set& tools,
                               std::vector<notice>& notices) {
  return history_reader(request, rules, tools, notices).read();
}

}  // namespace llm
