// The module graph, current or after a pending hot swap: the modules found, their dependencies, their states, and
// which drivers were announced to which owners. Implements the steps of the module lifecycle; module_set orders them.
//
// Threads: one. States, reasons and module instances change under `mutex`, so that other threads can read them under
// it.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <shared_mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/module/describe.hpp"
#include "core/module/graph.hpp"
#include "core/module/inspect.hpp"
#include "core/module/module_instance.hpp"
#include "core/module/registry.hpp"
#include "core/module/set_types.hpp"

namespace ry::module {

struct module_entry {
  module_spec spec;
  std::shared_ptr<const sealed_image> image;  // until the module is loaded
  std::shared_ptr<preflight> tried;  // the preflight; until the module is created
  inspection seen;
  module_manifest manifest;
  module_state state = module_state::refused;
  std::string reason;
  std::shared_ptr<module_instance> gen;
  module_description registered;  // only lists what it registered
  std::uint64_t schema_misses = 0;  // of the latest instance that ended

  bool present() const { return gen && (state == module_state::created || state == module_state::started); }
};

// Why the code of an ended module may stay mapped until the process ends.
const char* why_mapped(const module_manifest& manifest) noexcept;

class module_graph {
 public:
  using clock = std::chrono::steady_clock;

  module_graph(runtime& rt, const set_options& options, std::shared_mutex& mutex)
      : rt(rt), reg(*rt.modules), options(options), mutex(mutex) {}

  // A driver that was announced to its owner. owner == no_module: to an extension point of the host.
  struct announced {
    std::size_t driver_module, owner;
    driver what;
    point where;  // of a module
    const host_point* host;  // of the host
    lifecycle_completion* replacement = nullptr;  // if replaced: complete once the owner no longer uses this driver
    std::shared_ptr<module_instance> holder;  // owns replacement
  };
  static constexpr std::size_t no_module = static_cast<std::size_t>(-1);

  runtime& rt;
  registry& reg;
  const set_options& options;
  std::shared_mutex& mutex;
  std::vector<module_entry> entries;
  std::vector<std::size_t> order;  // start order of the modules that the graph lets start
  std::map<std::size_t, std::vector<std::size_t>> required;
  std::vector<announced> drivers;

  void set_state(std::size_t i, module_state s, std::string reason = {});
  void add_problem(std::size_t i, const std::string& message, report& out, bool follows = false);
  // Drops module i and all modules that need it; ends those already created.
  void drop(std::size_t i, const std::string& message, report& out);
  // Drops several modules, each with a reason, in start order.
  using reasons = std::vector<std::pair<std::size_t, std::string>>;
  void drop(reasons out_with, report& out);

  // Inspects the file and appends its entry.
  void look(const module_spec& spec, report& out);
  // Resolves the graph: fills `order` and `required`.
  void arrange(report& out);
  enum class load_phase {
    start,
    change,  // running modules must not be affected
  };
  // Loads the modules in `order` that have no instance yet; create_all() creates them.
  void load_all(report& out, load_phase when);
  void create_all(report& out, const settings_fn& settings, const setting_faults& faults);
  // Finds conflicts between modules, by index into `entries`; each names the module to refuse.
  std::vector<graph_refusal> validation_errors() const;
  // Announces all present drivers to the owner of extension points.
  void announce_to(std::size_t owner);
  // Calls ry.settings_check/1 of the modules in `asked`, then drops those with faults.
  void check_settings(const std::vector<std::size_t>& asked, report& out, const setting_faults& faults);
  void start_one(std::size_t i, report& out);
  // Announces drivers to the host's extension points; the host uses drivers of running modules only.
  void announce_to_host(std::size_t i);

  // Brings a module from any state to destroyed, or retires it if it does not end in time. Returns true if its code
  // is unmapped.
  bool end(std::size_t i, clock::time_point deadline, unmapping unmap);

 private:
  std::vector<std::size_t> dependents(const std::set<std::size_t>& failed) const;
  std::string needed_of(std::size_t user, const std::set<std::size_t>& failed) const;
  std::string refuse_file(const module_entry& e) const;
  // Throws std::runtime_error with a message for the operator.
  void refuse_shared_symbols(const module_entry& e) const;
  void drop_failed_start(std::size_t i, const std::string& message, report& out);
  // Returns false if an owner still uses one of the drivers.
  bool withdraw_drivers(std::size_t i, clock::time_point deadline);
  bool unload(std::size_t i, unmapping unmap);
  void remember(module_entry& e);
  void retire(std::size_t i, const std::string& why);
};

// How long a module whose start failed may take to end.
inline constexpr auto failed_start_time = std::chrono::seconds(5);

}  // namespace ry::module
