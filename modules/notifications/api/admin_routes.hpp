// Routes for administrators: trigger, view, retry and cancel notifications.
#pragma once

#include "api/broadcasts.hpp"
#include "module_context.hpp"

namespace notifications {

class admin_routes {
 public:
  admin_routes(const module_context& o, const broadcasts& b) : context_(o), broadcasts_(b) {}
  void add_to(ry::registrar& reg);

 private:
  ry::task<ry::response> trigger(ry::request r);
  ry::task<ry::response> trigger_broadcast(ry::request r, boost::json::object body, std::string workflow,
                                           boost::json::object pattern);
  ry::task<ry::response> notify_one(std::string actor, ry::uuid account, notification_event event, person recipient);
  ry::task<ry::response> list(ry::request r);
  ry::task<ry::response> show(ry::request r);
  ry::task<ry::response> requeue(ry::request r);
  ry::task<ry::response> cancel(ry::request r);
  ry::task<bool> withdraw(std::string actor, ry::uuid id);

  const module_context& context_;
  const broadcasts& broadcasts_;
};

}  // namespace notifications
