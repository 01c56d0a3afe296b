#include "reading.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "cell_format.hpp"
#include "ooxml_text.hpp"

namespace extract {
namespace {

// Reads titles, and the name and points of each series as a line of cells. Only the values cached in the document are
// read, not the workbook embedded for editing.
class chart_text final : public xml_handler {
 public:
  chart_text(std::string& out, std::size_t max_bytes) : out_(out), max_bytes_(max_bytes) {}
  bool full() const override { return out_.size() + pending_bytes_ >= max_bytes_; }
  void begin(std::string_view name, const attributes& attrs) override {
    if (name == "date1904" && attribute(attrs, "val") != "0") dates_ = date_system::from_1904;
    if (name == "numCache" || name == "strCache") format_ = {};
    in_format_ = name == "formatCode";
    if (name == "ser") series_ = {};
    if (name == "tx" || name == "cat" || name == "xVal") values_ = name == "tx" ? &series_.name : &series_.categories;
    if (name == "val" || name == "yVal" || name == "bubbleSize") values_ = &series_.points;
    if (name == "t" || (name == "v" && values_ != nullptr)) ++in_text_;
  }
  void text(std::string_view text) override {
    if (in_text_ == 0 && !in_format_) return;
    line_ += text;
    pending_bytes_ += text.size();
  }
  void end(std::string_view name) override {
    if (name == "t" || (name == "v" && values_ != nullptr)) --in_text_;
    if (in_format_) format_ = parse_number_format(std::exchange(line_, {}));
    in_format_ = false;
    if (name == "pt" || (name == "v" && in_text_ == 0)) take_value();
    if (name == "p" && !line_.empty()) {
      out_ += line_ + "\n";
      line_.clear();
    }
    if (name == "tx" || name == "cat" || name == "xVal" || name == "val" || name == "yVal" || name == "bubbleSize")
      values_ = nullptr;
    if (name == "ser") write_series();
  }

 private:
  struct series {
    std::string name, categories, points;  // each value follows a tab
  };
  void take_value() {
    if (values_ == nullptr || line_.empty()) return;
    *values_ += "\t" + one_line(show_number(line_, format_, dates_));
    ++pending_bytes_;
    line_.clear();
  }
  void write_series() {
    // Written once, because the series of a chart usually have the same categories.
    if (!series_.categories.empty() && series_.categories != categories_) out_ += series_.categories + "\n";
    categories_ = series_.categories;
    if (!series_.name.empty() || !series_.points.empty())
      out_ += series_.name.substr(std::min<std::size_t>(1, series_.name.size())) + series_.points + "\n";
    pending_bytes_ = 0;
  }
  std::string& out_;
  const std::size_t max_bytes_;
  std::string line_, categories_;
  series series_;
  std::string* values_ = nullptr;
  number_format format_;  // format of the current values
  date_system dates_ = date_system::from_1900;
  bool in_format_ = false;
  std::size_t pending_bytes_ = 0;  // not written to out_ yet
  int in_text_ = 0;
};

// "word/header1.xml" in the folder "word/" -> "header"
std::string stem_in(std::string_view folder, std::string_view name) {
  if (!name.starts_with(folder) || !name.ends_with(".xml")) return {};
  name.remove_prefix(folder.size());
  return std::string(name.substr(0, name.find_first_not_of("abcdefghijklmnopqrstuvwxyz")));
}

}  // namespace

void read_part(const package& in, const std::string& part, xml_handler& to, office_text& out) {
  const std::string* xml = in.part(part);
  if (xml != nullptr && !parse_xml(*xml, to) && out.problem.empty()) out.problem = "a part of it is damaged";
}

std::string one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
  return text;
}

std::vector<relationship> relationships_or_siblings(const package& in, const std::string& part) {
  std::vector<relationship> out = in.relationships_of(part);
  if (!out.empty()) return out;
  const std::size_t slash = part.rfind('/');
  const std::string folder = part.substr(0, slash == part.npos ? 0 : slash + 1);
  for (const std::string& name : in.names())
    if (std::string type = stem_in(folder, name); !type.empty() && name != part)
      out.push_back({"", std::move(type), name});
  return out;
}

bool is_drawing_type(const std::string& type) {
  return type == "chart" || type == "chartex" || type == "diagramdata";
}

void read_drawings(const package& in, const std::vector<relationship>& of, std::size_t max_bytes, office_text& out) {
  std::set<std::string> seen;
  for (const relationship& r : of) {
    if (!is_drawing_type(r.type) || out.text.size() >= max_bytes || !seen.insert(r.part).second) continue;
    if (r.type == "diagramdata") {
      ooxml_text handler(out.text, max_bytes);
      read_part(in, r.part, handler, out);
    } else {
      chart_text handler(out.text, max_bytes);
      read_part(in, r.part, handler, out);
    }
  }
}

}  // namespace extract
