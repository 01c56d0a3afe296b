// Parses XML into events using expat. A document type with declarations is rejected: none of the supported formats has
// one, and entities can expand without limit. External document types are not read.
#pragma once
#include <map>
#include <string>
#include <string_view>

namespace extract {

class xml_handler {
 public:
  using attributes = std::map<std::string, std::string, std::less<>>;
  // Names have no prefix: "p" for "w:p". If an element has both "id" and "r:id", the latter is named ":id".
  virtual void begin(std::string_view name, const attributes& attrs) = 0;
  virtual void text(std::string_view text) = 0;
  virtual void end(std::string_view name) = 0;
  // True: stop parsing.
  virtual bool full() const { return false; }

 protected:
  ~xml_handler() = default;
};

// Empty: the element does not have the attribute.
std::string attribute(const xml_handler::attributes& attrs, std::string_view name);

// False: the document is not well-formed; the handler received the part before the error. Encodings that expat does not
// support are converted first.
bool parse_xml(std::string_view document, xml_handler& to);

}  // namespace extract
