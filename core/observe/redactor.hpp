// The set of secrets that must not reach a log, and the masking of text by it.
// Threads: all members [any].
#pragma once

#include <cstdint>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace ry::observe {

class redactor {
 public:
  static constexpr std::size_t min_length = 6;
  static constexpr std::string_view mask = "[redacted]";

  // Remembers `secret` and its JSON-escaped spelling. Shorter than min_length: ignored.
  void add(std::string_view secret);
  // `text` with every secret replaced by the mask; where several match, the longest.
  std::string apply(std::string_view text) const;

 private:
  void insert(std::string secret);

  // Keyed by the first min_length bytes, so that a line costs its own length, not the number of
  // secrets.
  std::unordered_map<std::uint64_t, std::vector<std::string>> by_prefix_;
  mutable std::shared_mutex mutex_;
};

}  // namespace ry::observe
