// Ids that are derived from ids of the client. Pure.
#pragma once

#include <ry/cpp/types.hpp>
#include <string>
#include <string_view>

namespace a2a {

// The thread of a context id that is not a UUID, and the project of a thread that a client named. They differ between
// accounts, so a client cannot find out which ids other accounts use.
ry::uuid thread_of_context(const ry::uuid& account, std::string_view context_id);
ry::uuid project_of_thread(const ry::uuid& account, const ry::uuid& thread);
// Whether thread_of_context() may have made this id; its name is then in the table of contexts.
bool may_have_name(const ry::uuid& thread);
// The idempotency key of a message. Message ids are unique within a context of an agent.
std::string key_of_message(std::string_view agent, std::string_view context_id, std::string_view message_id);
// A strong entity tag of a response body.
std::string entity_tag(std::string_view body);

}  // namespace a2a
