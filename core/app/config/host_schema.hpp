// The host's own settings as a schema: names, types, defaults, limits.
#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <vector>

namespace ry::app::config {

// Places that depend on where the executable stands.
struct defaults {
  std::string data_dir = ".runyard";
  std::string modules_path;
};

boost::json::value host_schema(const defaults& places);

// Top-level keys of the host; every other top-level table belongs to the module of that name.
std::vector<std::string> host_keys();
// Every setting of the host by its whole name: "http.tls.cert".
std::vector<std::string> host_settings();

}  // namespace ry::app::config
