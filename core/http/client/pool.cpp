#include "core/http/client/pool.hpp"

#include <algorithm>

namespace ry::http {

std::unique_ptr<connection> pool::take(const std::string& key) {
  const auto it = idle_.find(key);
  if (it == idle_.end()) return nullptr;
  auto& list = it->second;
  std::unique_ptr<connection> found;
  while (!list.empty() && !found) {
    auto c = std::move(list.back().c);
    list.pop_back();
    --size_;
    if (c->io.quiet()) found = std::move(c);
  }
  if (list.empty()) idle_.erase(it);
  return found;
}

void pool::give(const std::string& key, std::unique_ptr<connection> c, clock::time_point now) {
  if (size_ >= limits_.total) return;
  auto& list = idle_[key];
  if (list.size() >= limits_.per_key) return;
  c->reused = true;
  list.push_back({std::move(c), now});
  ++size_;
}

std::size_t pool::sweep(clock::time_point now) {
  for (auto it = idle_.begin(); it != idle_.end();) {
    auto& list = it->second;
    const auto fresh =
        std::find_if(list.begin(), list.end(), [&](const entry& e) { return now - e.since < limits_.idle; });
    size_ -= static_cast<std::size_t>(fresh - list.begin());
    list.erase(list.begin(), fresh);
    it = list.empty() ? idle_.erase(it) : std::next(it);
  }
  return size_;
}

void pool::drop(const std::function<bool(const std::string& key)>& matches) {
  for (auto it = idle_.begin(); it != idle_.end();) {
    const bool drop = matches(it->first);
    if (drop) size_ -= it->second.size();
    it = drop ? idle_.erase(it) : std::next(it);
  }
}

void pool::clear() {
  idle_.clear();
  size_ = 0;
}

}  // namespace ry::http
