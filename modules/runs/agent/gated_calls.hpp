// Which calls of an answer are made now, which are refused, and which wait.
#pragma once
#include <string>
#include <vector>

#include "run/conversation.hpp"

namespace runs {

struct gated_calls {
  std::vector<tool_call> allowed;
  struct refusal {
    tool_call call;
    tool_outcome outcome;
  };
  std::vector<refusal> refused;  // also the calls that have a result without being made: of the client, or of ask_user
  std::vector<std::string> waiting;  // ids of pending approvals, questions and calls of the client
  bool lost = false;  // the run has ended or belongs to another worker
  // An approval with on_timeout = stop has expired.
  bool stop = false;
};

}  // namespace runs
