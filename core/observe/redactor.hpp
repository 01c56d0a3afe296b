// The set of secrets that must not reach a log, and the function that masks them in text.
//
// The deployment's secrets are kept permanently. Secrets of a run or request are held while it lasts. The most
// recently released ones stay masked, because a log line about them may still follow.
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
  static constexpr std::size_t max_lately = 1024;  // released texts that stay masked
  static constexpr std::string_view mask = "[redacted]";

  // Masks `secret` and its JSON-escaped form permanently. All members ignore text shorter than min_length.
  void add(std::string_view secret);
  // Like add(), but each call is undone by one call of drop().
  void hold(std::string_view secret);
  void drop(std::string_view secret);
  // `text` with every secret replaced by the mask. Where several match, the longest is replaced.
  std::string apply(std::string_view text) const;
  // The number of masked texts; each spelling counts separately.
  std::size_t size() const;

 private:
  struct state {
    std::size_t holders = 0;
    bool for_good = false, resting = false;
    std::list<std::string>::iterator position;  // in lately_, while resting
  };
  state& known(const std::string& text);
  void forget(const std::string& text);

  std::unordered_map<std::string, state> all_;
  std::list<std::string> lately_;  // released texts, the oldest first
  // Keyed by the first min_length bytes, so that masking a line costs time proportional to its length, not to the
  // number of secrets.
  std::unordered_map<std::uint64_t, std::vector<std::string>> by_prefix_;
  mutable std::shared_mutex mutex_;
};

}  // namespace ry::observe
