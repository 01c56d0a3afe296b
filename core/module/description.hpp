// Checks the OpenAPI 3.1 descriptions that modules give of their routes: objects with "paths", "components" and
// "tags". Pure functions; they throw only std::bad_alloc.
#pragma once

#include <boost/json/object.hpp>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "core/module/registration.hpp"

namespace ry::module {

// Parses the text; nullopt if it is not a JSON object.
std::optional<boost::json::object> parsed_description(std::string_view json);

// The fault in the structure of one part, as the end of an error message ("has ..."); empty: none.
std::string description_fault(std::string_view json);

// The first inconsistency of all parts together, as the end of an error message: a method and path without a route, a
// component that neither the parts nor `host_components` ("schemas/host.Error") define, or a duplicate. Empty: none.
// Requires parts with a valid structure.
std::string description_problem(const registration& r, const std::set<std::string>& host_components);

// A pattern's path in OpenAPI syntax: "/files/{rest...}" becomes "/files/{rest}".
std::string described_path(std::string_view pattern);

// Replaces each string member "$ref" within `v` with the result of `f`.
void for_each_reference(boost::json::value& v, const std::function<std::string(std::string_view)>& f);

}  // namespace ry::module
