#include "core/module/registry.hpp"

#include <algorithm>
#include <cstdint>
#include <stdexcept>

#include "core/module/abi.hpp"

struct ry_lease {
  ry::module::registry* owner;
  const ry_host* consumer;
  std::string id;
  ry::module::hold provider;
};

namespace ry::module {

void interface_registry::add(std::string_view id, const void* table, std::uint32_t size) {
  if (!table || size < sizeof(std::uint32_t) || !entries_.emplace(std::string(id), entry{table, size}).second)
    throw std::logic_error("interface " + std::string(id) + " cannot be added");
}

const void* interface_registry::find(std::string_view id, std::uint32_t min_size) const noexcept {
  const auto it = entries_.find(id);
  return it == entries_.end() || it->second.size < min_size ? nullptr : it->second.table;
}

std::uint32_t interface_registry::size_of(std::string_view id) const noexcept {
  const auto it = entries_.find(id);
  return it == entries_.end() ? 0 : it->second.size;
}

std::vector<std::string> interface_registry::ids() const {
  std::vector<std::string> out;
  for (const auto& [id, e] : entries_) out.push_back(id);
  return out;
}

registry::registry() {
  interfaces.add(RY_CORE_1, &core_v1(), sizeof(ry_core_v1));
  interfaces.add(RY_METRICS_1, &metrics_v1(), sizeof(ry_metrics_v1));
  interfaces.add(RY_REGISTRAR_1, &registrar_v1(), sizeof(ry_registrar_v1));
  interfaces.add(RY_SERVICES_1, &services_v1(), sizeof(ry_services_v1));
  interfaces.add(RY_TRACE_1, &trace_v1(), sizeof(ry_trace_v1));
}

registry::~registry() = default;

void registry::admit(const ry_host* host, std::vector<std::string> needs) {
  std::lock_guard lock(mutex_);
  needs_[host] = {needs.begin(), needs.end()};
}

void registry::note_driver(const ry_host* owner, std::string_view point, std::string_view name, ry_host* module) {
  std::lock_guard lock(mutex_);
  drivers_.push_back({owner, std::string(point), std::string(name), module});
}

void registry::forget_drivers(const ry_host* host) {
  std::lock_guard lock(mutex_);
  std::erase_if(drivers_, [host](const known_driver& d) { return d.owner == host || d.module == host; });
}

ry_status registry::report_driver_violation(const ry_host* owner, std::string_view point, std::string_view name,
                                            std::string_view rule, std::string_view problem) {
  std::lock_guard lock(mutex_);
  const auto known = std::find_if(drivers_.rbegin(), drivers_.rend(), [&](const known_driver& d) {
    return d.owner == owner && d.point == point && d.name == name;
  });
  if (known == drivers_.rend()) return RY_NOT_FOUND;
  report_violation(known->module, rule, point, problem);
  return RY_OK;
}

std::vector<std::string> registry::dismiss(const ry_host* host) {
  std::vector<std::string> left;
  std::lock_guard lock(mutex_);
  needs_.erase(host);
  for (auto it = leases_.begin(); it != leases_.end();) {
    if (it->second->consumer == host) {
      left.push_back(it->second->id);
      it = leases_.erase(it);
    } else {
      ++it;
    }
  }
  return left;
}

void registry::publish(std::string id, ry_host* provider, const void* table, void* self) {
  std::lock_guard lock(mutex_);
  (staged_.contains(provider) ? staged_services_ : services_)[std::move(id)] = {provider, table, self};
}

void registry::stage(const ry_host* host) {
  std::lock_guard lock(mutex_);
  staged_.insert(host);
}

void registry::hide(const ry_host* provider) {
  std::lock_guard lock(mutex_);
  hidden_.insert(provider);
}

void registry::settle() {
  std::lock_guard lock(mutex_);
  for (auto& [id, s] : staged_services_) services_.insert_or_assign(id, s);
  staged_services_.clear();
  staged_.clear();
  hidden_.clear();
}

void registry::withdraw(const ry_host* provider) {
  const auto its = [&](const auto& s) { return s.second.provider == provider; };
  std::lock_guard lock(mutex_);
  std::erase_if(services_, its);
  std::erase_if(staged_services_, its);
  staged_.erase(provider);
}

std::vector<std::string> registry::leases_on(const ry_host* provider) const {
  std::vector<std::string> out;
  std::lock_guard lock(mutex_);
  for (const auto& [p, lease] : leases_)
    if (lease->provider.get() == provider) out.push_back(lease->consumer->name + " (" + lease->id + ")");
  return out;
}

ry_status registry::acquire(const ry_host* host, std::string_view id, std::uint32_t min_size, const void** table,
                            void** self, ry_lease** lease) {
  std::lock_guard lock(mutex_);
  const auto needs = needs_.find(host);
  if (needs == needs_.end() || !needs->second.contains(id)) return RY_FAILED_PRECONDITION;
  const bool staged = staged_.contains(host);
  auto it = staged_services_.find(id);
  if (!staged || it == staged_services_.end()) {
    it = services_.find(id);
    if (it == services_.end() || (staged && hidden_.contains(it->second.provider))) return RY_NOT_FOUND;
  }
  if (*static_cast<const std::uint32_t*>(it->second.table) < min_size) return RY_FAILED_PRECONDITION;
  auto made = std::make_unique<ry_lease>(ry_lease{this, host, std::string(id), hold(it->second.provider)});
  ry_lease* const handle = made.get();
  leases_.emplace(handle, std::move(made));
  *table = it->second.table;
  *self = it->second.self;
  *lease = handle;
  return RY_OK;
}

void registry::release(ry_lease* lease) {
  std::lock_guard lock(mutex_);
  leases_.erase(lease);
}

void registry::retire(std::shared_ptr<void> what) {
  std::lock_guard lock(mutex_);
  retired_.push_back(std::move(what));
}

bool registry::may_use(const ry_host* host, std::string_view id) const {
  for (const char* everybodys : {RY_CORE_1, RY_REGISTRAR_1, RY_SERVICES_1, RY_TRACE_1})
    if (id == everybodys) return true;
  std::lock_guard lock(mutex_);
  const auto needs = needs_.find(host);
  return needs != needs_.end() && needs->second.contains(id);
}

const void* get_interface(const ry_host* host, ry_str id, std::uint32_t min_size) noexcept {
  const auto* table = host->rt.modules->interfaces.find(core::sv(id), min_size);
  if (!table || host->rt.modules->may_use(host, core::sv(id))) return table;
  report_violation(const_cast<ry_host*>(host), "an interface that its manifest does not list in `needs`",
                   "get_interface", core::sv(id));
  return nullptr;
}

const ry_services_v1& services_v1() noexcept {
  static constexpr ry_services_v1 table = {
      sizeof(ry_services_v1), 0,
      [](const ry_host* host, ry_str id, uint32_t min_size, const void** table, void** self,
         ry_lease** lease) noexcept -> ry_status {
        if (!table || !self || !lease) return RY_INVALID_ARGUMENT;
        try {
          return host->rt.modules->acquire(host, core::sv(id), min_size, table, self, lease);
        } catch (...) {
          return RY_RESOURCE_EXHAUSTED;
        }
      },
      [](ry_lease* lease) noexcept {
        if (lease) lease->owner->release(lease);
      },
      [](const ry_host* host, ry_str point, ry_str driver, ry_str rule, ry_str problem) noexcept -> ry_status {
        try {
          return host->rt.modules->report_driver_violation(host, core::sv(point), core::sv(driver), core::sv(rule),
                                                           core::sv(problem));
        } catch (...) {
          return RY_RESOURCE_EXHAUSTED;
        }
      }};
  return table;
}

}  // namespace ry::module
