// What modules can reach by name: the host's interfaces, the services of other modules, and the
// extension points that the host itself owns. One per process, made before the rooms and destroyed
// after the loops: code of modules that would not stop keeps pointing at what is kept here.
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
#include "core/module/sleeps.hpp"
#include "core/module/uuid.hpp"

namespace ry::module {

// Function tables of the host. Filled before the first module is created, constant from then on.
class interface_registry {
 public:
  // `table` begins with its struct_size and outlives all modules. Once per id.
  void add(std::string_view id, const void* table, std::uint32_t size);
  // The table, or nullptr when it is unknown or shorter than min_size. [any]
  const void* find(std::string_view id, std::uint32_t min_size) const noexcept;
  // 0: unknown. [any]
  std::uint32_t size_of(std::string_view id) const noexcept;
  std::vector<std::string> ids() const;

 private:
  struct entry {
    const void* table;
    std::uint32_t size;
  };
  std::map<std::string, entry, std::less<>> entries_;
};

// An extension point of the host, e.g. "ry.authenticator/1". Both functions run on the lifecycle
// thread; `removed` calls `done` once nothing of the driver is in use any more, from any thread.
struct host_point {
  std::string id;
  std::uint32_t min_size = 0;
  std::function<void(ry_host* owner, std::string_view driver, const void* table, void* self)> added;
  std::function<void(std::string_view driver, std::function<void()> done)> removed;
};

class registry {
 public:
  // A module that ended waited for the loops in vain: the next one is not so patient. [lifecycle]
  bool loops_hang = false;

  // Knows ry.core/1, ry.registrar/1, ry.services/1, ry.metrics/1 and ry.trace/1 from the start.
  registry();
  ~registry();
  registry(const registry&) = delete;
  registry& operator=(const registry&) = delete;

  interface_registry interfaces;
  std::vector<host_point> host_points;  // filled before the first module is created

  // A number that no other generation of this process has. [any]
  std::uint64_t next_generation() noexcept { return ++generations_; }

  uuid7_source uuids;
  sleep_book sleeps;
  lifecycle_limits limits;  // set before the first module is created
  lifecycle_thread lifecycle;

  // --- drivers of extension points of modules ---
  // `owner` reported a violation by a driver of `module`.
  void note_driver(const ry_host* owner, std::string_view point, std::string_view name, ry_host* module);
  // Nothing of this module or of its points is known any more.
  void forget_drivers(const ry_host* host);
  // See ry_services_v1. [any]
  ry_status driver_misbehaved(const ry_host* owner, std::string_view point, std::string_view name, std::string_view rule,
                              std::string_view problem);

  // --- symbols that all libraries of the process share (STB_GNU_UNIQUE) ---
  // The first library that defines one defines it for all that come later, for good. [lifecycle]
  std::set<std::string, std::less<>> unique_symbols;

  // --- interfaces and services; used by module_set ----------------------------------------------
  // `host` may use `needs` from now on until dismiss().
  void admit(const ry_host* host, std::vector<std::string> needs);
  // Whether get_interface() gives it: every module has ry.core/1, ry.registrar/1, ry.services/1 and
  // ry.trace/1, anything else is among its needs. [any]
  bool may_use(const ry_host* host, std::string_view id) const;
  // Ends the leases that `host` still holds and returns their ids.
  std::vector<std::string> dismiss(const ry_host* host);
  void publish(std::string id, ry_host* provider, const void* table, void* self);
  // `host` is one of those that are to take the place of others: until settle() what it publishes is
  // seen only by such hosts, and what they acquire comes from each other where it can.
  void stage(const ry_host* host);
  // Staged hosts get nothing of `provider`, which is to go.
  void hide(const ry_host* provider);
  // What staged hosts published is what everybody gets from now on; none is staged or hidden any more.
  void settle();
  // No new leases of what `provider` published; it is not staged any more.
  void withdraw(const ry_host* provider);
  // "<consumer> (<id>)" for every lease on services of `provider`.
  std::vector<std::string> leases_on(const ry_host* provider) const;

  // ry.services/1. [any]
  ry_status acquire(const ry_host* host, std::string_view id, std::uint32_t min_size,
                    const void** table, void** self, ry_lease** lease);
  void release(ry_lease* lease);

  // Keeps alive for good what code that would not stop may still use.
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
  std::vector<known_driver> drivers_;  // the latest of a name last
  std::vector<std::shared_ptr<void>> retired_;
  std::atomic<std::uint64_t> generations_{0};
};

// `get_interface` of create().
const void* get_interface(const ry_host* host, ry_str id, std::uint32_t min_size) noexcept;

}  // namespace ry::module
