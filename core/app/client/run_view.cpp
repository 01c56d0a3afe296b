#include "core/app/client/run_view.hpp"

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

namespace ry::app::client {

namespace json = boost::json;

namespace {

constexpr std::size_t longest_note = 200;

std::string text(const json::object& o, std::string_view key) {
  const auto* v = o.if_contains(key);
  if (!v || v->is_null()) return {};
  return v->is_string() ? std::string(v->get_string()) : json::serialize(*v);
}

std::string shortened(std::string_view value) {
  auto out = printable(value);
  for (auto& c : out)
    if (c == '\n' || c == '\t') c = ' ';
  if (out.size() > longest_note) {
    std::size_t cut = longest_note;
    while (cut > 0 && (static_cast<unsigned char>(out[cut]) & 0xC0) == 0x80) --cut;
    out.resize(cut);
    out += "...";
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
