// Notices an agent that goes round in circles: the same call with the same arguments that keeps giving the
// same result. Pure; rebuilt from a run's messages by whoever takes the run over.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "conversation.hpp"

namespace runs {

class loop_guard {
 public:
  enum class verdict { make, refuse, hopeless };
  // limit: how often in a row the same result is no reason for suspicion; 0: always.
  verdict judge(const tool_call& call, std::int64_t limit) const;
  // A call and the result that went to the model, of a refusal too.
  void note(const tool_call& call, std::string_view result);
  // Everything of this run among the messages.
  void read(const std::vector<chat_message>& messages);

  // The result of a call that is not made.
  static std::string_view refusal();

 private:
  struct entry {
    std::size_t result = 0;
    std::int32_t times = 0, refused = 0;
  };
  std::unordered_map<std::size_t, entry> seen_;  // by the call's hash
};

}  // namespace runs
