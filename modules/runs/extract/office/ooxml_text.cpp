#include "ooxml_text.hpp"

#include <algorithm>
#include <charconv>

namespace extract {
namespace {

constexpr std::size_t max_columns = 64;  // Word allows 63

// Elements that are hidden or shown elsewhere: moved text, phonetic guides.
bool is_skipped(std::string_view name) {
  return name == "moveFrom" || name == "rt";
}

std::size_t number(const std::string& text, std::size_t default_value) {
  std::size_t n = default_value;
  std::from_chars(text.data(), text.data() + text.size(), n);
  return n;
}

}  // namespace

void ooxml_text::write_reference(std::map<std::string, int>& notes, const std::string& id, std::string_view label) {
  const auto at = notes.emplace(id, static_cast<int>(notes.size()) + 1).first;
  add("[" + std::string(label) + std::to_string(at->second) + "]");
}

void ooxml_text::begin_note(const std::map<std::string, int>& notes, const attributes& attrs, std::string_view label) {
  if (const auto at = notes.find(attribute(attrs, "id")); at != notes.end())
    add("[" + std::string(label) + std::to_string(at->second) + "] ");
}

void ooxml_text::begin(std::string_view name, const attributes& attrs) {
  if (skipped_ > 0 || is_skipped(name)) {
    ++skipped_;
    return;
  }
  if (name == "AlternateContent") alternatives_.push_back({written_, false});
  if (!alternatives_.empty() && (name == "Choice" || name == "Fallback")) {
    if (alternatives_.back().chosen && alternatives_.back().written != written_) {
      ++skipped_;
      return;
    }
    alternatives_.back().chosen = true;
  }
  if (name == "t") ++in_text_;
  if (name == "r") ++runs_;
  if (name == "tc") {
    begin_cell();
    columns_.push_back(1);
  }
  if (name == "gridSpan" && !columns_.empty())
    columns_.back() = std::clamp<std::size_t>(number(attribute(attrs, "val"), 1), 1, max_columns);
  if (name == "tab" && in_text_ == 0 && runs_ > 0) tab();
  if (name == "ptab") tab();
  if (name == "br" || name == "cr") line_break();
  if (name == "noBreakHyphen") add("-");
  if (name == "txbxContent") begin_aside();
  if (note_numbers_ == nullptr) return;
  if (name == "footnoteReference") write_reference(note_numbers_->footnotes, attribute(attrs, "id"), "");
  if (name == "endnoteReference") write_reference(note_numbers_->endnotes, attribute(attrs, "id"), "endnote ");
  if (name == "footnote") begin_note(note_numbers_->footnotes, attrs, "");
  if (name == "endnote") begin_note(note_numbers_->endnotes, attrs, "endnote ");
}

void ooxml_text::text(std::string_view text) {
  if (in_text_ == 0 || skipped_ > 0) return;
  written_ += text.size();
  add(text);
}

void ooxml_text::end(std::string_view name) {
  if (skipped_ > 0) {
    --skipped_;
    return;
  }
  if (name == "AlternateContent" && !alternatives_.empty()) alternatives_.pop_back();
  if (name == "t") --in_text_;
  if (name == "r") --runs_;
  if (name == "p") end_paragraph();
  if (name == "tc" && !columns_.empty()) {
    end_cell(columns_.back());
    columns_.pop_back();
  }
  if (name == "tr") end_row();
  if (name == "txbxContent") end_aside();
}

}  // namespace extract
