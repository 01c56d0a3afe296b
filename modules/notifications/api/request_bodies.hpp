// Parses bodies of requests of accounts: settings, preferences, devices. Throws 400 if the body is not a JSON object,
// and 422 with the name of the field for an invalid value.
#pragma once

#include <ry/cpp/types.hpp>

#include <boost/json/object.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "types/account_requests.hpp"

namespace notifications {

ry::error invalid(std::string_view field, const std::string& what);
// An empty text counts as {}.
boost::json::object read_object(std::string_view body);
// nullopt if the member is absent or null.
std::optional<bool> boolean_in(const boost::json::object& o, std::string_view name);
// Requires the member. Rejects control characters.
std::string text_in(const boost::json::object& o, std::string_view name, std::size_t max_bytes);
std::optional<std::string> opt_text_in(const boost::json::object& o, std::string_view name, std::size_t max_bytes);

settings_request read_settings_request(std::string_view body);
preferences_request read_preferences_request(std::string_view body);
device_request read_device_request(std::string_view body);

}  // namespace notifications
