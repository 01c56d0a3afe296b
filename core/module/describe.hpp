// The description of modules for `runyard modules`. Pure values.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/module/manifest.hpp"
#include "core/module/registration.hpp"

namespace ry::module {

enum class module_state {
  disabled,  // by the configuration
  refused,  // see `reason`
  created,
  started,
  stopped,  // destroyed
  retired,  // did not stop; still in memory
};
const char* to_string(module_state s) noexcept;

struct described_driver {
  std::string point, name;
};

struct module_description {
  module_state state = module_state::refused;
  std::string file, sha256;
  std::string reason;  // why it is refused or retired
  module_manifest manifest;  // if the file is not a module, only `name`, taken from the file
  bool required = true;
  std::vector<std::string> routes;  // "GET /a/{id}"
  std::vector<std::string> jobs;  // kinds
  std::vector<std::string> consumers;  // "name: kind,kind"
  std::vector<std::string> services, points;
  std::vector<described_driver> drivers;
  std::vector<std::string> migrations;  // ids
  std::string settings_schema;  // JSON text; empty: none, or the module is not loaded
  std::uint64_t instance = 0;  // number of the instance; 0: none
  std::uint64_t slow_callbacks = 0;
  std::uint32_t violations = 0;
  std::int64_t outstanding = 0;
  std::string last_violation;  // description of the latest violation
};

boost::json::object to_json(const module_manifest& manifest);
// A JSON array of objects.
std::string to_json(const std::vector<module_description>& modules);

}  // namespace ry::module
