// The body of POST /aisdk/chat, as DefaultChatTransport sends it, and the start of a run that it results in. Pure.
#pragma once
#include <boost/json/array.hpp>
#include <boost/json/value.hpp>
#include <ry/cpp/runs.hpp>
#include <string>
#include <string_view>

#include "ui_messages.hpp"

namespace aisdk {

constexpr std::size_t max_body_bytes = 16 << 20;

struct chat_request {
  std::string id;  // of the chat
  bool regenerate = false;
  boost::json::array messages;  // never empty
  // Extra members of the body.
  std::string agent_id, model, mode, on_busy;
  std::string system;  // instructions, before those of system messages
  boost::json::array tools;  // in the form of RY_RUN_FIELD_CLIENT_TOOLS
};

// Throws a 400 or 422 that names the member.
chat_request read_chat_request(std::string_view body);
// Throws a 422 unless this is a valid chat id.
void check_chat_id(std::string_view id);

// The state of the chat's thread that a start depends on.
struct thread_state {
  bool exists = false;
  ry::uuid thread, project;  // project: nil unless the ids are those of ids_of_chat()
  // The newest stored message is a user's, or the result of a tool: the model can answer without a new prompt.
  bool awaits_answer = false;
  std::vector<std::string> pending_calls;  // calls of client tools that have no result
};

// The start of the run for this request. Moves files out of `t`. With a key, the start depends only on the
// request and not on the messages that the thread has, so that a repeated request is recognized.
ry::runs::start_request start_of(const ry::uuid& account, const chat_request& request, turn& t, const thread_state& at,
                                 std::string key = {});

// The body of POST /aisdk/chat/{id}/stop: the run to stop, empty for any. Throws a 400 or 422.
std::string read_stop_request(std::string_view body);

}  // namespace aisdk
