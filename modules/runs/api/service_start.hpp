// The fields of a start by the service runs/1: those of POST /agent/start, and the fields that only modules can use. Pure.
#pragma once
#include <variant>
#include <vector>

#include "api/start_form.hpp"

namespace runs {

std::variant<start_request, form_refusal> parse_service_start(const std::vector<form_field>& fields);

}  // namespace runs
