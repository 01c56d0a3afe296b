// The settings of one configured provider (config_json of llm.provider/1) that all drivers share.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "output_schema.hpp"
#include "stream_call.hpp"

namespace llm {

// Parses config_json and moves the members of its table `options` to the top level. Rejects keys other than the common
// ones and `driver_keys`. Throws ry::error naming the key.
boost::json::object parse_config(std::string_view json, std::initializer_list<std::string_view> driver_keys);

// Reads base_url, api_key, headers, timeout_seconds, idle_timeout_seconds, proxy and ca_file, whose content becomes
// ca_pem; `url` is the base URL without a trailing slash, with its query. Throws ry::error naming the key.
endpoint read_endpoint(std::string_view name, const boost::json::object& config, std::string_view default_base);

// Adds a header of the driver unless the settings contain a header with that name, ignoring case.
void add_header(endpoint& at, std::string_view name, std::string value);

// "https://h/v1?api-version=1" and "/chat": "https://h/v1/chat?api-version=1". A base that ends in `path` is returned
// unchanged.
std::string with_path(std::string_view base, std::string_view path);
// The host of an http or https URL, in lower case, without port and user.
std::string host_of(std::string_view url);

bool flag_setting(const boost::json::object& config, std::string_view key, bool default_value);
// extra_body: a table of members for every request.
boost::json::object extra_body_setting(const boost::json::object& config);
std::string text_setting(const boost::json::object& config, std::string_view key, std::string_view default_value);
std::int64_t number_setting(const boost::json::object& config, std::string_view key, std::int64_t default_value,
                            std::int64_t min, std::int64_t max);
// output_schema: auto, native or prompt.
schema_passing schema_passing_setting(const boost::json::object& config);

}  // namespace llm
