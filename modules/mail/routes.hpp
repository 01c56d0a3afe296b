// The HTTP routes of this module: the pages behind unsubscribe links, and the admin routes of the outbox and of
// suppressions.
#pragma once

#include <ry/cpp/registrar.hpp>

#include "layout.hpp"
#include "repository.hpp"

namespace mail {

class routes {
 public:
  routes(const ry::context& ctx, const repository& repo, const brand& b) : ctx_(ctx), repo_(repo), brand_(b) {}
  void add_to(ry::registrar& reg);

 private:
  ry::task<ry::response> unsubscribe_page(ry::request r);
  ry::task<ry::response> unsubscribe(ry::request r);
  ry::task<ry::response> list(ry::request r);
  ry::task<ry::response> requeue(ry::request r);
  ry::task<ry::response> lift(ry::request r);
  ry::task<ry::response> suppressions(ry::request r);
  ry::task<ry::response> lift_suppressions(ry::request r);

  const ry::context& ctx_;
  const repository& repo_;
  const brand& brand_;
};

}  // namespace mail
