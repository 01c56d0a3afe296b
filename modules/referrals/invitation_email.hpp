// The e-mail of an invitation.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace referrals {

struct email {
  std::string subject, text, html;
};

// `inviter`: a name chosen by the user, so it is not trusted; may be empty. `bonus`: credits for the invited person; 0:
// the e-mail promises none. `both`: the inviter receives the same amount. The returned html is a fragment.
email write_invitation(std::string_view inviter, std::string_view link, std::int64_t bonus, bool both = true,
                       std::string_view product = "Runyard");

}  // namespace referrals
