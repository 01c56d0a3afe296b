// Maps code addresses to modules: the address ranges of the mapped module libraries. One map per process, because
// there is one address space. [any]
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <string_view>

struct ry_host;

namespace ry::module {

// The entry of one library in the map, from its loading on.
class code_range {
 public:
  // Enters the dynamic loader's mapping that contains this address. The map holds 1024 libraries; further ones are
  // not entered.
  code_range(const void* inside, std::string_view name) noexcept;
  ~code_range();  // removes the entry, except after stays()
  code_range(const code_range&) = delete;
  code_range& operator=(const code_range&) = delete;

  // Sets the host of the module that the code belongs to, and the module's name. nullptr: the module has ended but may
  // still have threads; the name is kept. The host must live until it is replaced.
  void belongs_to(ry_host* host, std::string_view name = {}) noexcept;
  // The code is never unmapped, so its name stays in the map.
  void stays() noexcept { stays_ = true; }

 private:
  std::size_t slot_;
  bool stays_ = false;
};

using code_name = std::array<char, 64>;  // NUL-terminated; empty: not a module's code
// Takes no lock and allocates no memory, so that signal handlers can call it.
code_name code_at(const void* address) noexcept;

// The innermost module with code on the calling thread's stack. Not for signal handlers.
struct caller {
  code_name name{};
  bool lives = false;  // `f` was called
};
// Calls f with that module's host, unless the module has ended; the module cannot end during the call.
caller calling_module(const std::function<void(ry_host&)>& f);

}  // namespace ry::module
