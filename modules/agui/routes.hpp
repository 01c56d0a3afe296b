// The HTTP routes of this module.
#pragma once

#include <ry/svc/accounts.h>
#include <ry/svc/agents.h>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <functional>
#include <optional>
#include <ry/cpp/registrar.hpp>
#include <ry/cpp/runs.hpp>
#include <set>
#include <string>
#include <vector>

#include "cursor.hpp"
#include "event_mapper.hpp"
#include "run_input.hpp"

namespace agui {

// The services that this module uses; set before the first request.
struct used_services {
  ry::runs::client runs;
  ry::service<ry_accounts_v1> accounts;
  ry::service<ry_agents_v1> agents;
};

class routes {
 public:
  explicit routes(const used_services& services) : use_(services) {}
  void add_to(ry::registrar& reg);

 private:
  // What a stream sends.
  struct run_stream {
    ry::uuid account, thread;
    event_mapper::names names;
    cursor from;
    bool resumes = false;
    event_mapper::messages messages = event_mapper::messages::known;
    std::string base_messages;  // see run_input; empty: snapshots contain the stored thread
    // The client may have messages under other ids than those of the stored thread. It would keep the position of known
    // ids and append the others, so an empty snapshot precedes the first one.
    bool clear_first = true;
    std::vector<std::string> notices;
    // Of a request that continues a run after an interrupt: its approvals, and the ids of the client's tool messages.
    std::set<std::string> resumed;
    std::set<std::string, std::less<>> tool_messages;
  };

  ry::task<ry::response> list(ry::request r);
  ry::task<void> run(ry::request r);
  ry::task<void> connect(ry::request r);
  ry::task<void> follow(ry::request r);
  ry::task<ry::response> stop(ry::request r);

  ry::task<ry::uuid> caller(ry::request r);
  ry::task<run_stream> open_run(ry::request r);
  ry::task<void> continue_run(run_stream& out, run_input input);
  ry::task<boost::json::array> find_interrupted_run(ry::uuid account, ry::uuid thread, std::string approval);
  ry::task<void> decide(ry::uuid account, const run_input& input, const boost::json::array& approvals);
  ry::task<boost::json::array> approvals_of(ry::uuid account, std::string run, std::string status);
  ry::task<run_stream> open_connection(ry::request r);
  ry::task<run_stream> open_follower(ry::request r);
  ry::task<ry::runs::started> start(ry::uuid account, std::optional<std::string> agent, run_input input);
  ry::task<ry::runs::started> try_start(ry::uuid account, std::optional<std::string> agent, const run_input& input,
                                        bool stored_thread, bool with_results);
  ry::task<bool> owns_thread(ry::uuid account, ry::uuid thread);
  // The run as in runs.get; throws 404.
  ry::task<boost::json::object> find_run(ry::uuid account, ry::uuid run);
  // The thread that the client names; nullopt if it does not exist.
  ry::task<std::optional<ry::uuid>> find_thread(ry::uuid account, std::string thread_id);
  // Newest first.
  ry::task<boost::json::array> runs_of(ry::uuid account, ry::uuid thread, std::string status, std::size_t limit);

  ry::task<void> serve(ry::request r, run_stream s);
  ry::task<bool> interrupt_if_waiting(ry::sse& out, run_stream& s, event_mapper& mapper);
  ry::task<void> pump(ry::sse& out, run_stream& s, event_mapper& mapper);
  ry::task<void> send(ry::sse& out, run_stream& s, std::vector<mapped_event> events);
  ry::task<void> write(ry::sse& out, std::string_view wire);
  ry::task<std::string> snapshot_event(const run_stream& s, std::int64_t below_step);
  ry::task<std::vector<boost::json::object>> stored_messages(ry::uuid account, ry::uuid thread, std::string only_run);

  const used_services& use_;
};

}  // namespace agui
