// Routes of accounts: settings, preferences, devices, deliveries, presence.
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
  ry::task<ry::response> delete_device(ry::request r);
  ry::task<ry::response> web_push_key(ry::request r);
  ry::task<ry::response> deliveries(ry::request r);
  ry::task<ry::response> presence(ry::request r);
  ry::task<std::string> preferences_with_defaults(ry::uuid account) const;

  const module_context& context_;
};

// Throws 403 in deployment modes without notifications.
void require_enabled(const module_context& o);
// Throws 422 that names payload_template if the filled title has no visible text.
void require_title(const rendered_texts& texts);

}  // namespace notifications
