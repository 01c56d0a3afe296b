// Broadcasts: one notification for each account, written by a job that an admin can schedule, pause, resume and cancel.
#pragma once

#include "module_context.hpp"

namespace notifications {

class broadcasts {
 public:
  explicit broadcasts(const module_context& o) : context_(o) {}
  void add_to(ry::registrar& reg);

  // Calls require_title() for the notification that `sample` would receive.
  void require_title_for(const std::string& workflow, const boost::json::object& pattern, const person& sample) const;
  // Returns the number of accounts that the broadcast would reach, and the notification that the caller would receive.
  // Writes nothing.
  ry::task<ry::response> dry_run(std::string workflow, boost::json::object pattern, person sample) const;
  // at: a time such as 2026-11-26T09:00:00Z; empty: now.
  ry::task<ry::response> create(std::string actor, std::string workflow, boost::json::object pattern,
                                std::optional<std::string> at) const;

 private:
  ry::task<ry::response> list(ry::request r);
  ry::task<ry::response> show(ry::request r);
  ry::task<ry::response> change_state(ry::request r, const char* action);
  ry::task<ry::response> pause(ry::request r) { return change_state(std::move(r), "pause"); }
  ry::task<ry::response> resume(ry::request r) { return change_state(std::move(r), "resume"); }
  ry::task<ry::response> cancel(ry::request r) { return change_state(std::move(r), "cancel"); }
  ry::task<ry::job_outcome> write_notifications(ry::job job);

  const module_context& context_;
};

}  // namespace notifications
