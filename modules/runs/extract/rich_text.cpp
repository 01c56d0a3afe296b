#include "rich_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <ry/cpp/text.hpp>
#include <ry/cpp/utf8.hpp>
#include <set>
#include <utility>
#include <vector>

#include "code_pages.hpp"
#include "plain_text.hpp"

namespace extract {
namespace {

constexpr std::size_t max_groups = 10000;  // nested
constexpr std::size_t max_fonts = 65536;

// Groups whose content is not text of the document.
const std::set<std::string_view>& hidden_destinations() {
  static const std::set<std::string_view> names{
      "colortbl",   "stylesheet", "info",         "pict",    "sp",        "ftnsep",    "ftnsepc",
      "ftncn",      "aftnsep",    "aftnsepc",     "aftncn",  "xe",        "rxe",       "tc",
      "tcn",        "txe",        "nonesttables", "atnid",   "atnauthor", "atrfstart", "atrfend",
      "nonshppict", "shprslt",    "bkmkstart",    "bkmkend", "filetbl",   "revtbl",    "listtable"};
  return names;
}

// Optional groups (marked "\*") that contain text of the document.
bool has_text(std::string_view destination) {
  return destination == "annotation" || destination == "shpinst" || destination == "do" || destination == "ud" ||
         destination == "footnote";
}

bool is_aside(std::string_view destination) {
  return destination == "annotation" || destination == "footnote" || destination == "shptxt";
}

char32_t symbol(std::string_view word) {
  static constexpr std::array<std::pair<std::string_view, char32_t>, 13> symbols{{{"emdash", 0x2014},
                                                                                  {"endash", 0x2013},
                                                                                  {"lquote", 0x2018},
                                                                                  {"rquote", 0x2019},
                                                                                  {"ldblquote", 0x201C},
                                                                                  {"rdblquote", 0x201D},
                                                                                  {"bullet", 0x2022},
                                                                                  {"emspace", 0x2003},
                                                                                  {"enspace", 0x2002},
                                                                                  {"qmspace", 0x2005},
                                                                                  {"zwj", 0x200D},
                                                                                  {"zwnj", 0x200C},
                                                                                  {"tab", '\t'}}};
  for (const auto& [name, character] : symbols)
    if (name == word) return character;
  return 0;
}

unsigned code_page_of_charset(int charset, unsigned document) {
  static constexpr std::array<std::pair<int, unsigned>, 17> pages{{{77, 10000},
                                                                   {128, 932},
                                                                   {129, 949},
                                                                   {130, 1361},
                                                                   {134, 936},
                                                                   {136, 950},
                                                                   {161, 1253},
                                                                   {162, 1254},
                                                                   {163, 1258},
                                                                   {177, 1255},
                                                                   {178, 1256},
                                                                   {186, 1257},
                                                                   {204, 1251},
                                                                   {222, 874},
                                                                   {238, 1250},
                                                                   {254, 437},
                                                                   {255, 850}}};
  for (const auto& [number, page] : pages)
    if (number == charset) return page;
  return document;  // charset 0 (Western), which programs also write for the document's language
}

class rtf_reader {
 public:
  rtf_reader(std::string_view rtf, std::size_t max_bytes) : rtf_(rtf), max_bytes_(max_bytes) {}
  rich_text read();

 private:
  struct group {
    bool hidden = false, deleted = false, in_table = false;
    bool font_table = false, alternatives = false;  // alternatives: within "\upr"
    bool at_start = true, optional = false;  // at_start: no word was read yet; optional: after "\*"
    int fallback_characters = 1;  // after each "\u"
    int font = -1;
    std::optional<std::size_t> aside_begin;  // set for an aside
  };
  struct word {
    std::string_view name;
    std::optional<int> number;
  };
  bool visible() const { return !group_.hidden && !group_.deleted && !group_.font_table; }
  word take_word();
  void open_group();
  void close_group();
  void take_symbol();
  void take_hex();
  void take_byte(char c);
  void apply(const word& w);
  bool apply_destination(const word& w);
  bool apply_break(const word& w);
  void apply_font(const word& w);
  void apply_unit(int unit);
  void add(char32_t c);
  void end_line();
  void end_aside(std::size_t begin);
  void flush();

  const std::string_view rtf_;
  const std::size_t max_bytes_;
  std::size_t at_ = 0;
  group group_;
  std::vector<group> outer_;
  unsigned code_page_ = 1252;
  int default_font_ = -1, defined_font_ = -1;
  std::map<int, unsigned> page_of_font_;
  std::string out_, bytes_;  // bytes_: in the current code page
  std::string after_line_;  // asides that follow the current line
  int asides_ = 0;  // currently open
  int fallback_to_skip_ = 0;  // characters
  char32_t high_surrogate_ = 0;
};

void rtf_reader::flush() {
  if (bytes_.empty()) return;
  const auto page = page_of_font_.find(group_.font);
  std::string text = from_code_page(bytes_, page == page_of_font_.end() ? code_page_ : page->second);
  remove_controls(text);
  out_ += text;
  bytes_.clear();
}

void rtf_reader::add(char32_t c) {
  flush();
  if (visible()) ry::append_utf8(out_, c);
}

void rtf_reader::end_line() {
  add(group_.in_table ? ' ' : '\n');
  if (asides_ == 0 && !group_.in_table && visible()) out_ += std::exchange(after_line_, {});
}

// Notes, comments and text boxes are inside a paragraph but not part of its sentences; their text follows the line.
void rtf_reader::end_aside(std::size_t begin) {
  --asides_;
  std::string text = out_.substr(std::min(begin, out_.size()));
  out_.resize(out_.size() - text.size());
  after_line_ += text;
  if (!text.empty() && !text.ends_with('\n')) after_line_ += '\n';
}

void rtf_reader::open_group() {
  flush();
  fallback_to_skip_ = 0;
  ++at_;
  if (outer_.size() >= max_groups) return;
  outer_.push_back(group_);
  // "\upr" contains the text twice; the second form is in Unicode.
  if (group_.alternatives) group_.hidden = true;
  group_.alternatives = false;
  group_.at_start = true;
  group_.optional = false;
  group_.aside_begin.reset();
}

void rtf_reader::close_group() {
  flush();
  fallback_to_skip_ = 0;
  ++at_;
  if (outer_.empty()) return;
  if (group_.aside_begin) end_aside(*group_.aside_begin);
  group_ = outer_.back();
  outer_.pop_back();
}

void rtf_reader::take_byte(char c) {
  group_.at_start = false;
  if (fallback_to_skip_ > 0) {
    --fallback_to_skip_;
    return;
  }
  if (visible()) bytes_ += c;
}

rtf_reader::word rtf_reader::take_word() {
  const std::size_t begin = at_;
  while (at_ < rtf_.size() && ((rtf_[at_] >= 'a' && rtf_[at_] <= 'z') || (rtf_[at_] >= 'A' && rtf_[at_] <= 'Z'))) ++at_;
  word out{rtf_.substr(begin, at_ - begin), std::nullopt};
  int number = 0;
  const auto [end, problem] = std::from_chars(rtf_.data() + at_, rtf_.data() + rtf_.size(), number);
  if (problem != std::errc::invalid_argument) {
    out.number = problem == std::errc() ? number : 0;
    at_ = static_cast<std::size_t>(end - rtf_.data());
  }
  if (at_ < rtf_.size() && rtf_[at_] == ' ') ++at_;
  return out;
}

void rtf_reader::take_hex() {
  const int high = at_ + 1 < rtf_.size() ? ry::hex_value(rtf_[at_]) : -1,
            low = high >= 0 ? ry::hex_value(rtf_[at_ + 1]) : -1;
  if (low < 0) return;
  at_ += 2;
  take_byte(static_cast<char>(high * 16 + low));
}

// Called after a backslash that is not followed by a word.
void rtf_reader::take_symbol() {
  const char c = rtf_[at_++];
  if (c == '\'') return take_hex();
  if (c == '*') {
    group_.optional = group_.at_start;
    return;
  }
  if (fallback_to_skip_ > 0) {
    --fallback_to_skip_;
    return;
  }
  if (c == '{' || c == '}' || c == '\\') take_byte(c);
  if (c == '~') add(0xA0);
  if (c == '_') add('-');
  if (c == '\n' || c == '\r') end_line();
}

bool rtf_reader::apply_destination(const word& w) {
  const bool at_start = std::exchange(group_.at_start, false);
  if (w.name == "fonttbl") {
    group_.font_table = true;
  } else if (w.name == "upr") {
    group_.alternatives = true;
  } else if (group_.optional && w.name == "ud") {
    group_.hidden = outer_.size() > 1 ? outer_[outer_.size() - 1].hidden : false;
  } else if ((group_.optional && !has_text(w.name)) || (at_start && hidden_destinations().contains(w.name))) {
    group_.hidden = true;
  } else {
    group_.optional = false;
    if (!at_start || !is_aside(w.name)) return false;
    group_.aside_begin = out_.size();
    ++asides_;
    return true;
  }
  group_.optional = false;
  return true;
}

bool rtf_reader::apply_break(const word& w) {
  if (w.name == "par" || w.name == "softline")
    end_line();
  else if (w.name == "line" || w.name == "sect" || w.name == "page" || w.name == "column")
    add(group_.in_table ? ' ' : '\n');
  else if (w.name == "cell" || w.name == "nestcell")
    add('\t');
  else if (w.name == "row" || w.name == "nestrow") {
    flush();
    if (visible() && out_.ends_with('\t')) out_.pop_back();
    add('\n');
  } else {
    return false;
  }
  return true;
}

void rtf_reader::apply_font(const word& w) {
  const int n = w.number.value_or(0);
  if (w.name == "deff") default_font_ = n;
  if (w.name == "plain") group_.font = default_font_;
  if (w.name == "f") (group_.font_table ? defined_font_ : group_.font) = n;
  if (!group_.font_table || page_of_font_.size() >= max_fonts) return;
  if (w.name == "fcharset") page_of_font_[defined_font_] = code_page_of_charset(n, code_page_);
  if (w.name == "cpg" && n > 0) page_of_font_[defined_font_] = static_cast<unsigned>(n);
}

// "\u": a UTF-16 code unit, which old programs write as a negative number if it is 0x8000 or more.
void rtf_reader::apply_unit(int unit) {
  const auto c = static_cast<char32_t>(static_cast<char16_t>(unit));
  const char32_t high = std::exchange(high_surrogate_, 0);
  fallback_to_skip_ = 0;
  if (c >= 0xD800 && c < 0xDC00)
    high_surrogate_ = c;
  else if (c >= 0xDC00 && c < 0xE000)
    add(high != 0 ? 0x10000 + ((high - 0xD800) << 10) + (c - 0xDC00) : 0xFFFD);
  else if (c >= 0x20)
    add(c);
  fallback_to_skip_ = group_.fallback_characters;
}

void rtf_reader::apply(const word& w) {
  if (w.name == "bin") {
    at_ += std::min(rtf_.size() - at_, static_cast<std::size_t>(std::max(w.number.value_or(0), 0)));
    return;
  }
  if (fallback_to_skip_ > 0 && w.name != "u") {
    --fallback_to_skip_;
    return;
  }
  if (w.name == "u") {
    group_.at_start = false;
    return apply_unit(w.number.value_or(0));
  }
  flush();
  if (apply_destination(w) || apply_break(w)) return;
  if (const char32_t c = symbol(w.name)) return add(c);
  const bool on = w.number.value_or(1) != 0;
  if (w.name == "uc") group_.fallback_characters = std::clamp(w.number.value_or(1), 0, 100);
  if (w.name == "deleted") group_.deleted = on;
  if (w.name == "intbl") group_.in_table = true;
  if (w.name == "pard") group_.in_table = false;
  if (w.name == "ansicpg" && on) code_page_ = static_cast<unsigned>(std::max(w.number.value_or(1252), 0));
  if (w.name == "mac") code_page_ = 10000;
  if (w.name == "pc") code_page_ = 437;
  if (w.name == "pca") code_page_ = 850;
  apply_font(w);
}

rich_text rtf_reader::read() {
  while (at_ < rtf_.size() && out_.size() + after_line_.size() + bytes_.size() < max_bytes_) {
    const char c = rtf_[at_];
    if (c == '{') {
      open_group();
    } else if (c == '}') {
      close_group();
    } else if (c == '\r' || c == '\n') {
      ++at_;
    } else if (c != '\\') {
      ++at_;
      take_byte(c);
    } else if (++at_ < rtf_.size()) {
      const char next = static_cast<char>(rtf_[at_] | 0x20);
      if (next >= 'a' && next <= 'z')
        apply(take_word());
      else
        take_symbol();
    }
  }
  flush();
  out_ += after_line_;
  return {std::move(out_), outer_.empty() || at_ < rtf_.size()};
}

}  // namespace

rich_text read_rich_text(std::string_view rtf, std::size_t max_bytes) {
  return rtf_reader(rtf, max_bytes).read();
}

}  // namespace extract
