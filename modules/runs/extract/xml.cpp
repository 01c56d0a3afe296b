#include "xml.hpp"

#include <expat.h>

#include <memory>

namespace extract {
namespace {

constexpr std::size_t deepest = 1000;

std::string_view local(const char* name) {
  const std::string_view whole(name);
  const std::size_t colon = whole.rfind(':');
  return colon == std::string_view::npos ? whole : whole.substr(colon + 1);
}

struct reading {
  xml_handler& to;
  XML_Parser parser;
  std::size_t depth = 0;
  bool enough = false;
  void stop() { XML_StopParser(parser, XML_FALSE); }
};

void XMLCALL on_begin(void* p, const char* name, const char** with) {
  auto& r = *static_cast<reading*>(p);
  if (++r.depth > deepest) return r.stop();
  xml_handler::attributes attributes;
  for (; *with != nullptr; with += 2) attributes.emplace(local(with[0]), with[1]);
  r.to.begin(local(name), attributes);
  if (r.to.full()) {
    r.enough = true;
    r.stop();
  }
}
void XMLCALL on_end(void* p, const char* name) {
  auto& r = *static_cast<reading*>(p);
  --r.depth;
  r.to.end(local(name));
}
void XMLCALL on_text(void* p, const char* text, int n) {
  static_cast<reading*>(p)->to.text({text, static_cast<std::size_t>(n)});
}
void XMLCALL on_doctype(void* p, const char*, const char*, const char*, int) {
  static_cast<reading*>(p)->stop();
}

}  // namespace

bool parse_xml(std::string_view document, xml_handler& to) {
  const std::unique_ptr<XML_ParserStruct, void (*)(XML_Parser)> parser(XML_ParserCreate(nullptr), &XML_ParserFree);
  if (!parser) return false;
  reading r{to, parser.get()};
  XML_SetUserData(parser.get(), &r);
  XML_SetElementHandler(parser.get(), &on_begin, &on_end);
  XML_SetCharacterDataHandler(parser.get(), &on_text);
  XML_SetStartDoctypeDeclHandler(parser.get(), &on_doctype);
  constexpr std::size_t step = 1 << 20;
  bool good = true;
  do {
    const std::string_view piece = document.substr(0, step);
    document.remove_prefix(piece.size());
    good = XML_Parse(parser.get(), piece.data(), static_cast<int>(piece.size()), document.empty()) == XML_STATUS_OK;
  } while (good && !document.empty());
  return good || r.enough;
}

}  // namespace extract
