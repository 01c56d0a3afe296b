// The protocol between the server and the process of a preflight: lines on standard output.
#pragma once

#include <array>
#include <string_view>

namespace ry::app {

// One step: the line that the other process writes when the step is complete, and its description until then.
struct step {
  std::string_view done, during;
};
inline constexpr step loading = {"loaded\n", "while it is loaded"};
inline constexpr step creating = {"created\n", "in create"};
inline constexpr step destroying = {"destroyed\n", "in destroy"};
inline constexpr step unloading = {"unloaded\n", "while it is unloaded"};
inline constexpr std::array steps = {loading, creating, destroying, unloading};
// Written instead of the next step: the process exits normally without continuing.
inline constexpr std::string_view refused = "refused\n";

}  // namespace ry::app
