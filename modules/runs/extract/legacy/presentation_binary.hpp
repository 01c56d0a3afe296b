// Presentations of PowerPoint 97 to 2003 ([MS-PPT]). Pure.
#pragma once
#include <cstddef>
#include <string_view>

#include "office.hpp"

namespace extract {

// `stream`: the stream "PowerPoint Document"; `current_user`: the stream "Current User", which names the last edit in it.
void read_presentation_binary(std::string_view stream, std::string_view current_user, std::size_t most,
                              office_text& out);

}  // namespace extract
