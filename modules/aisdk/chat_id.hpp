// The thread and project ids of a chat. Pure.
#pragma once
#include <ry/cpp/types.hpp>
#include <string_view>

namespace aisdk {

struct chat_ids {
  ry::uuid thread, project;
};

// A chat id is an arbitrary string that the client chooses. Its ids are a hash of the account and the chat id, so
// every node finds the thread without a table, and chats of different accounts never share a thread.
chat_ids ids_of_chat(const ry::uuid& account, std::string_view chat);

}  // namespace aisdk
