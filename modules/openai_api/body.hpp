// Reads JSON bodies and their members; an invalid one throws a 400 that names it. Pure.
#pragma once
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace openai_api {

namespace json = boost::json;

constexpr std::uint64_t max_body_bytes = 32u << 20;

// The body of a request: an object without NUL characters and without numbers that JSON cannot represent.
json::object parse_body(std::string_view text);

// nullptr: the member is missing or null.
const json::value* member(const json::object& o, std::string_view name);

// The following return nullopt or nullptr if the member is missing or null. `path`: the member's name in messages.
std::optional<std::string> text_member(const json::object& o, std::string_view name, const std::string& path,
                                       std::size_t max_bytes = SIZE_MAX);
std::optional<bool> flag_member(const json::object& o, std::string_view name, const std::string& path);
std::optional<double> number_member(const json::object& o, std::string_view name, const std::string& path, double min,
                                    double max);
std::optional<std::int64_t> integer_member(const json::object& o, std::string_view name, const std::string& path,
                                           std::int64_t min, std::int64_t max);
const json::array* array_member(const json::object& o, std::string_view name, const std::string& path);
const json::object* object_member(const json::object& o, std::string_view name, const std::string& path);

std::string required_text(const json::object& o, std::string_view name, const std::string& path,
                          std::size_t max_bytes = SIZE_MAX);
// "path[i]"
std::string at(const std::string& path, std::size_t i);

}  // namespace openai_api
