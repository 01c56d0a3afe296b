// The recipient of a notification.
#pragma once

#include <string>

namespace notifications {

// Unknown members are empty.
struct person {
  std::string email, name, phone, avatar;
  // The first word of the name that does not look like a link, else that of the address before its '@', else "User".
  std::string first_name() const;
};

}  // namespace notifications
