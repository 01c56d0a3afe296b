#include "open_document.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <utility>

#include "cell_format.hpp"
#include "text_flow.hpp"

namespace extract {
namespace {

constexpr std::string_view media_type = "application/vnd.oasis.opendocument.";
constexpr std::size_t max_repeated_cells = 1024;  // repetitions of a cell
constexpr std::size_t max_equal_rows = 10000;  // repetitions of a row

std::size_t positive_number(const std::string& text) {
  std::size_t n = 1;
  std::from_chars(text.data(), text.data() + text.size(), n);
  return std::max<std::size_t>(n, 1);
}

enum class blocks { body, headers_and_footers };

class open_document_text final : public text_flow {
 public:
  open_document_text(std::string& out, std::size_t max_bytes, blocks which)
      : text_flow(out, max_bytes), which_(which) {}
  void begin(std::string_view name, const attributes& attrs) override;
  void text(std::string_view text) override {
    if (in_paragraph_ > 0 && shown() && (!in_annotation_metadata_ || in_author_)) add(text);
  }
  void end(std::string_view name) override;

 private:
  struct open_row {
    std::size_t begin = 0, repeated = 1;
  };
  struct open_cell {
    std::size_t begin = 0, repeated = 1;
    bool has_text = false, is_date = false;
    std::string value;  // shown instead of a missing text or of a date
  };
  bool shown() const { return hidden_ == 0 && (which_ == blocks::body || in_block_ > 0); }
  void heading(std::string_view what, const std::string& name) {
    if (!in_cell() && shown()) add("--- " + std::string(what) + (name.empty() ? "" : ": " + name) + " ---\n");
  }
  void begin_table_part(std::string_view name, const attributes& attrs);
  void end_table_part(std::string_view name);
  void end_table_cell();
  void end_table_row();

  const blocks which_;
  std::vector<open_row> rows_;
  std::vector<open_cell> open_cells_;
  std::vector<bool> boxes_;  // for each open text box: whether it is in a paragraph
  int in_paragraph_ = 0, hidden_ = 0, in_block_ = 0, notes_ = 0;
  bool in_annotation_metadata_ = false, in_author_ = false;
  bool has_rows_ = false;  // the table has rows with text
  bool blank_rows_ = false;  // blank rows followed the last row with text
};

// Tracked changes, phonetic guides, messages of forms, and the marks of notes, which this reader numbers itself.
bool is_hidden(std::string_view name) {
  return name == "tracked-changes" || name == "note-citation" || name == "ruby-text" || name == "content-validations";
}
bool is_description(std::string_view name) {
  return name == "title" || name == "desc";
}
bool is_cell(std::string_view name) {
  return name == "table-cell" || name == "covered-table-cell";
}
bool is_header_or_footer(std::string_view name) {
  return name.starts_with("header") || name.starts_with("footer");
}

// The text for a cell with a value but without text, as programs other than office suites often write it.
std::string value_of(const xml_handler::attributes& attrs) {
  if (std::string text = attribute(attrs, "string-value"); !text.empty()) return one_line(std::move(text));
  if (const std::string date = attribute(attrs, "date-value"); !date.empty()) return show_iso_date(date);
  for (const char* name : {"time-value", "boolean-value"})
    if (std::string value = attribute(attrs, name); !value.empty()) return value;
  if (const std::string value = attribute(attrs, "value"); !value.empty()) {
    number_format format;
    if (attribute(attrs, "value-type") == "percentage") format.kind = number_kind::percent;
    return show_number(value, format, date_system::from_1900);
  }
  // "of:=[.A1]+1"
  const std::string formula = attribute(attrs, "formula");
  return formula.substr(std::min(formula.find('='), formula.size()));
}

void open_document_text::begin_table_part(std::string_view name, const attributes& attrs) {
  if (name == "table") {
    heading("Table", attribute(attrs, "name"));
    blank_rows_ = false;
    has_rows_ = false;
  }
  if (name == "table-row")
    rows_.push_back({current_text().size(), positive_number(attribute(attrs, "number-rows-repeated"))});
  if (!is_cell(name)) return;
  begin_cell();
  open_cells_.push_back({current_text().size(), positive_number(attribute(attrs, "number-columns-repeated")), false,
                         attribute(attrs, "value-type") == "date", value_of(attrs)});
}

void open_document_text::begin(std::string_view name, const attributes& attrs) {
  if (which_ == blocks::headers_and_footers && is_header_or_footer(name)) ++in_block_;
  if (is_hidden(name)) ++hidden_;
  if (name == "p" || name == "h") ++in_paragraph_;
  if (name == "note" && shown()) add("[" + std::to_string(++notes_) + "]");
  if (name == "text-box") {
    boxes_.push_back(in_paragraph_ > 0);
    if (boxes_.back()) begin_aside();
  }
  if (name == "note-body" || name == "annotation") {
    begin_aside();
    if (name == "note-body" && shown()) add("[" + std::to_string(notes_) + "] ");
  }
  // An annotation begins with its author and date, before its first paragraph.
  if (name == "annotation") in_annotation_metadata_ = true;
  if (name == "p" || name == "list") in_annotation_metadata_ = false;
  in_author_ = in_annotation_metadata_ && name == "creator";
  // The alternative text of an image.
  if (in_paragraph_ > 0 && is_description(name)) begin_aside();
  if (in_paragraph_ > 0 && shown()) {
    if (name == "tab") tab();
    if (name == "line-break") line_break();
    if (name == "s") add(std::string(std::min<std::size_t>(positive_number(attribute(attrs, "c")), 100), ' '));
  }
  if (name == "page") heading("Page", attribute(attrs, "name"));
  if (name == "notes" && shown()) add("Notes:\n");
  begin_table_part(name, attrs);
}

void open_document_text::end_table_cell() {
  open_cell cell = std::move(open_cells_.back());
  open_cells_.pop_back();
  std::string& text = current_text();
  cell.begin = std::min(cell.begin, text.size());
  while (text.size() > cell.begin && text.back() == ' ') text.pop_back();
  // The text of a date is in a local notation, often without the century.
  if (cell.is_date && !cell.value.empty()) text.resize(cell.begin);
  if (text.size() == cell.begin && (cell.is_date || !cell.has_text) && shown()) add(cell.value);
  const std::string content = text.substr(cell.begin);
  end_cell();
  for (std::size_t n = std::min(cell.repeated, max_repeated_cells); n > 1 && !full(); --n) {
    add(content);
    add("\t");
  }
}

void open_document_text::end_table_row() {
  const open_row row = rows_.back();
  rows_.pop_back();
  std::string& text = current_text();
  const std::size_t begin = std::min(row.begin, text.size());
  while (text.size() > begin && text.back() == '\t') text.pop_back();
  if (text.size() == begin) {
    blank_rows_ = has_rows_;
    return;
  }
  // An empty line separates tables that are below each other.
  if (blank_rows_ && !in_cell()) text.insert(begin, "\n");
  const std::string content = text.substr(begin + (blank_rows_ && !in_cell() ? 1 : 0));
  blank_rows_ = false;
  has_rows_ = true;
  end_row();
  const std::size_t equal = std::min(row.repeated, max_equal_rows);
  for (std::size_t n = 1; n < equal && !full(); ++n) {
    add(content);
    end_row();
  }
  if (row.repeated > equal) add("[" + std::to_string(row.repeated - equal) + " more rows are the same]\n");
}

void open_document_text::end_table_part(std::string_view name) {
  if (is_cell(name) && !open_cells_.empty()) end_table_cell();
  if (name == "table-row" && !rows_.empty()) end_table_row();
}

void open_document_text::end(std::string_view name) {
  if (name == "p" || name == "h") {
    --in_paragraph_;
    if (shown()) end_paragraph();
    if (!open_cells_.empty()) open_cells_.back().has_text = true;
  }
  if (in_paragraph_ > 0 && is_description(name)) end_aside();
  if (in_author_ && name == "creator" && shown()) add(": ");
  in_author_ = false;
  if (name == "note-body" || name == "annotation") end_aside();
  if (name == "annotation") in_annotation_metadata_ = false;
  if (name == "text-box" && !boxes_.empty()) {
    if (boxes_.back()) end_aside();
    boxes_.pop_back();
  }
  if (is_hidden(name)) --hidden_;
  end_table_part(name);
  if (which_ == blocks::headers_and_footers && is_header_or_footer(name)) --in_block_;
}

// Reads the media type and whether the content is encrypted.
class manifest final : public xml_handler {
 public:
  bool encrypted = false;
  std::string type;  // of the whole package
  void begin(std::string_view name, const attributes& attrs) override {
    if (name == "file-entry") {
      part_ = normal_part_name(attribute(attrs, "full-path"));
      if (part_.empty()) type = attribute(attrs, "media-type");
    }
    // OpenDocument 1.4 and LibreOffice can encrypt the package as a whole.
    if (name == "encryption-data") encrypted = encrypted || part_ == "content.xml" || part_ == "encrypted-package";
  }
  void text(std::string_view) override {}
  void end(std::string_view) override {}

 private:
  std::string part_;
};

// The embedded formulas, charts and documents: "Object 1/content.xml".
std::vector<std::string> embedded_parts(const package& in) {
  std::vector<std::string> out;
  for (const std::string& name : in.names())
    if (name.starts_with("object ") && name.ends_with("/content.xml") && std::count(name.begin(), name.end(), '/') == 1)
      out.push_back(name);
  return out;
}

void read_blocks(const package& in, const std::string& part, blocks which, std::size_t max_bytes, office_text& out) {
  open_document_text handler(out.text, max_bytes, which);
  read_part(in, part, handler, out);
}

}  // namespace

bool read_open_document(package& in, std::size_t max_bytes, office_text& out) {
  manifest about;
  if (in.part("meta-inf/manifest.xml") != nullptr) read_part(in, "meta-inf/manifest.xml", about, out);
  const std::string* mime = in.part("mimetype");
  const std::string type = mime != nullptr ? *mime : about.type;
  const bool encrypted = about.encrypted && (in.has("content.xml") || in.has("encrypted-package"));
  if (!type.starts_with(media_type) || (!in.has("content.xml") && !encrypted)) return false;
  out.kind = "opendocument";
  if (encrypted) {
    out.problem = "it is encrypted";
    return true;
  }
  const std::vector<std::string> objects = embedded_parts(in);
  std::set<std::string> wanted{"content.xml", "styles.xml"};
  wanted.insert(objects.begin(), objects.end());
  in.load(wanted);
  const bool is_text = type.compare(media_type.size(), 4, "text") == 0;
  read_blocks(in, "content.xml", blocks::body, max_bytes, out);
  for (const std::string& object : objects)
    if (out.text.size() < max_bytes) read_blocks(in, object, blocks::body, max_bytes, out);
  // Sheets and slides only have generated headers and footers ("Page 1/99").
  if (is_text && out.text.size() < max_bytes)
    read_blocks(in, "styles.xml", blocks::headers_and_footers, max_bytes, out);
  return true;
}

}  // namespace extract
