// Calls that pass their result to a ry_take_fn. Used by secrets.hpp and auth.hpp.
#pragma once

#include <ry/cpp/op.hpp>
#include <string>

namespace ry {

namespace detail {
// For functions that pass bytes to a ry_take_fn once, within the call.
template <class Call>
result<std::string> taken(const char* what, Call&& c) {
  struct sink {
    std::string out;
    ry_status st = RY_OK;
  } s;
  const ry_status st = c(
      [](void* p, ry_bytes b) noexcept {
        auto* to = static_cast<sink*>(p);
        to->st = guard([&] { to->out = text(b); });
      },
      static_cast<void*>(&s));
  if (st != RY_OK) return error(st, what, std::string(what) + ": " + status_name(st));
  if (s.st != RY_OK) return error(s.st);
  return std::move(s.out);
}
}  // namespace detail

}  // namespace ry
