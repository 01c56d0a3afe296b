// The set of secrets that must not reach a log, and the masking of text by it.
//
// What belongs to the deployment is kept for good. What belongs to a piece of work is held while that
// lasts; the last few that were let go of stay masked, because a line about them may still come.
// Threads: all members [any].
#pragma once

#include <cstdint>
#include <list>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace ry::observe {

class redactor {
 public:
  static constexpr std::size_t min_length = 6;
  static constexpr std::size_t max_lately = 1024;  // texts that nobody holds any more
  static constexpr std::string_view mask = "[redacted]";

  // Remembers `secret` and its JSON-escaped spelling for good. Shorter than min_length: ignored, here
  // and below.
  void add(std::string_view secret);
  // The same until as many calls of drop().
  void hold(std::string_view secret);
  void drop(std::string_view secret);
  // `text` with every secret replaced by the mask; where several match, the longest.
  std::string apply(std::string_view text) const;
  // Texts that are masked, each spelling for itself.
  std::size_t size() const;

 private:
  struct state {
    std::size_t holders = 0;
    bool for_good = false, resting = false;
    std::list<std::string>::iterator place;  // in lately_, while resting
  };
  state& known(const std::string& text);
  void forget(const std::string& text);

  std::unordered_map<std::string, state> all_;
  std::list<std::string> lately_;  // the longest let go of first
  // Keyed by the first min_length bytes, so that a line costs its own length, not the number of
  // secrets.
  std::unordered_map<std::uint64_t, std::vector<std::string>> by_prefix_;
  mutable std::shared_mutex mutex_;
};

}  // namespace ry::observe
