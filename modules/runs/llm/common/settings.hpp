// The settings of one configured provider (config_json of llm.provider/1) that all drivers share.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "stream_call.hpp"

namespace llm {

// Parses config_json; what stands in its table `options` is lifted to the top. Keys other than
// those that all providers have and `own_keys` are refused. Throws ry::error naming the key.
boost::json::object parse_config(std::string_view json,
                                 std::initializer_list<std::string_view> own_keys);

// Reads base_url, api_key, headers, timeout_seconds and idle_timeout_seconds; `url` is the base
// without a trailing slash. Throws ry::error naming the key.
endpoint read_endpoint(std::string_view name, const boost::json::object& config,
                       std::string_view default_base);

std::string text_setting(const boost::json::object& config, std::string_view key,
                         std::string_view standard);
std::int64_t number_setting(const boost::json::object& config, std::string_view key,
                            std::int64_t standard, std::int64_t min, std::int64_t max);

}  // namespace llm
