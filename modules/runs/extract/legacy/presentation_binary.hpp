// Reads presentations of PowerPoint 97 to 2003 ([MS-PPT]). Pure.
#pragma once
#include <cstddef>
#include <string_view>

#include "office.hpp"

namespace extract {

// `stream`: the stream "PowerPoint Document"; `current_user`: the stream "Current User", which contains the offset of
// the last edit.
void read_presentation_binary(std::string_view stream, std::string_view current_user, std::size_t max_bytes,
                              office_text& out);

}  // namespace extract
