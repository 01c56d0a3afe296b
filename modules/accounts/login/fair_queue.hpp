// A bounded queue in which groups take turns, so that one group with many entries does not delay the others. Not
// thread-safe.
#pragma once

#include <cstddef>
#include <deque>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace accounts {

template <class T>
class fair_queue {
 public:
  // At most `max_size` entries in all, of which one group may have `max_per_group`.
  fair_queue(std::size_t max_size, std::size_t max_per_group) : max_size_(max_size), max_per_group_(max_per_group) {}

  struct push_result {
    bool queued = false;
    // Set if the queue was full: the removed last entry of the largest group.
    std::optional<T> displaced;
  };
  push_result push(const std::string& group, T item) {
    push_result out;
    const auto at = groups_.find(group);
    const std::size_t group_size = at == groups_.end() ? 0 : at->second->items.size();
    if (group_size >= max_per_group_) return out;
    if (size_ >= max_size_) {
      auto largest = order_.begin();
      for (auto i = order_.begin(); i != order_.end(); ++i) {
        if (i->items.size() > largest->items.size()) largest = i;
      }
      if (largest == order_.end() || largest->items.size() <= group_size + 1) return out;
      out.displaced = std::move(largest->items.back());
      largest->items.pop_back();
      --size_;
    }
    auto to = at;
    if (to == groups_.end()) {
      order_.push_back({group, {}});
      to = groups_.emplace(group, std::prev(order_.end())).first;
    }
    to->second->items.push_back(std::move(item));
    ++size_;
    out.queued = true;
    return out;
  }

  std::optional<T> pop() {
    if (order_.empty()) return std::nullopt;
    auto& next = order_.front();
    T out = std::move(next.items.front());
    next.items.pop_front();
    --size_;
    if (next.items.empty()) {
      groups_.erase(next.name);
      order_.pop_front();
    } else {
      order_.splice(order_.end(), order_, order_.begin());
    }
    return out;
  }

  std::size_t size() const noexcept { return size_; }

 private:
  struct group {
    std::string name;
    std::deque<T> items;
  };
  const std::size_t max_size_, max_per_group_;
  std::size_t size_ = 0;
  std::list<group> order_;  // the groups in turn, the next one first; none is empty
  std::map<std::string, typename std::list<group>::iterator> groups_;
};

}  // namespace accounts
