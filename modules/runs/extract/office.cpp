#include "office.hpp"

#include <array>
#include <utility>

#include "office/open_document.hpp"
#include "office/package.hpp"
#include "office/presentation.hpp"
#include "office/word.hpp"
#include "office/workbook.hpp"
#include "xml.hpp"

namespace extract {
namespace {

class root_element final : public xml_handler {
 public:
  std::string name;
  void begin(std::string_view element, const attributes&) override {
    if (name.empty()) name = element;
  }
  void text(std::string_view) override {}
  void end(std::string_view) override {}
  bool full() const override { return !name.empty(); }
};

// Finds the main part by its content type, for packages without a relationship to it.
class content_types final : public xml_handler {
 public:
  std::string main;
  void begin(std::string_view name, const attributes& attrs) override {
    if (name != "Override" || !main.empty()) return;
    const std::string type = attribute(attrs, "ContentType");
    if (type.find(".main+xml") != type.npos) main = normal_part_name(attribute(attrs, "PartName"));
  }
  void text(std::string_view) override {}
  void end(std::string_view) override {}
};

constexpr std::array<std::string_view, 3> usual_parts{"word/document.xml", "xl/workbook.xml", "ppt/presentation.xml"};

// Empty: no main part exists.
std::string main_part(const package& in) {
  for (const relationship& r : in.relationships_of(""))
    if (r.type == "officedocument" && in.has(r.part)) return r.part;
  content_types types;
  if (const std::string* xml = in.part("[content_types].xml")) parse_xml(*xml, types);
  if (in.has(types.main)) return types.main;
  for (const std::string_view name : usual_parts)
    if (in.has(name)) return std::string(name);
  return {};
}

bool has_slides(const package& in) {
  const auto first = in.names().lower_bound("ppt/slides/");
  return first != in.names().end() && first->starts_with("ppt/slides/");
}

void read_ooxml(package& in, std::size_t max_bytes, office_text& out) {
  const std::string main = main_part(in);
  if (main.ends_with(".bin")) {
    out.problem = "it is a binary workbook (xlsb), which cannot be read";
    return;
  }
  if (!main.empty()) in.load({main});
  root_element root;
  if (const std::string* xml = in.part(main)) parse_xml(*xml, root);
  // A main part with another root element may be damaged; its kind is determined by its folder.
  const bool known = root.name == "document" || root.name == "workbook" || root.name == "presentation";
  const auto is = [&](std::string_view element, std::string_view folder) {
    return known ? root.name == element : main.starts_with(folder);
  };
  if (is("document", "word/")) {
    out.kind = "docx";
    read_word(in, main, max_bytes, out);
  } else if (is("workbook", "xl/")) {
    out.kind = "xlsx";
    read_workbook(in, main, max_bytes, out);
  } else if (is("presentation", "ppt/") || (main.empty() && has_slides(in))) {
    out.kind = "pptx";
    read_presentation(in, main, max_bytes, out);
  }
}

}  // namespace

office_text read_office(const std::string& path, std::size_t max_bytes) {
  office_text out;
  package in(path);
  if (!read_open_document(in, max_bytes, out)) read_ooxml(in, max_bytes, out);
  if (!in.problem().empty() && out.problem != "it is encrypted") out.problem = in.problem();
  return out;
}

}  // namespace extract
