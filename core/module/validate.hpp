// Validates all modules together, before anything becomes visible. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/module/graph.hpp"
#include "core/module/registration.hpp"

namespace ry::module {

struct staged_module {
  const module_manifest* manifest;
  const registration* registered;
};

struct host_side {
  std::map<std::string, std::uint32_t> points;  // id -> minimum size of a driver's table
  std::vector<std::string> routes;  // of the host: GET, outside of base_path
  std::string base_path;  // prefix of every route without RY_ROUTE_NO_PREFIX
  std::set<std::string> components;  // of the host's OpenAPI description: "schemas/host.Error"
};

// Returns error messages about duplicate and ambiguous routes, descriptions of missing routes, incompatible drivers,
// service tables that are too short, and services that a descriptor declares but the module does not provide. Of two
// conflicting modules the later one is rejected.
std::vector<graph_refusal> validate(const std::vector<staged_module>& modules, const host_side& host);

}  // namespace ry::module
