// Small parts of descriptions and messages.
#pragma once
#include <boost/json/array.hpp>
#include <string>
#include <vector>

namespace ry::module {

// module "name"
inline std::string quoted_module(const std::string& name) {
  return "module \"" + name + "\"";
}

inline boost::json::array json_array(const std::vector<std::string>& list) {
  boost::json::array out;
  for (const auto& s : list) out.emplace_back(s);
  return out;
}

}  // namespace ry::module
