// What modules say of their routes: OpenAPI 3.1 objects with "paths", "components" and "tags". Pure;
// nothing throws but std::bad_alloc.
#pragma once

#include <boost/json/object.hpp>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "core/module/registration.hpp"

namespace ry::module {

// The object, or nothing when the text is no JSON object.
std::optional<boost::json::object> parsed_description(std::string_view json);

// What is wrong with the shape of one part, as the end of a sentence ("has ..."); empty: nothing.
std::string description_fault(std::string_view json);

// What the parts together describe that is not there, as the end of a sentence: a method and path without
// a route, a component that neither they nor `host_components` ("schemas/host.Error") have, or one thing
// twice. Empty: nothing. The parts have the right shape.
std::string description_problem(const registration& r, const std::set<std::string>& host_components);

// The path of a pattern as OpenAPI writes it: "/files/{rest...}" is "/files/{rest}".
std::string described_path(std::string_view pattern);

// Calls `f` with each string value of a member "$ref" within `v`; f returns what stands there from now on.
void for_each_reference(boost::json::value& v, const std::function<std::string(std::string_view)>& f);

}  // namespace ry::module
