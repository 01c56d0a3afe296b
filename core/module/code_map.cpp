#include "core/module/code_map.hpp"

#include <dlfcn.h>
#include <execinfo.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <iterator>
#include <mutex>
#include <tuple>

namespace ry::module {

namespace {

struct slot {
  std::atomic<std::uintptr_t> begin{0}, end{0};  // 0, 0: free
  std::array<std::atomic<char>, std::tuple_size_v<code_name>> name{};
  ry_host* host = nullptr;  // under the mutex
  bool taken = false;  // under the mutex
};

constexpr std::size_t no_slot = 1024;
std::array<slot, no_slot> slots;
std::mutex mutex;

slot* find(const void* address) noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  for (auto& s : slots)
    if (at >= s.begin.load(std::memory_order_acquire) && at < s.end.load(std::memory_order_acquire)) return &s;
  return nullptr;
}

code_name name_of(const slot& s) noexcept {
  code_name out{};
  for (std::size_t i = 0; i + 1 < out.size(); ++i) out[i] = s.name[i].load(std::memory_order_relaxed);
  return out;
}

void call(slot& s, std::string_view name) noexcept {
  for (std::size_t i = 0; i < s.name.size(); ++i)
    s.name[i].store(i < name.size() && i + 1 < s.name.size() ? name[i] : '\0', std::memory_order_relaxed);
}

}  // namespace

code_range::code_range(const void* inside, std::string_view name) noexcept : slot_(no_slot) {
  dl_find_object found{};
  if (::_dl_find_object(const_cast<void*>(inside), &found) != 0) return;
  std::lock_guard lock(mutex);
  const auto free = std::find_if(slots.begin(), slots.end(), [](const slot& s) { return !s.taken; });
  if (free == slots.end()) return;
  slot_ = static_cast<std::size_t>(free - slots.begin());
  free->taken = true;
  call(*free, name);
  free->begin.store(reinterpret_cast<std::uintptr_t>(found.dlfo_map_start), std::memory_order_release);
  free->end.store(reinterpret_cast<std::uintptr_t>(found.dlfo_map_end), std::memory_order_release);
}

code_range::~code_range() {
  if (slot_ == no_slot) return;
  std::lock_guard lock(mutex);
  slot& s = slots[slot_];
  s.host = nullptr;
  if (stays_) return;
  s.end.store(0, std::memory_order_release);
  s.begin.store(0, std::memory_order_release);
  s.taken = false;
}

void code_range::belongs_to(ry_host* host, std::string_view name) noexcept {
  if (slot_ == no_slot) return;
  std::lock_guard lock(mutex);
  slots[slot_].host = host;
  if (host != nullptr) call(slots[slot_], name);
}

code_name code_at(const void* address) noexcept {
  const slot* s = find(address);
  return s != nullptr ? name_of(*s) : code_name{};
}

caller calling_module(const std::function<void(ry_host&)>& f) {
  void* frames[64];
  const int n = ::backtrace(frames, std::size(frames));
  std::lock_guard lock(mutex);
  for (int i = 0; i < n; ++i) {
    const slot* s = find(frames[i]);
    if (s == nullptr) continue;
    if (s->host != nullptr) f(*s->host);
    return {name_of(*s), s->host != nullptr};
  }
  return {};
}

}  // namespace ry::module
