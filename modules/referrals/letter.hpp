// The invitation as it is mailed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace referrals {

struct letter {
  std::string subject, text, html;
};

// `inviter`: a name that its bearer chose; may be empty. `bonus`: credits for the invited; 0: none are promised.
// `both`: the inviter receives as many. html: a fragment.
letter write_invitation(std::string_view inviter, std::string_view link, std::int64_t bonus, bool both = true,
                        std::string_view product = "Runyard");

}  // namespace referrals
