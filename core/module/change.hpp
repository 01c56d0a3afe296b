// One change of the modules while the host runs: new generations are made and started beside those
// that live, take their places at once, and the old ones leave. Whatever fails before commit()
// leaves everything as it was.
//
// Threads: one.
#pragma once

#include <chrono>
#include <cstddef>
#include <set>
#include <vector>

#include "core/module/arrangement.hpp"
#include "core/module/module_set.hpp"

namespace ry::module {

class change {
 public:
  using clock = std::chrono::steady_clock;

  // `now` is what stands; commit() puts the new arrangement in its place.
  explicit change(arrangement& now);
  // Ends what was made and not committed.
  ~change();
  change(const change&) = delete;
  change& operator=(const change&) = delete;

  // See module_set. Any problem means: to be thrown away.
  report prepare(const change_request& request);
  std::vector<module_migrations> migrations() const;
  std::vector<job_kind> jobs() const;
  report start();
  // Whether a statement of a new module failed because something is not in the schema.
  bool missed_schema() const;
  void commit(clock::time_point deadline);
  std::vector<ry_host*> leaving() const;
  std::vector<module_end> end_leaving(clock::time_point deadline);

 private:
  void apply(const module_change& wanted, report& out);
  void renew(std::size_t i, const module_spec& spec, report& out);
  void spread(report& out);
  void name_dependents(const change_request& request, report& out) const;
  // A new generation; after commit() one that leaves.
  bool fresh(std::size_t i) const { return affected_.contains(i) && next_.entries[i].present(); }
  void hand_over_drivers(std::size_t i, clock::time_point deadline);

  arrangement& now_;
  // The same index means the same module in both; new modules stand at the end. After commit() this
  // is what stood before.
  arrangement next_;
  std::set<std::size_t> affected_;  // made anew, or to go
  bool committed_ = false;
};

}  // namespace ry::module
