// The route for the orchestrator's webhooks.
#pragma once

#include "common/warning_pace.hpp"
#include "module_context.hpp"

namespace notifications {

class webhook_route {
 public:
  explicit webhook_route(const module_context& o) : context_(o) {}
  void add_to(ry::registrar& reg);

 private:
  ry::task<ry::response> receive(ry::request r);
  // Parses the body with the driver, or in the flat form {type, transactionId, subscriberId}.
  std::vector<ry::notify::report> read(std::string_view body) const;
  void log(const ry::notify::report& r, std::uint64_t reports) const;

  const module_context& context_;
  logging::warning_pace unsigned_log_limit_{std::chrono::minutes(1),
                                            30};  // anyone can send reports without a signature
};

}  // namespace notifications
