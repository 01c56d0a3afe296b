// The beginning of a run's result, for notifications. Pure.
#pragma once

#include <string>
#include <vector>

#include "run/conversation.hpp"

namespace runs {

// The first 1000 bytes of the run's last answer with text, truncated to complete characters; a continued answer begins
// with its first part. Empty: there is none.
std::string result_excerpt(const std::vector<chat_message>& messages);

}  // namespace runs
