// Helpers for tests that parse settings.
#pragma once
#include <ry/cpp/settings_check.hpp>
#include <string>
#include <string_view>

#include "settings/settings.hpp"
#include "settings/settings_reader.hpp"

namespace runs {

// One "key message" per line; empty: valid.
inline std::string faults_of(std::string_view json) {
  ry::settings_faults faults;
  (void)parse_settings(json, faults);
  std::string out;
  for (const auto& f : faults.all()) out += (out.empty() ? "" : "\n") + f.key + " " + f.message;
  return out;
}

inline settings settings_of(std::string_view json) {
  ry::settings_faults faults;
  return parse_settings(json, faults);
}

}  // namespace runs
