// The schema of the host's own settings: names, types, defaults, limits.
#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <vector>

namespace ry::app::config {

// Default paths that depend on the location of the executable.
struct defaults {
  std::string data_dir = ".runyard";
  std::string modules_path;
};

boost::json::value host_schema(const defaults& places);

// Top-level keys of the host; every other top-level table belongs to the module of that name.
std::vector<std::string> host_keys();
// Every setting of the host by its full name: "http.tls.cert".
std::vector<std::string> host_settings();

}  // namespace ry::app::config
