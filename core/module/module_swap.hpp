// One hot swap of modules while the host runs: it creates and starts new instances next to the running ones, switches
// over atomically, and then ends the old instances. A failure before commit() leaves everything unchanged.
//
// Threads: one.
#pragma once

#include <chrono>
#include <cstddef>
#include <set>
#include <vector>

#include "core/module/describe.hpp"
#include "core/module/inspect.hpp"
#include "core/module/module_graph.hpp"
#include "core/module/set_types.hpp"

namespace ry::module {

class module_swap {
 public:
  using clock = std::chrono::steady_clock;

  // `now` is the current module graph; commit() replaces it with the new one.
  explicit module_swap(module_graph& now);
  // Ends the new instances unless they were committed.
  ~module_swap();
  module_swap(const module_swap&) = delete;
  module_swap& operator=(const module_swap&) = delete;

  // Creates the new instances next to the old ones: load, settings, create, validate. Modules that use what a swapped
  // module provides get new instances too. If this report or that of start() contains a problem, destroy this object.
  report stage(const swap_request& request);
  // Registrations of the new instances. After stage().
  std::vector<module_migrations> migrations() const;
  std::vector<job_kind> jobs() const;
  // Starts the new instances. After stage() and the migrations.
  report start();
  // Whether a statement of a new module failed because an object is missing in the schema.
  bool missed_schema() const;
  // Switches to the new instances, their services and drivers. Waits until the deadline for owners of extension
  // points that cannot use a driver and its successor at the same time.
  void commit(clock::time_point deadline);
  // After commit(): the old instances that still live, and their end. Stop routing requests to them first.
  std::vector<ry_host*> leaving() const;
  std::vector<module_end> end_leaving(clock::time_point deadline);

 private:
  void apply(const module_change& wanted, report& out);
  void renew(std::size_t i, const module_spec& spec, report& out);
  void add_dependents(report& out);
  void name_dependents(const swap_request& request, report& out) const;
  // Replaced or added by this swap; after commit(), an instance that leaves.
  bool is_affected(std::size_t i) const { return affected_.contains(i) && next_.entries[i].present(); }
  void replace_drivers(std::size_t i, clock::time_point deadline);

  module_graph& now_;
  // Equal indexes denote the same module in both graphs; new modules are at the end. After commit() this is the
  // previous graph.
  module_graph next_;
  std::set<std::size_t> affected_;  // to be replaced or removed
  bool committed_ = false;
};

}  // namespace ry::module
