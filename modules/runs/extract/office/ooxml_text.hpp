// Extracts the text of documents, slides, notes, comments and drawings from WordprocessingML and DrawingML.
#pragma once
#include <map>

#include "text_flow.hpp"

namespace extract {

// The numbers of footnotes and endnotes in the order in which the text refers to them.
struct note_marks {
  std::map<std::string, int> footnotes, endnotes;  // by id
};

class ooxml_text final : public text_flow {
 public:
  // `marks`: nullptr: the part has no notes.
  ooxml_text(std::string& out, std::size_t max_bytes, note_marks* marks = nullptr)
      : text_flow(out, max_bytes), marks_(marks) {}
  void begin(std::string_view name, const attributes& with) override;
  void text(std::string_view text) override;
  void end(std::string_view name) override;

 private:
  // mc:AlternateContent contains the same content twice: for programs that support an extension, and for others.
  struct alternatives {
    std::size_t written = 0;  // bytes written before it
    bool chosen = false;
  };
  void refer(std::map<std::string, int>& notes, const std::string& id, std::string_view label);
  void begin_note(const std::map<std::string, int>& notes, const attributes& with, std::string_view label);
  note_marks* const marks_;
  std::vector<alternatives> alternatives_;
  std::vector<std::size_t> columns_;  // spanned by the open cells
  std::size_t written_ = 0;
  int skipped_ = 0, in_text_ = 0, runs_ = 0;
};

}  // namespace extract
