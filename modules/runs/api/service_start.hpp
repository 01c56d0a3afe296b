// The fields of a start through the service runs/1: those of POST /agent/start, and those that only
// modules can use. Pure.
#pragma once
#include <boost/json/fwd.hpp>
#include <string>
#include <variant>
#include <vector>

#include "api/start_form.hpp"

namespace runs {

// Reads a list of {"tool_call_id", "content", "is_error"}. Returns an error message, or an empty string.
std::string read_client_results(const boost::json::value& list, std::vector<client_result>& out);

std::variant<start_request, form_refusal> parse_service_start(const std::vector<form_field>& fields);

}  // namespace runs
