// XML as events, by expat. A document type with declarations is refused: no format read here has one, and entities grow there. External
// ones are not read.
#pragma once
#include <map>
#include <string>
#include <string_view>

namespace extract {

class xml_handler {
 public:
  using attributes = std::map<std::string, std::string, std::less<>>;
  // Names without their prefix: "p" for "w:p". Of two attributes "id" and "r:id" the second is ":id".
  virtual void begin(std::string_view name, const attributes& with) = 0;
  virtual void text(std::string_view text) = 0;
  virtual void end(std::string_view name) = 0;
  // True: enough was read.
  virtual bool full() const { return false; }

 protected:
  ~xml_handler() = default;
};

// Empty: the element does not have it.
std::string attribute(const xml_handler::attributes& with, std::string_view name);

// False: not well-formed; the handler got what came before. Encodings that expat does not know are converted first.
bool parse_xml(std::string_view document, xml_handler& to);

}  // namespace extract
