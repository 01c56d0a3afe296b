// Progress notifications (notifications/progress). Without I/O.
#pragma once

#include <string>

#include "rpc.hpp"

namespace mcp {

// The progress of one request. Only increasing progress, which the specification requires, extends the time limit; a
// server that repeats the same value gets no extension.
class progress_tracker {
 public:
  // Whether the params of a notification exceed all earlier progress.
  bool advances(const json::object& params);

 private:
  bool has_value_ = false;
  double last_ = 0;
};

// "3/10: message", as far as the parts are known, with a newline at the end.
std::string progress_line(const json::object& params);

}  // namespace mcp
