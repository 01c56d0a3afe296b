// Everything that modules reach by name: the host's interfaces, the services of other modules, and the host's
// extension points. One per process, created before the host's components and destroyed after the loops, because the
// code of modules that did not stop may keep using it.
#pragma once

#include <ry/if/services.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/module/host.hpp"
#include "core/module/lifecycle_thread.hpp"
#include "core/module/timer_registry.hpp"
#include "core/module/uuid.hpp"

namespace ry::module {

// The host's function tables. Filled before the first module is created, constant from then on.
class interface_registry {
 public:
  // `table` begins with its struct_size and outlives all modules. Once per id.
  void add(std::string_view id, const void* table, std::uint32_t size);
  // Returns the table, or nullptr if it is unknown or shorter than min_size. [any]
  const void* find(std::string_view id, std::uint32_t min_size) const noexcept;
  // The table's size; 0: unknown. [any]
  std::uint32_t size_of(std::string_view id) const noexcept;
  std::vector<std::string> ids() const;

 private:
  struct entry {
    const void* table;
    std::uint32_t size;
  };
  std::map<std::string, entry, std::less<>> entries_;
};

// An extension point of the host, such as "ry.authenticator/1". Both functions run on the lifecycle thread. `removed`
// calls `done`, from any thread, once the driver is no longer in use.
struct host_point {
  std::string id;
  std::uint32_t min_size = 0;
  std::function<void(ry_host* owner, std::string_view driver, const void* table, void* self)> added;
  std::function<void(std::string_view driver, std::function<void()> done)> removed;
};

class registry {
 public:
  // A stopping module has used up the extra time for busy loops without success; the next one does not get it.
  // [lifecycle]
  bool loops_hang = false;

  // Contains ry.core/1, ry.registrar/1, ry.services/1, ry.metrics/1 and ry.trace/1 from the start.
  registry();
  ~registry();
  registry(const registry&) = delete;
  registry& operator=(const registry&) = delete;

  interface_registry interfaces;
  std::vector<host_point> host_points;  // filled before the first module is created

  // A number that is unique among the module instances of this process. [any]
  std::uint64_t next_instance() noexcept { return ++instances_; }

  uuid7_source uuids;
  timer_registry timers;
  lifecycle_limits limits;  // set before the first module is created
  lifecycle_thread lifecycle;

  // --- drivers of extension points of modules ---
  // Records that `owner` was given this driver of `module`.
  void note_driver(const ry_host* owner, std::string_view point, std::string_view name, ry_host* module);
  // Forgets the drivers of this module and the drivers of its extension points.
  void forget_drivers(const ry_host* host);
  // `owner` reports a violation by a driver; see ry_services_v1. [any]
  ry_status report_driver_violation(const ry_host* owner, std::string_view point, std::string_view name,
                                    std::string_view rule, std::string_view problem);

  // --- symbols that all libraries of the process share (STB_GNU_UNIQUE) ---
  // The first loaded library that defines such a symbol defines it for all later ones, permanently. [lifecycle]
  std::set<std::string, std::less<>> unique_symbols;

  // --- interfaces and services; used by module_set ----------------------------------------------
  // Allows `host` to use `needs` until dismiss().
  void admit(const ry_host* host, std::vector<std::string> needs);
  // Whether get_interface() returns this interface: every module may use ry.core/1, ry.registrar/1, ry.services/1 and
  // ry.trace/1, and otherwise only its declared needs. [any]
  bool may_use(const ry_host* host, std::string_view id) const;
  // Ends the service leases that `host` still holds and returns their ids.
  std::vector<std::string> dismiss(const ry_host* host);
  void publish(std::string id, ry_host* provider, const void* table, void* self);
  // Marks `host` as an instance that will replace others. Until settle(), only staged hosts see the services it
  // publishes, and staged hosts prefer each other's services.
  void stage(const ry_host* host);
  // Hides the services of `provider`, which will be removed, from staged hosts.
  void hide(const ry_host* provider);
  // Makes the staged services visible to all hosts; then no host is staged or hidden any more.
  void settle();
  // Ends the publication of the services of `provider`: no new leases. It is no longer staged.
  void withdraw(const ry_host* provider);
  // "<consumer> (<id>)" for each lease on services of `provider`.
  std::vector<std::string> leases_on(const ry_host* provider) const;

  // ry.services/1. [any]
  ry_status acquire(const ry_host* host, std::string_view id, std::uint32_t min_size, const void** table, void** self,
                    ry_lease** lease);
  void release(ry_lease* lease);

  // Keeps an object alive until the process ends, because code that did not stop may still use it.
  void retire(std::shared_ptr<void> what);

 private:
  struct published {
    ry_host* provider;
    const void* table;
    void* self;
  };
  using services = std::map<std::string, published, std::less<>>;
  mutable std::mutex mutex_;
  std::map<const ry_host*, std::set<std::string, std::less<>>> needs_;
  services services_, staged_services_;
  std::set<const ry_host*> staged_, hidden_;
  std::map<ry_lease*, std::unique_ptr<ry_lease>> leases_;
  struct known_driver {
    const ry_host* owner;
    std::string point, name;
    ry_host* module;
  };
  std::vector<known_driver> drivers_;  // if a name occurs several times, the latest is last
  std::vector<std::shared_ptr<void>> retired_;
  std::atomic<std::uint64_t> instances_{0};
};

// The `get_interface` function that create() passes to modules.
const void* get_interface(const ry_host* host, ry_str id, std::uint32_t min_size) noexcept;

}  // namespace ry::module
