// Reads members of JSON objects from other systems.
#pragma once

#include <ry/cpp/types.hpp>

#include <boost/json/object.hpp>
#include <string>
#include <string_view>

namespace accounts {

// The text with this name; empty if it is missing, longer than `most` bytes, or has control characters. `o` may be
// nullptr.
std::string clean_member(const boost::json::object* o, std::string_view name, std::size_t most);
// A display name, trimmed, without control characters and characters that change the writing direction; empty if it is
// missing or longer than `most` bytes. `o` may be nullptr.
std::string name_member(const boost::json::object* o, std::string_view name, std::size_t most);
// The object with this name; nullptr if it is missing. `o` may be nullptr.
const boost::json::object* object_member(const boost::json::object* o, std::string_view name);

// True if the member is true or "true" in any case. Some providers send booleans as texts (Amazon Cognito, Apple); no
// other value verifies anything.
bool is_true(const boost::json::object* o, std::string_view name);

// True if the member is false, in any form in which providers send booleans: false, "false" in any case, 0, "0" or
// null.
bool is_no(const boost::json::value& v);

// clean_member() of a token's claims.
std::string clean_claim(const ry_principal& who, std::string_view name, std::size_t most);

}  // namespace accounts
