#include "word_binary.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "code_pages.hpp"
#include "little_endian.hpp"

namespace extract {
namespace {

// Offsets in the file information block (FIB).
constexpr std::size_t at_version = 2, at_language = 6, at_flags = 10, at_text_begin = 0x18, at_old_lengths = 0x34,
                      at_old_pieces = 0x160, at_lengths = 0x4C, at_character_runs = 0xFA, at_paragraph_runs = 0x102,
                      at_pieces = 0x1A2;
constexpr unsigned first_version_of_word_97 = 0xA9, flag_complex = 0x0004, flag_encrypted = 0x0100,
                   flag_table1 = 0x0200;
constexpr std::size_t page_bytes = 512;

enum story { main_text, footnotes, headers, macros, comments, endnotes, text_boxes, header_text_boxes, n_stories };

// Characters with a special meaning (2.4.1).
constexpr char16_t cell_end = 0x07, tab = 0x09, line_break = 0x0B, page_break = 0x0C, paragraph_end = 0x0D,
                   column_break = 0x0E, field_begin = 0x13, field_separator = 0x14, field_end = 0x15,
                   hard_hyphen = 0x1E;

// Calls `each` with each operation in a list of property changes and the first byte of its operand.
template <class Each>
void for_each_property(little_endian changes, Each each) {
  constexpr std::array<std::size_t, 8> sizes{1, 1, 2, 4, 2, 2, 0, 3};
  constexpr unsigned define_table = 0xD608, change_tabs = 0xC615;
  for (std::size_t at = 0; at + 3 <= changes.size();) {
    const unsigned operation = changes.u16(at);
    at += 2;
    std::size_t size = sizes[operation >> 13];
    if (operation == define_table)
      size = changes.u16(at) + std::size_t{1};
    else if (operation == change_tabs && changes.u8(at) == 255)
      return;
    else if (size == 0)
      size = changes.u8(at) + std::size_t{1};
    each(operation, changes.u8(at));
    at += size;
  }
}

struct byte_range {
  std::uint32_t begin = 0, end = 0;
};

class word_document {
 public:
  word_document(std::string_view document, std::string_view table)
      : document_(document), table_(table), before_word_97_(document_.u16(at_version) < first_version_of_word_97) {
    if (!before_word_97_) read_formats();
  }
  void read(std::size_t max_characters);
  std::string combined_text() const;

 private:
  struct piece {
    std::uint32_t characters = 0, at = 0;
    bool wide = false;
  };
  std::vector<piece> pieces() const;
  void read_formats();
  template <class Each>
  void for_each_run(std::size_t index, std::size_t description_bytes, Each each) const;
  bool add_piece(const piece& p, std::size_t max_characters, std::uint32_t& position);
  void add_character(char16_t c, std::uint32_t end);
  void add_field_mark(char16_t c);
  void end_cell(std::uint32_t end);
  void end_paragraph(bool in_cell) { text_ += in_cell ? u' ' : u'\n'; }
  bool is_deleted(std::uint32_t at) const;
  void begin_stories();
  void advance_story(std::uint32_t position);
  void finish_story();

  const little_endian document_, table_;
  const bool before_word_97_;
  std::set<std::uint32_t> row_ends_, ends_in_table_;  // byte positions after the mark
  std::map<std::uint32_t, std::uint32_t> deleted_;  // begin -> end
  std::vector<bool> fields_;  // for each open field: whether its code is being read
  std::size_t open_codes_ = 0;  // number of true values in fields_
  std::array<std::uint32_t, n_stories> ends_{};  // end of each story in characters
  int story_ = main_text;
  std::u16string text_;
  std::array<std::string, n_stories> stories_;
};

// Calls `each` for the runs in the pages of formatted runs. A page contains the positions of its runs, then a
// description of each run, which contains the offset of the run's property changes in the page.
template <class Each>
void word_document::for_each_run(std::size_t index, std::size_t description_bytes, Each each) const {
  const little_endian pages(table_.slice(document_.u32(index), document_.u32(index + 4)));
  if (pages.size() < 12) return;
  const std::size_t n = (pages.size() - 4) / 8;
  std::set<std::size_t> seen;  // an intact document refers to each page once
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t at = std::size_t{pages.u32((n + 1) * 4 + i * 4) & 0x3FFFFF} * page_bytes;
    if (!seen.insert(at).second) continue;
    const little_endian page(document_.slice(at, page_bytes));
    const std::size_t runs = page.u8(page_bytes - 1);
    for (std::size_t r = 0; r < runs; ++r) {
      const std::size_t description = std::size_t{page.u8((runs + 1) * 4 + r * description_bytes)} * 2;
      if (description != 0) each(byte_range{page.u32(r * 4), page.u32(r * 4 + 4)}, page, description);
    }
  }
}

void word_document::read_formats() {
  constexpr unsigned in_table = 0x2416, is_row_end = 0x2417, deleted = 0x0800;
  for_each_run(at_paragraph_runs, 13, [&](byte_range run, little_endian page, std::size_t at) {
    const std::size_t half = page.u8(at);
    const std::size_t begin = half == 0 ? at + 2 : at + 1,
                      size = half == 0 ? page.u8(at + 1) * std::size_t{2} : half * 2 - 1;
    if (size < 2) return;
    for_each_property(little_endian(page.slice(begin + 2, size - 2)), [&](unsigned operation, unsigned operand) {
      if (operand == 0) return;
      if (operation == in_table) ends_in_table_.insert(run.end);
      if (operation == is_row_end) row_ends_.insert(run.end);
    });
  });
  for_each_run(at_character_runs, 1, [&](byte_range run, little_endian page, std::size_t at) {
    for_each_property(little_endian(page.slice(at + 1, page.u8(at))), [&](unsigned operation, unsigned operand) {
      if (operation == deleted && operand != 0) deleted_[run.begin] = run.end;
    });
  });
}

std::vector<word_document::piece> word_document::pieces() const {
  std::vector<piece> out;
  const std::size_t index = before_word_97_ ? at_old_pieces : at_pieces;
  const little_endian clx((before_word_97_ ? document_ : table_).slice(document_.u32(index), document_.u32(index + 4)));
  std::size_t at = 0;
  while (clx.u8(at) == 1) at += 3 + std::size_t{clx.u16(at + 1)};
  if (clx.u8(at) != 2) {
    // Only before Word 97 can the text be a single piece without a table.
    if (before_word_97_ && (document_.u16(at_flags) & flag_complex) == 0)
      out.push_back(
          {document_.u32(at_text_begin + 4) - document_.u32(at_text_begin), document_.u32(at_text_begin), false});
    return out;
  }
  const little_endian table(clx.slice(at + 5, clx.u32(at + 1)));
  if (table.size() < 16) return out;
  const std::size_t n = (table.size() - 4) / 12;
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t begin = table.u32(i * 4), end = table.u32(i * 4 + 4),
                        offset = table.u32((n + 1) * 4 + i * 8 + 2);
    constexpr std::uint32_t one_byte = 0x40000000;
    const bool narrow = before_word_97_ || (offset & one_byte) != 0;
    const std::uint32_t byte_offset = offset & ~one_byte;
    if (end > begin)
      out.push_back({end - begin, before_word_97_ ? offset : narrow ? byte_offset / 2 : byte_offset, !narrow});
  }
  return out;
}

bool word_document::is_deleted(std::uint32_t at) const {
  const auto after = deleted_.upper_bound(at);
  return after != deleted_.begin() && std::prev(after)->second > at;
}

void word_document::add_field_mark(char16_t c) {
  if (c == field_begin) {
    fields_.push_back(true);
    ++open_codes_;
    return;
  }
  if (fields_.empty()) return;
  if (fields_.back()) --open_codes_;
  fields_.back() = false;
  if (c == field_end) fields_.pop_back();
}

void word_document::end_cell(std::uint32_t end) {
  if (row_ends_.contains(end)) {
    if (text_.ends_with(u'\t')) text_.pop_back();
    text_ += u'\n';
    return;
  }
  while (text_.ends_with(u' ')) text_.pop_back();
  text_ += u'\t';
}

void word_document::add_character(char16_t c, std::uint32_t end) {
  constexpr std::size_t max_nested_fields = 1000;
  if (c >= field_begin && c <= field_end && fields_.size() < max_nested_fields) return add_field_mark(c);
  if (open_codes_ != 0 || is_deleted(end - 1)) return;
  switch (c) {
    case cell_end:
      return end_cell(end);
    case paragraph_end:
      return end_paragraph(ends_in_table_.contains(end));
    case line_break:
    case page_break:
    case column_break:
      text_ += u'\n';
      return;
    case hard_hyphen:
      text_ += u'-';
      return;
    default:
      // Other control characters are marks of pictures, notes and optional hyphens.
      if (c >= 0x20 || c == tab) text_ += c;
  }
}

// The characters that compressed text (FcCompressed) represents by bytes from 0x80 to 0x9F.
char16_t from_compressed(unsigned char c) {
  static constexpr std::array<char16_t, 32> letters{0x20AC, 0x81,   0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021,
                                                    0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8D,   0x017D, 0x8F,
                                                    0x90,   0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014,
                                                    0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D,   0x017E, 0x0178};
  return c >= 0x80 && c < 0xA0 ? letters[c - 0x80u] : c;
}

void word_document::begin_stories() {
  const std::size_t lengths = before_word_97_ ? at_old_lengths : at_lengths;
  std::uint32_t end = 0;
  for (std::size_t i = 0; i < n_stories; ++i) ends_[i] = end += document_.u32(lengths + i * 4);
}

void word_document::finish_story() {
  std::string text;
  if (before_word_97_) {
    // Each character is a byte in the code page of the document's language.
    std::string bytes;
    for (const char16_t c : text_) bytes += static_cast<char>(c);
    text = from_code_page(bytes, code_page_of_language(document_.u16(at_language)));
  } else {
    const std::string_view bytes(reinterpret_cast<const char*>(text_.data()), text_.size() * 2);
    text = from_utf16(bytes);
  }
  text_.clear();
  fields_.clear();
  open_codes_ = 0;
  remove_controls(text);
  stories_[static_cast<std::size_t>(story_)] += text;
}

void word_document::advance_story(std::uint32_t position) {
  while (story_ + 1 < n_stories && position >= ends_[static_cast<std::size_t>(story_)]) {
    finish_story();
    ++story_;
  }
}

// False: the text has more than `max_characters` characters. A piece may be the whole document, so each character is
// checked.
bool word_document::add_piece(const piece& p, std::size_t max_characters, std::uint32_t& position) {
  const std::uint32_t unit = p.wide ? 2 : 1;
  for (std::uint32_t i = 0; i < p.characters; ++i, ++position) {
    const std::uint64_t at = p.at + std::uint64_t{i} * unit;
    if (at + unit > document_.size()) return true;
    if (text_.size() > max_characters) return false;
    advance_story(position);
    const unsigned char narrow = document_.u8(at);
    const char16_t c = p.wide ? document_.u16(at) : before_word_97_ ? narrow : from_compressed(narrow);
    add_character(c, static_cast<std::uint32_t>(at + unit));
  }
  return true;
}

void word_document::read(std::size_t max_characters) {
  begin_stories();
  std::uint32_t position = 0;
  std::size_t taken = 0;
  for (const piece& p : pieces()) {
    // The pieces of an intact document barely overlap, so it has no more characters than bytes.
    taken += p.characters;
    if (taken > document_.size() + p.characters || !add_piece(p, max_characters, position)) break;
  }
  finish_story();
}

// Each section has its own headers, often with the same text.
std::string without_repeated_lines(const std::string& text) {
  std::set<std::string> seen;
  std::string out;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    const std::string line = text.substr(from, end - from);
    if (line.find_first_not_of(" \t") != line.npos && seen.insert(line).second) out += line + "\n";
    from = end + 1;
  }
  return out;
}

std::string word_document::combined_text() const {
  std::string out = without_repeated_lines(stories_[headers]);
  for (const story s : {main_text, text_boxes, header_text_boxes, footnotes, endnotes, comments}) {
    if (!out.empty() && !out.ends_with('\n') && !stories_[s].empty()) out += '\n';
    out += stories_[s];
  }
  return out;
}

}  // namespace

void read_word_binary(std::string_view document, std::string_view table0, std::string_view table1,
                      std::size_t max_bytes, office_text& out) {
  const little_endian fib(document);
  if ((fib.u16(at_flags) & flag_encrypted) != 0) {
    out.problem = "it is encrypted and needs a password";
    return;
  }
  out.kind = "doc";
  word_document word(document, (fib.u16(at_flags) & flag_table1) != 0 ? table1 : table0);
  word.read(max_bytes);
  out.text = word.combined_text();
  if (out.text.empty()) out.problem = "it is damaged";
}

}  // namespace extract
