// Routes of accounts: settings, preferences, devices, deliveries, and the thread that the user views.
#pragma once

#include "module_context.hpp"

namespace notifications {

class routes {
 public:
  explicit routes(const module_context& o) : context_(o) {}
  void add_to(ry::registrar& reg);

 private:
  ry::task<ry::response> settings(ry::request r);
  ry::task<ry::response> put_settings(ry::request r);
  ry::task<ry::response> preferences(ry::request r);
  ry::task<ry::response> put_preferences(ry::request r);
  ry::task<ry::response> devices(ry::request r);
  ry::task<ry::response> add_device(ry::request r);
  ry::task<ry::response> drop_device(ry::request r);
  ry::task<ry::response> web_push_key(ry::request r);
  ry::task<ry::response> deliveries(ry::request r);
  ry::task<ry::response> presence(ry::request r);
  ry::task<std::string> shown_preferences(ry::uuid account) const;

  const module_context& context_;
};

// 403 in modes without notifications.
void require_open(const module_context& o);
// 422 naming payload_template if the filled title has no visible text.
void require_title(const rendered_texts& words);

}  // namespace notifications
