// Routes for administrators: trigger, view, retry and cancel notifications.
#pragma once

#include "broadcasts.hpp"
#include "office.hpp"

namespace notifications {

class admin_routes {
 public:
  admin_routes(const office& o, const broadcasts& b) : office_(o), broadcasts_(b) {}
  void add_to(ry::registrar& reg);

 private:
  ry::task<ry::response> trigger(ry::request r);
  ry::task<ry::response> trigger_broadcast(ry::request r, boost::json::object body, std::string workflow,
                                           boost::json::object pattern);
  ry::task<ry::response> notify_one(std::string actor, ry::uuid account, occasion what, person who);
  ry::task<ry::response> list(ry::request r);
  ry::task<ry::response> show(ry::request r);
  ry::task<ry::response> requeue(ry::request r);
  ry::task<ry::response> cancel(ry::request r);
  ry::task<bool> withdraw(std::string actor, ry::uuid id);

  const office& office_;
  const broadcasts& broadcasts_;
};

}  // namespace notifications
