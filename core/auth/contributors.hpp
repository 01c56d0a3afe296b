// The drivers of "ry.authenticator/1", and how a bearer value walks along them.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "core/auth/authenticator.hpp"

namespace ry::auth {

class contributors : public std::enable_shared_from_this<contributors> {
 public:
  // All [any].
  void add(contributor c);
  // `gone` runs once when no call into the table is under way or will follow, maybe inside this
  // call.
  void remove(std::string_view name, std::function<void()> gone);
  bool empty() const;
  // Asks one driver after the other until one knows the value. `later` runs exactly once, on exec,
  // never inside this call.
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
