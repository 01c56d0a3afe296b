// Notifications of progress (notifications/progress). Without I/O.
#pragma once

#include <string>

#include "rpc.hpp"

namespace mcp {

// The progress of one request so far. Only progress that grows, as the specification demands, is a sign of life: a server
// that repeats itself is not waited for.
class progress_mark {
 public:
  // Takes the params of a notification; whether they are ahead of all before them.
  bool grows(const json::object& params);

 private:
  bool any_ = false;
  double last_ = 0;
};

// "3/10: message" as far as it is known, with the end of the line.
std::string progress_line(const json::object& params);

}  // namespace mcp
