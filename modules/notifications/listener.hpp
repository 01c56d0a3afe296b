// The event consumer that turns domain events of other modules into notifications.
#pragma once

#include "office.hpp"

namespace notifications {

class listener {
 public:
  explicit listener(const office& o) : office_(o) {}
  void add_to(ry::registrar& reg);

 private:
  ry::task<void> heard(ry::event e);
  ry::task<void> subscription_changed(ry::event e);
  const office& office_;
};

}  // namespace notifications
