// The HTTP routes of this module.
#pragma once

#include <ry/cpp/registrar.hpp>
#include <string>

#include "dispatcher.hpp"

namespace a2a {

// The public card.
struct public_card {
  std::string name, description, version;
};

class routes {
 public:
  routes(const ry::context& ctx, const agents& agents, const dispatcher& dispatcher, public_card card)
      : ctx_(ctx), agents_(agents), dispatcher_(dispatcher), card_(std::move(card)) {}
  void add_to(ry::registrar& reg);

 private:
  ry::task<ry::response> show_public_card(ry::request r);
  ry::task<ry::response> show_card(ry::request r);
  ry::task<void> serve_rpc(ry::request r);
  ry::task<void> send_message(ry::request r);
  ry::task<void> send_streaming_message(ry::request r);
  ry::task<void> list_tasks(ry::request r);
  ry::task<void> read_task(ry::request r);
  ry::task<void> change_task(ry::request r);
  ry::task<void> show_extended_card(ry::request r);
  ry::task<void> reject_push_notifications(ry::request r);

  void add_rest(ry::registrar& reg, const std::string& base);
  ry::task<void> serve_rest(ry::request r, call c);
  ry::task<void> run(ry::request r, call c, binding b);
  ry::task<caller> caller_of(ry::request r);
  // The base URL for clients, without a slash at the end.
  std::string base_url(const ry::request& r) const;
  agent_urls urls_of(const ry::request& r, std::string_view agent) const;
  // The current exception. Logs internal errors, whose text the client does not get.
  protocol_error current_failure() const;

  const ry::context& ctx_;
  const agents& agents_;
  const dispatcher& dispatcher_;
  public_card card_;
};

}  // namespace a2a
