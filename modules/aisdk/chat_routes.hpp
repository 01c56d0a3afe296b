// The HTTP routes of this module.
#pragma once

#include <ry/svc/accounts.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <optional>
#include <ry/cpp/registrar.hpp>
#include <ry/cpp/runs.hpp>
#include <string>
#include <vector>

#include "chat_request.hpp"
#include "response_chain.hpp"

namespace aisdk {

class chat_routes {
 public:
  explicit chat_routes(const ry::context& ctx) : ctx_(ctx) {}
  void add_to(ry::registrar& reg);
  // Before the first request.
  void start();

 private:
  // A thread of the account and its runs that have not ended, newest first.
  struct chat_thread {
    bool exists = false;
    ry::uuid thread, project;
    boost::json::array runs;
  };
  // A stream to write: one assistant message.
  struct response {
    ry::uuid account;
    std::string message_id, thread_id;
    std::vector<chain_link> links;
    shown_parts shown;  // what the client shows of the run's current step; empty: the stream has the complete message
    std::vector<std::string> notices;  // about decisions that had no effect
  };
  // The approvals of a run, newest first.
  struct run_approvals {
    std::string run_id;
    boost::json::array approvals;
    // nullptr: the run has no such approval.
    const boost::json::object* find(std::string_view id) const;
  };

  ry::task<void> chat(ry::request r);
  ry::task<void> resume(ry::request r);
  ry::task<ry::response> stop(ry::request r);
  ry::task<ry::response> messages(ry::request r);

  ry::task<ry::uuid> caller(ry::request r);
  ry::task<std::optional<boost::json::array>> runs_of(ry::uuid account, ry::uuid thread, std::string status,
                                                      std::size_t limit);
  ry::task<chat_thread> find_thread(ry::uuid account, std::string chat);
  ry::task<response> start_run(ry::request r);
  ry::task<response> continue_run(ry::uuid account, chat_thread chat, turn t);
  ry::task<run_approvals> find_approvals(ry::uuid account, chat_thread chat, std::string id);
  ry::task<boost::json::array> approvals_of(ry::uuid account, std::string run, std::string status);
  ry::task<void> decide(ry::uuid account, approval_response given, response& out);
  ry::task<bool> is_waiting(ry::uuid account, std::string run, std::set<std::string> pending);
  ry::task<thread_state> read_state(ry::uuid account, const chat_thread& chat, bool needs_end);
  ry::task<std::optional<response>> find_response(ry::request r);
  ry::task<std::vector<chain_link>> find_chain(ry::uuid account, ry::uuid thread, std::string run);
  ry::task<boost::json::object> message_page(ry::uuid account, ry::uuid thread, std::string cursor, std::size_t limit);
  ry::task<void> write_response(ry::sse out, response what);
  ry::task<void> write_runs(ry::sse& out, const response& what, bool& finished);

  const ry::context& ctx_;
  ry::runs::client runs_;
  ry::service<ry_accounts_v1> accounts_;
};

}  // namespace aisdk
