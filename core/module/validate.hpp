// Do the modules fit together? Looked at as a whole, before anything becomes visible. Pure.
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
  const module_facts* facts;
  const registration* registered;
};

struct host_side {
  std::map<std::string, std::uint32_t> points;  // id -> smallest driver table
  std::vector<std::string> routes;              // of the host, for GET, outside of base_path
  std::string base_path;                        // before every route without RY_ROUTE_NO_PREFIX
  std::set<std::string> components;             // of the host's description: "schemas/host.Error"
};

// Sentences about duplicate and ambiguous routes, descriptions of routes that do not exist, drivers that
// do not fit, services that are too short, and promises of a descriptor that were not kept. Of two that clash the later one is
// refused.
std::vector<graph_refusal> validate(const std::vector<staged_module>& modules,
                                    const host_side& host);

}  // namespace ry::module
