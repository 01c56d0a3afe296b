// Whose code stands where: the address ranges of modules that are mapped. As there is one address space, there is one
// map of it. [any]
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <string_view>

struct ry_host;

namespace ry::module {

// One library's part of the map, from its load on.
class code_range {
 public:
  // What the dynamic loader mapped around this address. Beyond a thousand libraries: nothing is noted.
  code_range(const void* inside, std::string_view name) noexcept;
  ~code_range();  // unmapped; see stays()
  code_range(const code_range&) = delete;
  code_range& operator=(const code_range&) = delete;

  // Who answers for what the code does, which has its name from now on; nullptr: it has ended, and may still have
  // threads. The host lives until it is another one.
  void belongs_to(ry_host* host) noexcept;
  // The code is never unmapped: its name stays on the map.
  void stays() noexcept { stays_ = true; }

 private:
  std::size_t slot_;
  bool stays_ = false;
};

using code_name = std::array<char, 64>;  // ends with NUL; empty: no module's code
// Takes no lock and no memory: for signal handlers too.
code_name code_at(const void* address) noexcept;

// The innermost module whose code is on the stack of this thread. Not in signal handlers.
struct caller {
  code_name name{};
  bool lives = false;  // `f` was called
};
// Calls f with the module's host, which does not end meanwhile, unless it has ended already.
caller calling_module(const std::function<void(ry_host&)>& f);

}  // namespace ry::module
