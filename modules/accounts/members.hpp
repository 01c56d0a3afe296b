// Members of JSON objects that somebody else wrote.
#pragma once

#include <ry/cpp/types.hpp>

#include <boost/json/object.hpp>
#include <string>
#include <string_view>

namespace accounts {

// The text of that name; empty when there is none, when it is longer than `most` bytes or has
// control characters. `o` may be nullptr.
std::string clean_member(const boost::json::object* o, std::string_view name, std::size_t most);
// A name for people, trimmed, without controls and characters that change the direction of writing; empty when there is
// none, or when it is longer than `most` bytes. `o` may be nullptr.
std::string name_member(const boost::json::object* o, std::string_view name, std::size_t most);
// The object of that name; nullptr when there is none. `o` may be nullptr.
const boost::json::object* object_member(const boost::json::object* o, std::string_view name);

// Whether the member says yes: true or "true", in any case. Providers send booleans as texts (Amazon Cognito, Apple); no
// other value verifies anything.
bool is_true(const boost::json::object* o, std::string_view name);

// Whether the member says no, in any form in which providers send booleans: false, "false" in any case, 0, "0" or null.
bool is_no(const boost::json::value& v);

// clean_member() of a token's claims.
std::string clean_claim(const ry_principal& who, std::string_view name, std::size_t most);

}  // namespace accounts
