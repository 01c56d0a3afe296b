// Extracts the text of documents, slides, notes, comments and drawings from WordprocessingML and DrawingML.
#pragma once
#include <map>

#include "text_flow.hpp"

namespace extract {

// The numbers of footnotes and endnotes in the order in which the text refers to them.
struct note_numbers {
  std::map<std::string, int> footnotes, endnotes;  // by id
};

class ooxml_text final : public text_flow {
 public:
  // `numbers`: nullptr for formats without notes.
  ooxml_text(std::string& out, std::size_t max_bytes, note_numbers* numbers = nullptr)
      : text_flow(out, max_bytes), note_numbers_(numbers) {}
  void begin(std::string_view name, const attributes& attrs) override;
  void text(std::string_view text) override;
  void end(std::string_view name) override;

 private:
  // mc:AlternateContent contains the same content several times: for programs that support an extension, and as a
  // fallback. Only one alternative is read.
  struct alternatives {
    std::size_t written = 0;  // value of written_ at its start
    bool chosen = false;
  };
  void write_reference(std::map<std::string, int>& notes, const std::string& id, std::string_view label);
  void begin_note(const std::map<std::string, int>& notes, const attributes& attrs, std::string_view label);
  note_numbers* const note_numbers_;
  std::vector<alternatives> alternatives_;
  std::vector<std::size_t> columns_;  // column span of each open cell
  std::size_t written_ = 0;
  int skipped_ = 0, in_text_ = 0, runs_ = 0;
};

}  // namespace extract
