// The event consumer that turns domain events of other modules into notifications.
#pragma once

#include "module_context.hpp"

namespace notifications {

class event_consumer {
 public:
  explicit event_consumer(const module_context& o) : context_(o) {}
  void add_to(ry::registrar& reg);

 private:
  ry::task<void> on_event(ry::event e);
  ry::task<void> approval_resolved(ry::uuid account, ry::event e);
  ry::task<void> subscription_changed(ry::event e);
  const module_context& context_;
};

}  // namespace notifications
