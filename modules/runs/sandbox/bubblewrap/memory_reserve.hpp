// A reserve of memory for all other programs on the machine, such as the server and its database. Kernel memory of a
// command without control groups (buffers of sockets and pipes) is not part of any process's memory, but it reduces the
// available memory.
//
// Thread: any. The functions block only on a file of /proc.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace bubblewrap {

// MemAvailable of /proc/meminfo, in bytes: memory that programs can use without swapping. nullopt: the text does not
// contain it.
std::optional<std::uint64_t> available_memory(std::string_view meminfo);

struct memory_state {
  std::uint64_t available_bytes = UINT64_MAX;  // UINT64_MAX: unknown
  bool enough = true;  // false: below the reserve
  bool urgent = false;  // below half of the reserve
};

class memory_reserve {
 public:
  using meminfo_reader = std::function<std::string()>;

  // reserve_bytes: 0: no reserve. read: returns the text of /proc/meminfo.
  explicit memory_reserve(std::uint64_t reserve_bytes, meminfo_reader read = {});

  bool enabled() const { return reserve_bytes_ != 0; }
  std::uint64_t bytes() const { return reserve_bytes_; }
  // If the kernel does not report the available memory, `enough` is always true.
  memory_state current_state() const;

 private:
  const std::uint64_t reserve_bytes_;
  const meminfo_reader read_;
};

}  // namespace bubblewrap
