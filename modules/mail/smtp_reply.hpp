// Classifies a relay's permanent rejection: whether it concerns the recipient. Pure functions.
#pragma once

#include <string_view>

namespace mail {

enum class refusal {
  recipient,  // the mailbox does not exist or is closed permanently: the address gets no more e-mail
  later,  // a limit on what the sender may send, or a condition that the reply calls temporary
  other  // policy, reputation, relaying, sender, content, a full mailbox, or a reply without a reason
};

// reply: the text of a 5xx reply, with its code and all its lines.
refusal classify(std::string_view reply);

}  // namespace mail
