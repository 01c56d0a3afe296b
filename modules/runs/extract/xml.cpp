#include "xml.hpp"

#include <expat.h>

#include <memory>
#include <utility>

#include "encoding.hpp"
#include "transcode.hpp"

namespace extract {
namespace {

constexpr std::size_t max_depth = 1000;

std::string_view local(const char* name) {
  const std::string_view whole(name);
  const std::size_t colon = whole.rfind(':');
  return colon == std::string_view::npos ? whole : whole.substr(colon + 1);
}

void add_attribute(xml_handler::attributes& to, const char* name, const char* value) {
  const std::string_view local_name = local(name);
  const auto [at, inserted] = to.emplace(local_name, value);
  if (inserted) return;
  const bool prefixed = local_name.data() != name;
  std::string& other = to[":" + std::string(local_name)];
  other = prefixed ? value : std::exchange(at->second, value);
}

struct parse_state {
  xml_handler& to;
  XML_Parser parser;
  std::size_t depth = 0;
  bool stopped_by_handler = false;
  void stop() { XML_StopParser(parser, XML_FALSE); }
};

void XMLCALL on_begin(void* p, const char* name, const char** attrs) {
  auto& state = *static_cast<parse_state*>(p);
  if (++state.depth > max_depth) return state.stop();
  xml_handler::attributes attributes;
  for (; *attrs != nullptr; attrs += 2) add_attribute(attributes, attrs[0], attrs[1]);
  state.to.begin(local(name), attributes);
  if (state.to.full()) {
    state.stopped_by_handler = true;
    state.stop();
  }
}
void XMLCALL on_end(void* p, const char* name) {
  auto& state = *static_cast<parse_state*>(p);
  --state.depth;
  state.to.end(local(name));
}
void XMLCALL on_text(void* p, const char* text, int n) {
  static_cast<parse_state*>(p)->to.text({text, static_cast<std::size_t>(n)});
}
void XMLCALL on_doctype(void* p, const char*, const char*, const char*, int has_declarations) {
  if (has_declarations != 0) static_cast<parse_state*>(p)->stop();
}

using parser_handle = std::unique_ptr<XML_ParserStruct, void (*)(XML_Parser)>;

// `encoding`: nullptr: the encoding of the document.
XML_Error parse(std::string_view document, xml_handler& to, const char* encoding) {
  const parser_handle parser(XML_ParserCreate(encoding), &XML_ParserFree);
  if (!parser) return XML_ERROR_NO_MEMORY;
  parse_state state{to, parser.get()};
  XML_SetUserData(parser.get(), &state);
  XML_SetElementHandler(parser.get(), &on_begin, &on_end);
  XML_SetCharacterDataHandler(parser.get(), &on_text);
  XML_SetStartDoctypeDeclHandler(parser.get(), &on_doctype);
  constexpr std::size_t step = 1 << 20;
  do {
    const std::string_view piece = document.substr(0, step);
    document.remove_prefix(piece.size());
    if (XML_Parse(parser.get(), piece.data(), static_cast<int>(piece.size()), document.empty()) != XML_STATUS_OK)
      return state.stopped_by_handler ? XML_ERROR_NONE : XML_GetErrorCode(parser.get());
  } while (!document.empty());
  return XML_ERROR_NONE;
}

}  // namespace

std::string attribute(const xml_handler::attributes& attrs, std::string_view name) {
  const auto found = attrs.find(name);
  return found == attrs.end() ? std::string() : found->second;
}

bool parse_xml(std::string_view document, xml_handler& to) {
  XML_Error error = parse(document, to, nullptr);
  // The error is reported at the declaration, before the first element.
  if (error == XML_ERROR_UNKNOWN_ENCODING)
    if (const auto text = to_utf8(document, declared_encoding(document), false)) error = parse(*text, to, "UTF-8");
  return error == XML_ERROR_NONE;
}

}  // namespace extract
