#include "office.hpp"

#include <algorithm>
#include <charconv>
#include <vector>

#include "archive.hpp"
#include "xml.hpp"

namespace extract {
namespace {

constexpr std::size_t most_gap = 64;  // empty cells that are shown between two

std::string attribute(const xml_handler::attributes& with, std::string_view name) {
  const auto found = with.find(name);
  return found == with.end() ? std::string() : found->second;
}

std::size_t number_in(std::string_view text) {
  const std::size_t from = text.find_first_of("0123456789");
  std::size_t n = 0;
  if (from != std::string_view::npos) std::from_chars(text.data() + from, text.data() + text.size(), n);
  return n;
}

// Text with paragraphs and cells; shared by word processors and presentations.
class paragraphs : public xml_handler {
 public:
  paragraphs(std::string& out, std::size_t most) : out_(out), most_(most) {}
  bool full() const override { return out_.size() >= most_; }

 protected:
  void add(std::string_view text) {
    if (!full()) out_ += text;
  }
  void end_paragraph() { add(cells_ > 0 ? " " : "\n"); }
  void begin_cell() { ++cells_; }
  void end_cell() {
    --cells_;
    while (!out_.empty() && out_.back() == ' ') out_.pop_back();
    add("\t");
  }
  void end_row() {
    while (!out_.empty() && out_.back() == '\t') out_.pop_back();
    add(cells_ > 0 ? " " : "\n");
  }
  std::string& out_;
  const std::size_t most_;
  int cells_ = 0;
};

// WordprocessingML and DrawingML.
class ooxml_text final : public paragraphs {
 public:
  using paragraphs::paragraphs;
  void begin(std::string_view name, const attributes&) override {
    if (name == "t") ++in_text_;
    if (name == "tc") begin_cell();
    if (name == "tab" && in_text_ == 0 && runs_ > 0) add("\t");
    if (name == "br" || name == "cr") add(cells_ > 0 ? " " : "\n");
    if (name == "r") ++runs_;
  }
  void text(std::string_view text) override {
    if (in_text_ > 0) add(text);
  }
  void end(std::string_view name) override {
    if (name == "t") --in_text_;
    if (name == "r") --runs_;
    if (name == "p") end_paragraph();
    if (name == "tc") end_cell();
    if (name == "tr") end_row();
  }

 private:
  int in_text_ = 0, runs_ = 0;
};

class open_document final : public paragraphs {
 public:
  using paragraphs::paragraphs;
  void begin(std::string_view name, const attributes& with) override {
    if (name == "p" || name == "h") ++in_paragraph_;
    if (name == "tracked-changes") ++hidden_;
    if (name == "tab") add("\t");
    if (name == "line-break") add(cells_ > 0 ? " " : "\n");
    if (name == "s") add(std::string(std::clamp<std::size_t>(number_in(attribute(with, "c")), 1, 100), ' '));
    if (name == "table-cell" || name == "covered-table-cell") {
      begin_cell();
      repeated_ = number_in(attribute(with, "number-columns-repeated"));
      cell_at_ = out_.size();
    }
    if (name == "table") heading("Table", attribute(with, "name"));
    if (name == "page") heading("Page", attribute(with, "name"));
  }
  void text(std::string_view text) override {
    if (in_paragraph_ > 0 && hidden_ == 0) add(text);
  }
  void end(std::string_view name) override {
    if (name == "p" || name == "h") {
      --in_paragraph_;
      if (hidden_ == 0) end_paragraph();
    }
    if (name == "tracked-changes") --hidden_;
    if (name == "table-cell" || name == "covered-table-cell") {
      const bool empty = out_.size() == cell_at_;
      end_cell();
      // Sheets end in thousands of empty cells; a few between two others keep columns apart.
      if (empty && repeated_ > 1) add(std::string(std::min(repeated_ - 1, most_gap), '\t'));
      repeated_ = 0;
    }
    if (name == "table-row") end_row();
  }

 private:
  void heading(std::string_view what, const std::string& name) {
    if (cells_ == 0) add("--- " + std::string(what) + (name.empty() ? "" : ": " + name) + " ---\n");
  }
  int in_paragraph_ = 0, hidden_ = 0;
  std::size_t repeated_ = 0, cell_at_ = 0;
};

// xl/sharedStrings.xml
class shared_strings final : public xml_handler {
 public:
  std::vector<std::string> all;
  void begin(std::string_view name, const attributes&) override {
    if (name == "si") all.emplace_back();
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

// Names and parts of the sheets: xl/workbook.xml and its relationships.
class sheet_list final : public xml_handler {
 public:
  struct sheet {
    std::string name, id;
  };
  std::vector<sheet> sheets;
  std::map<std::string, std::string> targets;
  void begin(std::string_view name, const attributes& with) override {
    if (name == "sheet") sheets.push_back({attribute(with, "name"), attribute(with, "id")});
    if (name == "Relationship") targets.emplace(attribute(with, "Id"), attribute(with, "Target"));
  }
  void text(std::string_view) override {}
  void end(std::string_view) override {}
};

class sheet_cells final : public xml_handler {
 public:
  sheet_cells(std::string& out, std::size_t most, const std::vector<std::string>& strings)
      : out_(out), most_(most), strings_(strings) {}
  bool full() const override { return out_.size() >= most_; }
  void begin(std::string_view name, const attributes& with) override {
    if (name == "row") column_ = next_ = 0;
    if (name == "c") {
      type_ = attribute(with, "t");
      value_.clear();
      at_ = column_of(attribute(with, "r"));
      next_ = at_ + 1;
    }
    if (name == "v" || name == "t") ++in_value_;
  }
  void text(std::string_view text) override {
    if (in_value_ > 0 && value_.size() < most_) value_ += text;
  }
  void end(std::string_view name) override {
    if (name == "v" || name == "t") --in_value_;
    if (name == "c" && !value_.empty()) {
      if (type_ == "s") {
        const std::size_t n = number_in(value_);
        value_ = n < strings_.size() ? strings_[n] : std::string();
      }
      if (type_ == "b") value_ = value_ == "1" ? "TRUE" : "FALSE";
      std::replace(value_.begin(), value_.end(), '\n', ' ');
      std::replace(value_.begin(), value_.end(), '\t', ' ');
      if (at_ > column_) out_.append(std::min(at_ - column_, most_gap), '\t');
      column_ = std::max(at_, column_);
      out_ += value_;
    }
    if (name == "row" && !out_.empty() && out_.back() != '\n') out_ += '\n';
  }

 private:
  // "C7" -> 2; where nothing is said, the next one.
  std::size_t column_of(std::string_view reference) const {
    std::size_t n = 0;
    for (char c : reference) {
      if (c < 'A' || c > 'Z' || n > 100000) break;
      n = n * 26 + static_cast<std::size_t>(c - 'A' + 1);
    }
    return n == 0 ? next_ : n - 1;
  }
  std::string& out_;
  const std::size_t most_;
  const std::vector<std::string>& strings_;
  std::string type_, value_;
  std::size_t column_ = 0, at_ = 0, next_ = 0;  // written up to, of this cell, of the one after it
  int in_value_ = 0;
};

void read_part(const std::string& document, xml_handler& to, office_text& out) {
  if (!parse_xml(document, to) && out.problem.empty()) out.problem = "a part of it is damaged";
}

void read_docx(const members& all, std::size_t most, office_text& out) {
  const auto read = [&](std::string_view prefix) {
    for (const auto& [name, content] : all.content) {
      if (!name.starts_with(prefix)) continue;
      ooxml_text handler(out.text, most);
      read_part(content, handler, out);
    }
  };
  for (const char* part : {"word/header", "word/document.xml", "word/footnotes", "word/endnotes",
                           "word/comments.xml", "word/footer"})
    read(part);
}

void read_pptx(const members& all, std::size_t most, office_text& out) {
  std::vector<std::pair<std::size_t, const std::string*>> slides;
  for (const auto& [name, content] : all.content)
    if (name.starts_with("ppt/slides/slide")) slides.emplace_back(number_in(name), &content);
  std::stable_sort(slides.begin(), slides.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [n, content] : slides) {
    if (out.text.size() >= most) return;
    out.text += "--- Slide " + std::to_string(n) + " ---\n";
    ooxml_text handler(out.text, most);
    read_part(*content, handler, out);
    const auto notes = all.content.find("ppt/notesSlides/notesSlide" + std::to_string(n) + ".xml");
    if (notes == all.content.end()) continue;
    out.text += "Notes:\n";
    ooxml_text more(out.text, most);
    read_part(notes->second, more, out);
  }
}

void read_xlsx(const members& all, std::size_t most, office_text& out) {
  shared_strings strings;
  if (const auto part = all.content.find("xl/sharedStrings.xml"); part != all.content.end())
    read_part(part->second, strings, out);
  sheet_list list;
  for (const char* name : {"xl/workbook.xml", "xl/_rels/workbook.xml.rels"})
    if (const auto part = all.content.find(name); part != all.content.end()) read_part(part->second, list, out);
  for (const sheet_list::sheet& sheet : list.sheets) {
    if (out.text.size() >= most) return;
    std::string target = list.targets[sheet.id];
    if (target.starts_with("/")) target.erase(0, 1);
    else target = "xl/" + target;
    const auto part = all.content.find(target);
    if (part == all.content.end()) continue;
    out.text += "--- Sheet: " + sheet.name + " ---\n";
    sheet_cells handler(out.text, most, strings.all);
    read_part(part->second, handler, out);
  }
}

}  // namespace

office_text read_office(const std::string& path, std::size_t max_bytes) {
  office_text out;
  const members all = read_zip(path, [](std::string_view name) {
    const bool xml = name.ends_with(".xml") || name.ends_with(".rels");
    return name == "mimetype" || name == "content.xml" ||
           (xml && (name.starts_with("word/") || name.starts_with("ppt/slides/slide") ||
                    name.starts_with("ppt/notesSlides/notesSlide") || name.starts_with("xl/worksheets/") ||
                    name == "xl/sharedStrings.xml" || name == "xl/workbook.xml" ||
                    name == "xl/_rels/workbook.xml.rels"));
  });
  out.problem = all.problem;
  const auto has = [&](std::string_view prefix) {
    const auto first = all.content.lower_bound(prefix);
    return first != all.content.end() && first->first.starts_with(prefix);
  };
  const auto type = all.content.find("mimetype");
  if (type != all.content.end() && type->second.starts_with("application/vnd.oasis.opendocument") &&
      has("content.xml")) {
    out.kind = "opendocument";
    open_document handler(out.text, max_bytes);
    read_part(all.content.at("content.xml"), handler, out);
  } else if (has("word/document.xml")) {
    out.kind = "docx";
    read_docx(all, max_bytes, out);
  } else if (has("xl/workbook.xml")) {
    out.kind = "xlsx";
    read_xlsx(all, max_bytes, out);
  } else if (has("ppt/slides/")) {
    out.kind = "pptx";
    read_pptx(all, max_bytes, out);
  }
  return out;
}

}  // namespace extract
