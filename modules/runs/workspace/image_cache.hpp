// LRU cache of scaled images, so that a long thread does not scale them again at each step. Thread: any.
#pragma once
#include <cstddef>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace runs {

struct scaled_picture {
  std::string media_type, data;  // base64; empty if `problem` is set
  bool first_frame = false;  // of an animation
  std::string problem;  // continues a message about the image: "is damaged"
};
using scaled_ptr = std::shared_ptr<const scaled_picture>;

class image_cache {
 public:
  explicit image_cache(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  // nullptr: not in the cache.
  scaled_ptr find(std::string_view key) {
    const std::lock_guard lock(mutex_);
    const auto found = by_key_.find(key);
    if (found == by_key_.end()) return nullptr;
    by_recency_.splice(by_recency_.begin(), by_recency_, found->second);
    return found->second->second;
  }
  void put(const std::string& key, scaled_ptr image) {
    const std::lock_guard lock(mutex_);
    if (by_key_.contains(key) || size_of(*image) > max_bytes_) return;
    bytes_ += size_of(*image);
    by_recency_.emplace_front(key, std::move(image));
    by_key_.emplace(key, by_recency_.begin());
    while (bytes_ > max_bytes_) {
      bytes_ -= size_of(*by_recency_.back().second);
      by_key_.erase(by_recency_.back().first);
      by_recency_.pop_back();
    }
  }
  std::size_t bytes() const {
    const std::lock_guard lock(mutex_);
    return bytes_;
  }

 private:
  using entries = std::list<std::pair<std::string, scaled_ptr>>;
  static std::size_t size_of(const scaled_picture& image) {
    constexpr std::size_t entry_overhead = 512;  // key and list nodes
    return image.data.size() + entry_overhead;
  }

  const std::size_t max_bytes_;
  mutable std::mutex mutex_;
  std::size_t bytes_ = 0;
  entries by_recency_;
  std::map<std::string, entries::iterator, std::less<>> by_key_;
};

}  // namespace runs
