// What operators do: trigger, look at, try again and call off.
#pragma once

#include "office.hpp"

namespace notifications {

class admin_routes {
 public:
  explicit admin_routes(const office& o) : office_(o) {}
  void add_to(ry::registrar& reg);

 private:
  ry::task<ry::response> trigger(ry::request r);
  ry::task<ry::response> list(ry::request r);
  ry::task<ry::response> show(ry::request r);
  ry::task<ry::response> requeue(ry::request r);
  ry::task<ry::response> cancel(ry::request r);
  ry::task<bool> withdraw(std::string actor, ry::uuid id);

  const office& office_;
};

}  // namespace notifications
