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
  // A thread of the account and its newest runs, newest first.
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
  };

  ry::task<void> chat(ry::request r);
  ry::task<void> resume(ry::request r);
  ry::task<ry::response> stop(ry::request r);
  ry::task<ry::response> messages(ry::request r);

  ry::task<ry::uuid> caller(ry::request r);
  ry::task<std::optional<boost::json::array>> runs_of(ry::uuid account, ry::uuid thread);
  ry::task<chat_thread> find_thread(ry::uuid account, std::string chat);
  ry::task<response> start_run(ry::request r);
  ry::task<thread_state> read_state(ry::uuid account, const chat_thread& chat, bool needs_end);
  ry::task<std::optional<response>> find_response(ry::request r);
  ry::task<std::vector<chain_link>> find_chain(ry::uuid account, ry::uuid thread, std::string run);
  ry::task<boost::json::object> message_page(ry::uuid account, ry::uuid thread, std::string cursor, std::size_t limit);
  ry::task<void> write_response(ry::sse out, response what);
  ry::task<void> write_runs(ry::sse& out, const response& what);

  const ry::context& ctx_;
  ry::runs::client runs_;
  ry::service<ry_accounts_v1> accounts_;
};

}  // namespace aisdk
