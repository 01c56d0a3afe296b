// Detects an agent that repeats the same call with the same arguments and gets the same result. No I/O; a worker
// that takes over a run rebuilds it from the run's messages.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "run/conversation.hpp"

namespace runs {

class loop_guard {
 public:
  enum class verdict { allow, refuse, give_up };
  // `limit`: how often in a row the same result is accepted; 0: always.
  verdict judge(const tool_call& call, std::int64_t limit) const;
  // Records a call and the result that the model got, including refusals.
  void note(const tool_call& call, std::string_view result);
  // Records all calls of this run among the messages.
  void read(const std::vector<chat_message>& messages);

  // The result of a refused call.
  static std::string_view refusal();

 private:
  struct entry {
    std::size_t result = 0;
    std::int32_t times = 0, refused = 0;
  };
  std::unordered_map<std::size_t, entry> calls_;  // by the call's hash
};

}  // namespace runs
