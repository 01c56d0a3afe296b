// Reads members of JSON objects from other systems.
#pragma once

#include <ry/cpp/types.hpp>

#include <boost/json/object.hpp>
#include <string>
#include <string_view>

namespace accounts {

// The text with this name; empty if it is missing, longer than `max_bytes`, or has control characters. `o` may be
// nullptr.
std::string clean_member(const boost::json::object* o, std::string_view name, std::size_t max_bytes);
// A display name, trimmed, without control characters and characters that change the writing direction; empty if it is
// missing or longer than `max_bytes`. `o` may be nullptr.
std::string name_member(const boost::json::object* o, std::string_view name, std::size_t max_bytes);
// The object with this name; nullptr if it is missing. `o` may be nullptr.
const boost::json::object* object_member(const boost::json::object* o, std::string_view name);

// True if the member is true or "true" in any case: some providers send booleans as strings (Amazon Cognito, Apple).
// Any other value is false.
bool is_true(const boost::json::object* o, std::string_view name);

// True if the value is a form of false that providers send: false, "false" in any case, 0, "0" or null.
bool is_explicitly_false(const boost::json::value& v);

// clean_member() of a token's claims.
std::string clean_claim(const ry_principal& principal, std::string_view name, std::size_t max_bytes);

}  // namespace accounts
