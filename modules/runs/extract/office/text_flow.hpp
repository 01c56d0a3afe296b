// Text in paragraphs and table cells as a document's XML delivers it. Shared by word processors, presentations and OpenDocument.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "xml.hpp"

namespace extract {

class text_flow : public xml_handler {
 public:
  // Appends to `out` until it has `most` bytes, or a little more.
  text_flow(std::string& out, std::size_t most) : out_(out), most_(most) {}
  bool full() const override { return used_ + out_.size() >= most_; }

 protected:
  ~text_flow() = default;
  void add(std::string_view text);
  void add_repeated(std::string_view text, std::size_t times);
  void end_paragraph() { end_line(); }
  void line_break() { add(in_cell() ? " " : "\n"); }
  void tab() { add(in_cell() ? " " : "\t"); }
  void begin_cell() { ++level().cells; }
  // `columns`: how many it spans.
  void end_cell(std::size_t columns = 1);
  void end_row();
  bool in_cell() const { return (asides_.empty() ? main_ : asides_.back()).cells > 0; }
  // Text that stands inside a paragraph but is not a part of its sentence (a text box, a note, a comment) follows the paragraph.
  void begin_aside();
  void end_aside();
  // The text of the current level: that of the innermost aside, else all.
  std::string& here() { return asides_.empty() ? out_ : level().text; }

 private:
  struct flow_level {
    std::string text, after;  // `after`: asides that the next end of a line brings
    int cells = 0;
  };
  flow_level& level() { return asides_.empty() ? main_ : asides_.back(); }
  void end_line();
  std::string& out_;
  const std::size_t most_;
  std::size_t used_ = 0;  // bytes outside of out_
  flow_level main_;
  std::vector<flow_level> asides_;
};

}  // namespace extract
