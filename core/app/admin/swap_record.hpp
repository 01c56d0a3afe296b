// Records module swaps: their metrics, and the replaced module instances that stay in memory.
//
// Threads: all members [any]. Lifetime: must not outlive the metrics.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <deque>
#include <map>
#include <mutex>
#include <string>

#include "core/module/module_set.hpp"
#include "core/observe/metrics.hpp"

namespace ry::app {

class swap_record {
 public:
  explicit swap_record(observe::metrics& metrics) : metrics_(metrics) {}

  // Registers a module of this server, so that its counters of swaps and refused swaps start at 0. Swaps of
  // unregistered modules count as module "unknown".
  void register_module(const std::string& module);
  // outcome: swapped, enabled, disabled or refused; record_end() adds unloaded, still_mapped or retired.
  void count(const std::string& module, const char* outcome);
  // Records that an instance has ended. If it stays in memory, keeps `report`, its JSON for the admin API.
  void record_end(const module::module_end& e, const boost::json::object& report);
  // Adds the reports of the latest instances that stay in memory to the entries of their modules, as "left".
  void add_to(boost::json::array& modules) const;

 private:
  observe::metrics& metrics_;
  mutable std::mutex mutex_;
  std::map<std::string, std::deque<boost::json::object>, std::less<>> in_memory_;  // of all known modules
};

}  // namespace ry::app
