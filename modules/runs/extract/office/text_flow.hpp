// Assembles text from the paragraphs and table cells of a document's XML. Shared by the readers of Word, PowerPoint and
// OpenDocument.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "xml.hpp"

namespace extract {

class text_flow : public xml_handler {
 public:
  // Appends to `out`, which may slightly exceed `max_bytes`.
  text_flow(std::string& out, std::size_t max_bytes) : out_(out), max_bytes_(max_bytes) {}
  bool full() const override { return pending_bytes_ + out_.size() >= max_bytes_; }

 protected:
  ~text_flow() = default;
  void add(std::string_view text);
  void add_repeated(std::string_view text, std::size_t times);
  void end_paragraph() { end_line(); }
  void line_break() { add(in_cell() ? " " : "\n"); }
  void tab() { add(in_cell() ? " " : "\t"); }
  void begin_cell() { ++level().cells; }
  // `columns`: the number of columns that the cell spans.
  void end_cell(std::size_t columns = 1);
  void end_row();
  bool in_cell() const { return (asides_.empty() ? main_ : asides_.back()).cells > 0; }
  // Text inside a paragraph that is not part of its sentences (a text box, a note, a comment) is added after the
  // paragraph.
  void begin_aside();
  void end_aside();
  // The text of the innermost aside, or of the document if there is none.
  std::string& current_text() { return asides_.empty() ? out_ : level().text; }

 private:
  struct flow_level {
    std::string text, after;  // `after`: asides to be added at the next end of a line
    int cells = 0;
  };
  flow_level& level() { return asides_.empty() ? main_ : asides_.back(); }
  void end_line();
  std::string& out_;
  const std::size_t max_bytes_;
  std::size_t pending_bytes_ = 0;  // not added to out_ yet
  flow_level main_;
  std::vector<flow_level> asides_;
};

}  // namespace extract
