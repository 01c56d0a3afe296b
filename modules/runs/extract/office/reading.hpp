// Shared by the readers of all formats: reading optional or damaged parts, and drawings.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "office_text.hpp"
#include "package.hpp"
#include "xml.hpp"

namespace extract {

// A missing part is not a problem because it may be optional.
void read_part(const package& in, const std::string& part, xml_handler& to, office_text& out);

// Replaces line ends and tabs by spaces, because a cell is one field of a line.
std::string one_line(std::string text);

// The relationships of a part. If there are none, because some programs omit them: the parts in the same folder, with
// types derived from their names.
std::vector<relationship> relationships_or_siblings(const package& in, const std::string& part);

// Reads the text of charts and diagrams that belong to a part.
bool is_drawing_type(const std::string& type);
void read_drawings(const package& in, const std::vector<relationship>& of, std::size_t max_bytes, office_text& out);

}  // namespace extract
