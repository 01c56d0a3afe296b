// XML as events, by expat. A document type is refused: none of the formats read here has one, and it is
// where entities grow.
#pragma once
#include <map>
#include <string>
#include <string_view>

namespace extract {

class xml_handler {
 public:
  using attributes = std::map<std::string, std::string, std::less<>>;
  // Names without their prefix: "p" for "w:p".
  virtual void begin(std::string_view name, const attributes& with) = 0;
  virtual void text(std::string_view text) = 0;
  virtual void end(std::string_view name) = 0;
  // True: enough was read.
  virtual bool full() const { return false; }

 protected:
  ~xml_handler() = default;
};

// False: not well-formed; what came before was handed over.
bool parse_xml(std::string_view document, xml_handler& to);

}  // namespace extract
