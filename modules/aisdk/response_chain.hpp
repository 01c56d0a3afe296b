// Finds the runs whose events make up one assistant message of the client, in the stored messages of a thread. Pure.
//
// When the model calls a tool of the client, its run ends, and the outputs start the next run. The client shows both runs
// as one message, so a stream that rebuilds the message must begin with the first run.
#pragma once
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "ui_messages.hpp"

namespace aisdk {

struct chain_link {
  std::string run_id;
  std::vector<tool_output> outputs;  // of the client's tools, with which the run began
};

class response_chain {
 public:
  explicit response_chain(std::string_view run_id) : wanted_(run_id) {}
  // A page of the thread's messages, newest first. false: the chain is complete, no older page is needed.
  bool add_page(const boost::json::array& messages);
  // Oldest first; the last one is the run of the constructor.
  std::vector<chain_link> links() const;

 private:
  struct group {
    chain_link link;
    std::string oldest_role;
    bool has_user_message = false;
    bool continues() const { return oldest_role == "tool" && !has_user_message; }
  };
  bool add(const boost::json::object& message);

  std::string wanted_;
  std::deque<group> groups_;  // oldest first
};

// The state of a thread that a start needs, from its newest messages, newest first.
struct thread_end {
  std::string newest_role;  // empty: the thread has no messages
  std::vector<std::string> pending_calls;
};
thread_end read_thread_end(const boost::json::array& messages);

}  // namespace aisdk
