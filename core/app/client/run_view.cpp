#include "core/app/client/run_view.hpp"

#include <algorithm>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <ry/cpp/text.hpp>

namespace ry::app::client {

namespace json = boost::json;

namespace {

constexpr std::size_t longest_note = 200, longest_arguments = 8000;

std::string text(const json::object& o, std::string_view key) {
  const auto* v = o.if_contains(key);
  if (!v || v->is_null()) return {};
  return v->is_string() ? std::string(v->get_string()) : json::serialize(*v);
}

void cut_to(std::string& text, std::size_t max_bytes) {
  while (max_bytes > 0 && (static_cast<unsigned char>(text[max_bytes]) & 0xC0) == 0x80) --max_bytes;
  text.resize(max_bytes);
}

std::string shortened(std::string_view value) {
  auto out = printable(value);
  for (auto& c : out)
    if (c == '\n' || c == '\t') c = ' ';
  if (out.size() > longest_note) {
    cut_to(out, longest_note);
    out += "...";
  }
  return out;
}

// One line per argument. Further lines of a value are indented, so that they do not look like other arguments.
std::string argument_lines(const json::object& event) {
  const auto* arguments = event.if_contains("arguments");
  const auto* o = arguments != nullptr ? arguments->if_object() : nullptr;
  if (o == nullptr) return {};
  std::string out;
  for (const auto& member : *o) {
    const auto& value = member.value();
    const std::string shown =
        printable(value.is_string() ? std::string_view(value.get_string()) : std::string_view(json::serialize(value)));
    out += "\n    " + shortened(member.key()) + ": ";
    for (const char c : shown) out += c == '\n' ? std::string("\n      ") : std::string(1, c);
    if (out.size() <= longest_arguments) continue;
    cut_to(out, longest_arguments);
    return out + "...\n  The arguments are longer: see GET /approvals";
  }
  return out;
}

}  // namespace

std::string printable(std::string_view value) {
  std::string out;
  out.reserve(value.size());
  for (std::size_t i = 0; i < value.size(); ++i) {
    const auto c = static_cast<unsigned char>(value[i]);
    // U+0080..U+009F are also terminal control characters.
    if (c == 0xC2 && i + 1 < value.size() && static_cast<unsigned char>(value[i + 1]) >= 0x80 &&
        static_cast<unsigned char>(value[i + 1]) < 0xA0) {
      ++i;
      continue;
    }
    if ((c >= 0x20 && c != 0x7F) || c == '\n' || c == '\t') out += value[i];
  }
  return out;
}

run_view::run_view(write_fn answer, write_fn notes, style s)
    : answer_(std::move(answer)), notes_(std::move(notes)), style_(s) {}

void run_view::fresh_line() {
  if (in_line_) answer_("\n");
  in_line_ = false;
}

void run_view::note(std::string_view what) {
  fresh_line();
  std::string out;
  if (style_ == style::color) out += "\x1b[2m";
  out += what;
  if (style_ == style::color) out += "\x1b[0m";
  out += '\n';
  notes_(out);
}

void run_view::expect_decisions(bool asks, std::string url) {
  asks_ = asks;
  url_ = std::move(url);
}

void run_view::forget_approval(const std::string& id) {
  std::erase(waiting_, id);
}

void run_view::show_approval(const json::object& event) {
  const std::string id = printable(text(event, "approval_id"));
  std::string question = "? " + shortened(text(event, "name")) + " needs an approval until " +
                         shortened(text(event, "expires_at")) + argument_lines(event);
  if (!asks_)
    question += "\n  Approve it with POST " + url_ + "/approvals/" + id +
                " {\"decision\": \"approve\"}, or deny it with {\"decision\": \"deny\"}";
  note(question);
  waiting_.push_back(id);
}

std::optional<decision> read_decision(std::string_view line) {
  const std::string word = ry::lower_ascii(ry::trimmed(line));
  if (word == "y" || word == "yes") return decision::approve;
  if (word == "n" || word == "no") return decision::deny;
  if (word == "a" || word == "always") return decision::always;
  return std::nullopt;
}

std::string decision_body(decision made, const std::string& reason) {
  json::object o{{"decision", made == decision::deny ? "deny" : "approve"}};
  if (made == decision::always) o["remember"] = "run";
  if (!reason.empty()) o["reason"] = reason;
  return json::serialize(o);
}

void run_view::show(std::string_view event_json) {
  boost::system::error_code ec;
  const auto parsed = json::parse(event_json, ec);
  const auto* o = ec ? nullptr : parsed.if_object();
  if (!o) return;
  const auto type = text(*o, "type");
  if (type == "llm_response_chunk") {
    const auto content = printable(text(*o, "content"));
    if (content.empty()) return;
    answer_(content);
    answered_ = true;
    in_line_ = content.back() != '\n';
  } else if (type == "llm_response_end") {
    fresh_line();
  } else if (type == "llm_response_start") {
    const auto* attempt = o->if_contains("attempt");
    const bool repeated = attempt && attempt->is_int64() && attempt->get_int64() > 1;
    if (repeated && answered_) note("* the answer is restarted; ignore the part above");
    answered_ = false;
  } else if (type == "tool_call") {
    note("> " + shortened(text(*o, "name")) + " " + shortened(text(*o, "arguments")));
  } else if (type == "tool_result") {
    const auto* failed = o->if_contains("is_error");
    note(std::string(failed && failed->is_bool() && failed->get_bool() ? "< failed: " : "< ") +
         shortened(text(*o, "content")));
  } else if (type == "approval_requested") {
    show_approval(*o);
  } else if (type == "approval_resolved") {
    forget_approval(printable(text(*o, "approval_id")));
    const std::string reason = shortened(text(*o, "reason"));
    note("* " + shortened(text(*o, "status")) + (reason.empty() ? "" : ": " + reason));
  } else if (type == "error") {
    note("! " + shortened(text(*o, "message")));
  } else if (type == "gap") {
    note("* events " + text(*o, "from") + " to " + text(*o, "to") + " are no longer stored");
  } else if (type == "server_draining") {
    note("* the server is restarting; reconnecting");
  } else if (type == "status") {
    const auto status = text(*o, "status");
    if (status != "completed" && status != "failed" && status != "stopped") return;
    fresh_line();
    status_ = status;
    error_ = printable(text(*o, "error"));
    if (const auto code = printable(text(*o, "error_code")); !code.empty())
      error_ += error_.empty() ? code : " (" + code + ")";
  }
}

}  // namespace ry::app::client
