#include "body_reader.hpp"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

namespace llm {

namespace {

constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

bool is_parsable(std::string_view data) {
  return data == "[DONE]" || parse_event(data).has_value();
}

}  // namespace

std::string_view body_reader::detect_form(std::string_view bytes) {
  while (!bytes.empty()) {
    const char c = bytes.front();
    if (bom_.size() < byte_order_mark.size() && c == byte_order_mark[bom_.size()]) {
      bom_ += c;
    } else if (c != ' ' && c != '\t' && c != '\r' && c != '\n') {
      form_ = c == '{' || c == '[' || c == '<' ? form::document : form::events;
      return bytes;
    }
    bytes.remove_prefix(1);
  }
  return bytes;
}

void body_reader::closed(answer_reader& reader, receiver& to) {
  if (reader.ended()) return;
  if (form_ == form::unknown)
    return reader.fail({RY_UNAVAILABLE, "llm.empty", "the model provider's response is empty"});
  if (form_ == form::document) return read_document(reader, to);
  events_.finish([&](std::string_view name, std::string_view data) {
    if (is_parsable(data)) reader.event(name, data, to);
  });
  if (!reader.ended() && events_.count() == 0)
    return reader.fail({RY_DATA_LOSS, "llm.protocol", "the model provider's response is not an event stream"});
  if (!reader.ended()) reader.closed(to);
}

void body_reader::read_document(answer_reader& reader, receiver& to) {
  const auto deliver = [&](const boost::json::value& v) {
    if (const auto* o = v.if_object()) reader.document(*o, to);
    if (const auto* list = v.if_array())
      for (const auto& e : *list)
        if (const auto* o = e.if_object(); o && !reader.ended()) reader.document(*o, to);
    return v.is_object() || v.is_array();
  };
  if (document_.front() == '<')
    return reader.fail({RY_DATA_LOSS, "llm.protocol",
                        "the model provider answered with a web page (HTML) instead of an event stream"});
  bool delivered = false;
  if (const auto v = parse_event(document_)) {
    delivered = deliver(*v);
  } else {
    // One JSON document per line, or a first line of JSON before the events.
    std::string_view rest = document_;
    while (!rest.empty() && !reader.ended()) {
      auto line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(rest.size(), line.size() + 1));
      if (line.starts_with("data:")) line.remove_prefix(5);
      if (const auto e = parse_event(line)) delivered = deliver(*e) || delivered;
    }
  }
  if (!delivered)
    return reader.fail({RY_UNAVAILABLE, "llm.cut_off", "the model provider's response is an incomplete JSON document"});
  if (!reader.ended()) reader.closed(to);
}

}  // namespace llm
