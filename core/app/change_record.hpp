// What became of changes of modules: figures for /metrics, and the generations that stay in memory.
//
// Threads: all members [any]. Lifetime: no longer than the metrics.
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

class change_record {
 public:
  explicit change_record(observe::metrics& figures) : figures_(figures) {}

  // A module of this server: its figures are there from now on, at 0. Changes of others count as "unknown".
  void know(const std::string& module);
  // outcome: swapped, enabled, disabled or refused.
  void count(const std::string& module, const char* outcome);
  // A generation has ended; `told` is what an operator is told of it.
  void left(const module::module_end& e, const boost::json::object& told);
  // Puts "left" into the entries of modules of which generations stay in memory: the latest of them.
  void add_to(boost::json::array& modules) const;

 private:
  observe::metrics& figures_;
  mutable std::mutex mutex_;
  std::map<std::string, std::deque<boost::json::object>, std::less<>> in_memory_;  // of all that are known
};

}  // namespace ry::app
