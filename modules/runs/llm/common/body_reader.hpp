// Passes the body of an HTTP 200 response, an event stream or a document, to the reader of its protocol.
// Sans-io.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "answer.hpp"
#include "sse.hpp"

namespace llm {

class body_reader {
 public:
  explicit body_reader(std::size_t max_event = 16 * 1024 * 1024) : max_event_(max_event), events_(max_event) {}

  // Calls `proceed` after each event; false drops the rest of `bytes`. Returns false if an event or a document exceeds
  // the limit; do not call feed() again then.
  template <class F>
  bool feed(std::string_view bytes, answer_reader& reader, receiver& to, F&& proceed) {
    if (form_ == form::unknown) bytes = detect_form(bytes);
    if (form_ == form::unknown) return true;
    if (form_ == form::document) {
      document_.append(bytes);
      return document_.size() <= max_event_;
    }
    return events_.feed(bytes, [&](std::string_view name, std::string_view data) {
      reader.event(name, data, to);
      return !reader.ended() && proceed();
    });
  }

  // Handles the end of the body. Delivers an unterminated last event if it can be parsed; then the reader decides.
  void closed(answer_reader& reader, receiver& to);

 private:
  enum class form { unknown, events, document };
  // Detects the form from the first significant byte; returns the input from that byte on.
  std::string_view detect_form(std::string_view bytes);
  void read_document(answer_reader& reader, receiver& to);

  const std::size_t max_event_;
  form form_ = form::unknown;
  std::string bom_;  // the part of a byte order mark received so far
  std::string document_;
  sse_reader events_;
};

}  // namespace llm
