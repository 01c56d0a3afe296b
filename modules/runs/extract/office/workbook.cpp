#include "workbook.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "cell_format.hpp"
#include "ooxml_text.hpp"

namespace extract {
namespace {

constexpr std::size_t max_gap = 1024;  // empty cells shown between two cells
constexpr std::size_t max_formats = 65536;

bool is_number(std::string_view text, std::size_t& out) {
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), out);
  return problem == std::errc() && end == text.data() + text.size();
}

std::size_t number_or(const std::string& text, std::size_t default_value) {
  std::size_t n = 0;
  return is_number(text, n) ? n : default_value;
}

bool is_true(const std::string& text) {
  return text == "1" || text == "true";
}

// Decodes "_xHHHH_", the form of characters that XML cannot represent (ECMA-376 part 1, 22.9.2.19).
std::string without_escapes(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    unsigned code = 0;
    const std::string_view candidate = text.substr(at, 7);
    const bool escape =
        candidate.size() == 7 && candidate.starts_with("_x") && candidate.ends_with('_') &&
        std::from_chars(candidate.data() + 2, candidate.data() + 6, code, 16).ptr == candidate.data() + 6;
    if (!escape) {
      out += text[at++];
      continue;
    }
    // Only characters that occur in text: line ends, tabs, the escaped underscore, and characters that are escaped
    // unnecessarily.
    if (code == '\r' || code == '\n' || code == '\t')
      out += ' ';
    else if (code >= 0x20 && code < 0x7F)
      out += static_cast<char>(code);
    at += 7;
  }
  return out;
}

class shared_strings final : public xml_handler {
 public:
  std::vector<std::string> all;
  void begin(std::string_view name, const attributes&) override {
    if (name == "si" || name == "sstItem") all.emplace_back();  // "sstItem": in a preview version of Excel 2007
    if (name == "rPh") ++phonetic_;
    if (name == "t") ++in_text_;
  }
  void text(std::string_view text) override {
    if (in_text_ > 0 && phonetic_ == 0 && !all.empty()) all.back() += text;
  }
  void end(std::string_view name) override {
    if (name == "rPh") --phonetic_;
    if (name == "t") --in_text_;
  }

 private:
  int in_text_ = 0, phonetic_ = 0;
};

// The number formats of the cell styles.
class style_formats final : public xml_handler {
 public:
  std::vector<number_format> of_style;
  void begin(std::string_view name, const attributes& attrs) override {
    if (name == "cellXfs") ++in_styles_;
    if (name == "numFmt" && of_style.empty())
      codes_[number_or(attribute(attrs, "numFmtId"), 0)] = parse_number_format(attribute(attrs, "formatCode"));
    if (name == "xf" && in_styles_ > 0 && of_style.size() < max_formats) {
      const std::size_t id = number_or(attribute(attrs, "numFmtId"), 0);
      const auto own = codes_.find(id);
      of_style.push_back(own != codes_.end() ? own->second : builtin_number_format(static_cast<unsigned>(id)));
    }
  }
  void text(std::string_view) override {}
  void end(std::string_view name) override {
    if (name == "cellXfs") --in_styles_;
  }

 private:
  std::map<std::size_t, number_format> codes_;
  int in_styles_ = 0;
};

class sheet_list final : public xml_handler {
 public:
  struct sheet {
    std::string name, id;
    bool hidden = false;
  };
  std::vector<sheet> sheets;
  date_system dates = date_system::from_1900;
  void begin(std::string_view name, const attributes& attrs) override {
    if (name == "workbookPr" && is_true(attribute(attrs, "date1904"))) dates = date_system::from_1904;
    if (name != "sheet") return;
    const std::string state = attribute(attrs, "state");
    sheets.push_back({attribute(attrs, "name"), attribute(attrs, "id"), state == "hidden" || state == "veryHidden"});
  }
  void text(std::string_view) override {}
  void end(std::string_view) override {}
};

struct workbook_parts {
  shared_strings strings;
  style_formats formats;
  sheet_list list;
};

class sheet_cells final : public xml_handler {
 public:
  sheet_cells(std::string& out, std::size_t max_bytes, const workbook_parts& book)
      : out_(out), max_bytes_(max_bytes), book_(book) {}
  bool full() const override { return out_.size() >= max_bytes_; }
  void begin(std::string_view name, const attributes& attrs) override {
    if (name == "row") {
      column_ = next_ = 0;
      row_began_ = out_.size();
    }
    if (name == "c") {
      type_ = attribute(attrs, "t");
      style_ = number_or(attribute(attrs, "s"), 0);
      value_.clear();
      formula_.clear();
      has_formula_ = false;
      at_ = column_of(attribute(attrs, "r"));
      next_ = at_ + 1;
    }
    if (name == "v" || name == "t") ++in_value_;
    if (name == "f") {
      ++in_formula_;
      has_formula_ = true;
    }
    if (name == "rPh") ++phonetic_;
  }
  void text(std::string_view text) override {
    std::string* to = in_formula_ > 0 ? &formula_ : in_value_ > 0 && phonetic_ == 0 ? &value_ : nullptr;
    if (to != nullptr && to->size() < max_bytes_) *to += text;
  }
  void end(std::string_view name) override {
    if (name == "v" || name == "t") --in_value_;
    if (name == "f") --in_formula_;
    if (name == "rPh") --phonetic_;
    if (name == "c") write(displayed_text());
    if (name == "row" && out_.size() > row_began_) out_ += '\n';
  }

 private:
  std::string displayed_text() const {
    if (type_ == "s") {
      const std::size_t n = number_or(value_, book_.strings.all.size());
      return n < book_.strings.all.size() ? without_escapes(book_.strings.all[n]) : std::string();
    }
    // An empty value of type "str" is a result; for other types, the program that saved the workbook did not compute
    // the formula.
    if (value_.empty() && has_formula_ && type_ != "str") return formula_text();
    if (type_ == "b") return is_true(value_) ? "TRUE" : "FALSE";
    if (type_ == "str" || type_ == "inlineStr") return without_escapes(value_);
    if (type_ == "d") return show_iso_date(value_);
    if (type_ == "e" || value_.empty()) return value_;
    const number_format plain;
    return show_number(value_, style_ < book_.formats.of_style.size() ? book_.formats.of_style[style_] : plain,
                       book_.list.dates);
  }
  // Only the first cell of a shared formula contains the text of the formula.
  std::string formula_text() const {
    if (formula_.empty()) return "(formula without a value)";
    std::string out = "=" + formula_;
    for (const std::string_view future : {"_xlfn.", "_xlws."})
      for (std::size_t at; (at = out.find(future)) != out.npos;) out.erase(at, future.size());
    return out;
  }
  void write(std::string text) {
    if (text.empty()) return;
    if (at_ > column_) out_.append(std::min(at_ - column_, max_gap), '\t');
    column_ = std::max(at_, column_);
    out_ += one_line(std::move(text));
  }
  // "C7" -> 2; without a reference, the next column.
  std::size_t column_of(std::string_view reference) const {
    std::size_t n = 0;
    for (char c : reference) {
      const char upper = c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
      if (upper < 'A' || upper > 'Z' || n > 100000) break;
      n = n * 26 + static_cast<std::size_t>(upper - 'A' + 1);
    }
    return n == 0 ? next_ : n - 1;
  }
  std::string& out_;
  const std::size_t max_bytes_;
  const workbook_parts& book_;
  std::string type_, value_, formula_;
  bool has_formula_ = false;
  std::size_t style_ = 0, row_began_ = 0;
  std::size_t column_ = 0, at_ = 0, next_ = 0;  // last written column, column of this cell, of the next one
  int in_value_ = 0, in_formula_ = 0, phonetic_ = 0;
};

// Comments on cells: "B2: checked by Ann"
class cell_comments final : public xml_handler {
 public:
  cell_comments(std::string& out, std::size_t max_bytes) : out_(out), max_bytes_(max_bytes) {}
  bool full() const override { return out_.size() >= max_bytes_; }
  void begin(std::string_view name, const attributes& attrs) override {
    if (name == "comment") {
      cell_ = attribute(attrs, "ref");
      text_.clear();
    }
    if (name == "t") ++in_text_;
  }
  void text(std::string_view text) override {
    if (in_text_ > 0 && text_.size() < max_bytes_) text_ += text;
  }
  void end(std::string_view name) override {
    if (name == "t") --in_text_;
    if (name == "comment" && !text_.empty()) out_ += cell_ + ": " + one_line(without_escapes(text_)) + "\n";
  }

 private:
  std::string& out_;
  const std::size_t max_bytes_;
  std::string cell_, text_;
  int in_text_ = 0;
};

// The comments, drawings and charts of a sheet.
std::vector<relationship> relations_of_sheet(const package& in, const std::string& sheet) {
  std::vector<relationship> out;
  for (relationship& r : in.relationships_of(sheet)) {
    if (r.type != "comments" && r.type != "drawing") continue;
    if (r.type == "drawing")
      for (relationship& inner : in.relationships_of(r.part))
        if (is_drawing_type(inner.type)) out.push_back(std::move(inner));
    out.push_back(std::move(r));
  }
  return out;
}

void read_drawings_and_comments(const package& in, const std::vector<relationship>& relations, std::size_t max_bytes,
                                office_text& out) {
  for (const relationship& r : relations) {
    if (out.text.size() >= max_bytes) return;
    if (r.type == "comments") {
      cell_comments handler(out.text, max_bytes);
      read_part(in, r.part, handler, out);
    }
    if (r.type == "drawing") {
      ooxml_text handler(out.text, max_bytes);
      read_part(in, r.part, handler, out);
    }
  }
  read_drawings(in, relations, max_bytes, out);
}

}  // namespace

void read_workbook(package& in, const std::string& main, std::size_t max_bytes, office_text& out) {
  workbook_parts book;
  read_part(in, main, book.list, out);
  const std::vector<relationship> relations = in.relationships_of(main);
  const std::string folder = main.substr(0, main.rfind('/') == main.npos ? 0 : main.rfind('/') + 1);
  const std::string strings = related(relations, "sharedstrings").value_or(folder + "sharedstrings.xml");
  const std::string styles = related(relations, "styles").value_or(folder + "styles.xml");
  std::map<std::string, std::string> parts;
  for (const relationship& r : relations) parts.emplace(r.id, r.part);
  std::set<std::string> wanted{strings, styles};
  std::vector<std::string> part_of_sheet;
  for (const sheet_list::sheet& sheet : book.list.sheets) {
    // Without a relationship, as in a damaged file, a sheet is expected under the name that Excel uses.
    const auto named = parts.find(sheet.id);
    const std::string& part = part_of_sheet.emplace_back(
        named != parts.end() ? named->second
                             : folder + "worksheets/sheet" + std::to_string(part_of_sheet.size() + 1) + ".xml");
    wanted.insert(part);
    for (const relationship& r : relations_of_sheet(in, part)) wanted.insert(r.part);
  }
  in.load(wanted);
  read_part(in, strings, book.strings, out);
  read_part(in, styles, book.formats, out);
  for (std::size_t n = 0; n < book.list.sheets.size(); ++n) {
    if (out.text.size() >= max_bytes) return;
    const sheet_list::sheet& sheet = book.list.sheets[n];
    const std::string& part = part_of_sheet[n];
    if (in.part(part) == nullptr) continue;
    out.text += "--- Sheet: " + sheet.name + (sheet.hidden ? " (hidden)" : "") + " ---\n";
    sheet_cells handler(out.text, max_bytes, book);
    read_part(in, part, handler, out);
    read_drawings_and_comments(in, relations_of_sheet(in, part), max_bytes, out);
  }
}

}  // namespace extract
