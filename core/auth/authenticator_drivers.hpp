// The drivers of "ry.authenticator/1", and the order in which they are asked about a bearer value.
#pragma once

#include <ry/if/auth.h>

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "core/auth/principal.hpp"
#include "core/exec/loop.hpp"
#include "core/module/host.hpp"

namespace ry::auth {

// A driver of "ry.authenticator/1". The table and self stay valid until it was removed.
struct authenticator_driver {
  std::string name;  // drivers are asked in order of their names
  ry_host* owner = nullptr;
  const ry_authenticator_v1* table = nullptr;
  void* self = nullptr;
};

class authenticator_drivers : public std::enable_shared_from_this<authenticator_drivers> {
 public:
  // All [any].
  void add(authenticator_driver c);
  // `on_removed` runs once, possibly inside this call, as soon as no call into the table is in progress or will follow.
  void remove(std::string_view name, std::function<void()> on_removed);
  bool empty() const;
  // Asks one driver after the other until one recognises the value. `later` runs exactly once, on exec, never inside
  // this call.
  void ask(std::string bearer, ry_exec* exec, std::function<void(verdict)> later);

 private:
  struct entry;
  struct walk;
  std::shared_ptr<entry> next_after(const std::shared_ptr<entry>& last) const;
  static void step(std::unique_ptr<walk> w);
  static void on_answer(void* ctx, ry_status st, const ry_principal* who) noexcept;

  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<entry>> entries_;  // sorted by name
};

}  // namespace ry::auth
