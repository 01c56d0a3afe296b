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

  // Registers a module of this server, so that its metrics of swapped and refused modules start at 0. Swaps of other
  // names count as "unknown".
  void register_module(const std::string& module);
  // outcome: swapped, enabled, disabled or refused.
  void count(const std::string& module, const char* outcome);
  // Records that an instance has ended; `report` is what operators see.
  void record_end(const module::module_end& e, const boost::json::object& report);
  // Adds the most recent remaining instances as "left" to the entries of their modules.
  void add_to(boost::json::array& modules) const;

 private:
  observe::metrics& metrics_;
  mutable std::mutex mutex_;
  std::map<std::string, std::deque<boost::json::object>, std::less<>> in_memory_;  // of all known modules
};

}  // namespace ry::app
