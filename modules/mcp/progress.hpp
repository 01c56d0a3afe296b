// Progress notifications (notifications/progress). Without I/O.
#pragma once

#include <string>

#include "rpc.hpp"

namespace mcp {

// The progress of one request. Only increasing progress, which the specification requires, extends the time limit; a
// server that repeats the same value gets no extension.
class progress_mark {
 public:
  // Whether a notification's params exceed all earlier progress.
  bool grows(const json::object& params);

 private:
  bool any_ = false;
  double last_ = 0;
};

// "3/10: message", as far as the parts are known, with a newline at the end.
std::string progress_line(const json::object& params);

}  // namespace mcp
