#include "agent_message.hpp"

#include <boost/json/array.hpp>

namespace a2a {

namespace json = boost::json;

json::object text_part(std::string_view text) {
  return {{"text", text}, {"mediaType", "text/plain"}};
}

json::object agent_message(const task_ids& ids, std::string_view message_id, std::string_view text) {
  return {{"messageId", message_id},
          {"contextId", ids.context},
          {"taskId", ids.task},
          {"role", "ROLE_AGENT"},
          {"parts", json::array{text_part(text)}}};
}

}  // namespace a2a
