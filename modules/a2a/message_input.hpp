// Reads the parameters of SendMessage and SendStreamingMessage. Pure.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace a2a {

inline constexpr std::size_t max_context_id = 256;
inline constexpr std::size_t max_message_id = 256;
inline constexpr std::size_t max_parts = 100;

struct attached_file {
  std::string name, media_type, content;
};

struct send_params {
  std::string message_id;
  std::string context_id, task_id;  // empty: not given
  std::string prompt;
  std::vector<std::pair<std::string, boost::json::value>> data;  // the data parts with their names in errors
  std::vector<attached_file> files;
  boost::json::object metadata;  // of the request; all values are strings
  std::optional<std::int64_t> history_length;
  bool return_immediately = false;
};

// Throw protocol_error, which names the field.
send_params read_send_params(const boost::json::object& params);
// A member that is a non-negative whole number, also as a string (ProtoJSON, query parameters); nullopt if it is missing.
std::optional<std::int64_t> read_number(const boost::json::object& params, std::string_view name, std::int64_t min,
                                        std::int64_t max);
std::optional<std::int64_t> read_history_length(const boost::json::object& params, std::string_view path = {});
// A member that is a string; empty if it is missing.
std::string read_text(const boost::json::object& o, std::string_view name, std::string_view path, std::size_t max);
// The member `id`, the id of a task. An id that is not a UUID belongs to no task.
std::string read_task_id(const boost::json::object& params, std::string_view name = "id");
// The interfaces of this server have no tenant.
void reject_tenant(const boost::json::object& params);

}  // namespace a2a
