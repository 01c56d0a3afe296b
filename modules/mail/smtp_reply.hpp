// What a relay's refusal says about the recipient. Pure.
#pragma once

#include <string_view>

namespace mail {

enum class refusal {
  recipient,  // the mailbox does not exist or is closed for good: the address gets no more mail
  later,  // a limit on what the sender may send, or a condition that the reply calls temporary
  other  // policy, reputation, relaying, sender, content, a full mailbox, or a reply without a reason
};

// reply: the text of a 5xx reply, with its code and, if it has several lines, all of them.
refusal classify(std::string_view reply);

}  // namespace mail
