// What a relay's refusal says about the recipient. Pure.
#pragma once

#include <string_view>

namespace mail {

enum class refusal {
  recipient,  // the mailbox does not exist or is closed for good: the address gets no more mail
  quota,      // the sender has sent too much for now: later
  other       // policy, relaying, sender, content, a full mailbox, or a reply without a reason
};

// reply: the text of a 5xx reply, with its code and, if it has several lines, all of them.
refusal classify(std::string_view reply);

}  // namespace mail
