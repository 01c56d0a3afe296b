// Options of a start that few runs have: texts for the model, and how to report the end. Pure.
#pragma once
#include <string>
#include <string_view>

#include "settings/model_parameters.hpp"

namespace runs {

struct run_options {
  std::string instructions;  // follow the agent's prompt; empty: none

  bool empty() const { return *this == run_options(); }
  bool operator==(const run_options&) const = default;
};

// Both as the JSON object that runs.parameters stores; empty: the run has neither.
std::string stored_parameters(const model_parameters& parameters, const run_options& options);
// The options in such an object; read_parameters() reads the parameters.
run_options read_options(std::string_view json);

}  // namespace runs
