// The beginning of what a run produced, for notifications. Pure.
#pragma once

#include <string>
#include <vector>

#include "conversation.hpp"

namespace runs {

// The first 1000 bytes, in whole characters, of the last answer in words that this run gave; an answer that was continued begins
// with its first part. Empty: there is none.
std::string beginning_of_result(const std::vector<chat_message>& messages);

}  // namespace runs
