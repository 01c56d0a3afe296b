// Helpers shared by the tests of module sets.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <initializer_list>
#include <string>
#include <vector>

#include "core/module/module_set.hpp"
#include "core/module/test_host.hpp"

namespace ry::module {

using use = module_spec::use;
using on_failure = module_spec::on_failure;

inline module_spec spec(const std::string& name, on_failure failure = on_failure::abort, use used = use::enabled) {
  return {fixture(name), used, failure, {}};
}
inline std::vector<module_spec> specs(std::initializer_list<const char*> names,
                                      on_failure failure = on_failure::abort) {
  std::vector<module_spec> out;
  for (const char* n : names) out.push_back(spec(n, failure));
  return out;
}

// A test with a module set of fixture modules.
struct module_set_test : testing::Test {
  void stop(int ms = 3000) { set.stop(std::chrono::system_clock::now() + std::chrono::milliseconds(ms)); }
  std::string prepared(const std::vector<module_spec>& list) { return set.prepare(list).text(); }
  module_description described(const std::string& name) {
    for (auto& d : set.describe())
      if (d.manifest.name == name) return d;
    ADD_FAILURE() << name << " is not described";
    return {};
  }
  std::vector<std::string> trace() { return trace_log::get().take(); }

  test_host host;
  module_set set{host.rt, {}};
};

}  // namespace ry::module
