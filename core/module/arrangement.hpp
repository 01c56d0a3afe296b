// The modules of a set as they stand, or as they are to stand after a change: what was found, who
// needs whom, which of them live, and who was told of whose drivers. The steps of a life are
// here; module_set puts them in order.
//
// Threads: one; states, reasons and generations change under `mutex`, so that others may
// look at them under it.
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

#include "core/module/generation.hpp"
#include "core/module/graph.hpp"
#include "core/module/module_set.hpp"
#include "core/module/registry.hpp"

namespace ry::module {

struct module_entry {
  module_spec spec;
  std::shared_ptr<const sealed_image> image;  // until it is loaded
  std::shared_ptr<rehearsal> tried;           // until it is created
  inspection seen;
  module_facts facts;
  module_state state = module_state::refused;
  std::string reason;
  std::shared_ptr<generation> gen;
  module_description registered;  // only the lists of what it registered
  std::uint64_t schema_misses = 0;  // of the last generation that ended

  bool present() const {
    return gen && (state == module_state::created || state == module_state::started);
  }
};

// Why the code of a module that ended can stay in memory until the process ends.
const char* why_mapped(const module_facts& facts) noexcept;

class arrangement {
 public:
  using clock = std::chrono::steady_clock;

  arrangement(runtime& rt, const set_options& options, std::shared_mutex& mutex)
      : rt(rt), reg(*rt.modules), options(options), mutex(mutex) {}

  // A driver that an owner was told of. owner == no_module: a point of the host.
  struct announced {
    std::size_t driver_module, owner;
    driver what;
    point where;             // of a module
    const host_point* host;  // of the host
    lifecycle_completion* handed_over = nullptr;  // another one has its place already; complete when nothing uses this one
    std::shared_ptr<generation> holder;  // whose completion that is
  };
  static constexpr std::size_t no_module = static_cast<std::size_t>(-1);

  runtime& rt;
  registry& reg;
  const set_options& options;
  std::shared_mutex& mutex;
  std::vector<module_entry> entries;
  std::vector<std::size_t> order;  // of what the graph lets start
  std::map<std::size_t, std::vector<std::size_t>> required;
  std::vector<announced> drivers;

  void set_state(std::size_t i, module_state s, std::string reason = {});
  void add_problem(std::size_t i, const std::string& message, report& out, bool follows = false);
  // Leaves out module i and all that need it; ends what was created of them.
  void drop(std::size_t i, const std::string& message, report& out);
  // The same for several, each with its own reason, in the order of start.
  using reasons = std::vector<std::pair<std::size_t, std::string>>;
  void drop(reasons out_with, report& out);

  // Reads the file; its entry is the last one then.
  void look(const module_spec& spec, report& out);
  // Fills `order` and `required`.
  void arrange(report& out);
  enum class occasion {
    start,
    change,  // something is running that must not suffer
  };
  // Loads and creates those in `order` that do not live yet.
  void load_all(report& out, occasion when);
  void create_all(report& out, const settings_fn& settings, const setting_faults& faults);
  // What does not fit together, by index into `entries`; the first is to blame.
  std::vector<graph_refusal> misfits() const;
  // Tells the owner of extension points of all drivers that are present.
  void announce_to(std::size_t owner);
  // Asks those of `asked` that check their settings themselves, then drops those with faults.
  void check_settings(const std::vector<std::size_t>& asked, report& out, const setting_faults& faults);
  void start_one(std::size_t i, report& out);
  // The points of the host, which uses drivers only of modules that run.
  void announce_to_host(std::size_t i);

  // From whatever state to destroyed, or retired when it will not end in time. True: its code is
  // unmapped.
  bool end(std::size_t i, clock::time_point deadline, unmapping unmap);

 private:
  std::vector<std::size_t> dependents(const std::set<std::size_t>& failed) const;
  std::string needed_of(std::size_t user, const std::set<std::size_t>& failed) const;
  std::string refuse_file(const module_entry& e) const;
  // Throws std::runtime_error with a sentence.
  void refuse_shared_symbols(const module_entry& e) const;
  void drop_failed_start(std::size_t i, const std::string& message, report& out);
  // False: an owner still uses one of its drivers.
  bool withdraw_drivers(std::size_t i, clock::time_point deadline);
  bool unload(std::size_t i, unmapping unmap);
  void remember(module_entry& e);
  void retire(std::size_t i, const std::string& why);
};

// What a module gets to end whose start failed.
inline constexpr auto failed_start_time = std::chrono::seconds(5);

}  // namespace ry::module
