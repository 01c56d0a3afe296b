// The mails of sign-up and log-in.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace accounts {

struct letter {
  std::string subject, text, html;
};

// `link` holds the token after '#', where no server on the way writes it down.
letter confirm_letter(std::string_view link, std::int64_t hours);
// To somebody who has an account and whose address was typed into the sign-up form.
letter known_letter(std::string_view log_in_link);
letter reset_letter(std::string_view link, std::int64_t minutes);
letter changed_letter(std::string_view log_in_link);

}  // namespace accounts
