// What the readers of all formats share: parts that are missing or damaged, and drawings.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "office_text.hpp"
#include "package.hpp"
#include "xml.hpp"

namespace extract {

// A part that is not there is no problem: it may be optional.
void read_part(const package& in, const std::string& part, xml_handler& to, office_text& out);

// A cell is one field of a line: line ends and tabs become blanks.
std::string one_line(std::string text);

// The relationships of a part. Without any, as programs write that leave them out: the parts beside it (in its folder) by the names
// that they usually have.
std::vector<relationship> relationships_or_neighbours(const package& in, const std::string& part);

// The texts of charts and diagrams that belong to a part.
bool is_drawing_type(const std::string& type);
void read_drawings(const package& in, const std::vector<relationship>& of, std::size_t most, office_text& out);

}  // namespace extract
