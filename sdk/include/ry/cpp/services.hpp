// Services of other modules: ry.services/1.
#pragma once

#include <ry/cpp/op.hpp>
#include <string>
#include <string_view>
#include <utility>

namespace ry {

// A lease on a service's table. svc->fn(svc.self(), ...)
template <class Table>
class service {
 public:
  service() = default;
  service(const ry_services_v1* services, const Table* table, void* self, ry_lease* lease) noexcept
      : services_(services), table_(table), self_(self), lease_(lease) {}
  service(service&& o) noexcept
      : services_(o.services_),
        table_(std::exchange(o.table_, nullptr)),
        self_(o.self_),
        lease_(std::exchange(o.lease_, nullptr)) {}
  service& operator=(service&& o) noexcept {
    std::swap(services_, o.services_);
    std::swap(table_, o.table_);
    std::swap(self_, o.self_);
    std::swap(lease_, o.lease_);
    return *this;
  }
  ~service() { release(); }
  void release() noexcept {
    table_ = nullptr;
    if (lease_ != nullptr) services_->release(std::exchange(lease_, nullptr));
  }
  const Table* operator->() const noexcept { return table_; }
  void* self() const noexcept { return self_; }
  explicit operator bool() const noexcept { return table_ != nullptr; }

 private:
  const ry_services_v1* services_ = nullptr;
  const Table* table_ = nullptr;
  void* self_ = nullptr;
  ry_lease* lease_ = nullptr;
};

// Throws RY_NOT_FOUND if no module provides it.
template <class Table>
service<Table> context::acquire(std::string_view id) const {
  const auto& services = interface<ry_services_v1>();
  const void* table = nullptr;
  void* self = nullptr;
  ry_lease* lease = nullptr;
  const ry_status st = services.acquire(host_, str(id), sizeof(Table), &table, &self, &lease);
  if (st != RY_OK) {
    throw error(st, "services.acquire", "the service " + std::string(id) + " is not available: " + status_name(st));
  }
  return service<Table>(&services, static_cast<const Table*>(table), self, lease);
}

}  // namespace ry
