#include "core/http/quota.hpp"

namespace ry::http {

quota_verdict quota::take(std::string_view caller, std::uint64_t amount) {
  if (amount == 0) return quota_verdict::granted;
  const auto before = held_.fetch_add(amount, std::memory_order_relaxed);
  const auto unused = limits_.total > before ? limits_.total - before : 0;
  auto verdict = quota_verdict::granted;
  {
    auto& s = of(caller);
    std::lock_guard lock(s.mutex);
    const auto it = s.held.find(caller);
    const auto wanted = amount + (it == s.held.end() ? 0 : it->second);
    if (limits_.per_caller != 0 && wanted > limits_.per_caller)
      verdict = quota_verdict::caller_full;
    else if (limits_.total != 0 && wanted > unused)
      verdict = quota_verdict::total_full;
    else if (it == s.held.end())
      s.held.emplace(caller, amount);
    else
      it->second += amount;
  }
  if (verdict != quota_verdict::granted) {
    held_.fetch_sub(amount, std::memory_order_relaxed);
    refused_.fetch_add(1, std::memory_order_relaxed);
  }
  return verdict;
}

void quota::give_back(std::string_view caller, std::uint64_t amount) noexcept {
  if (amount == 0) return;
  auto& s = of(caller);
  {
    std::lock_guard lock(s.mutex);
    const auto it = s.held.find(caller);
    if (it != s.held.end()) {
      it->second -= amount;
      if (it->second == 0) s.held.erase(it);
    }
  }
  held_.fetch_sub(amount, std::memory_order_relaxed);
}

std::size_t quota::callers() const {
  std::size_t n = 0;
  for (const auto& s : all_) {
    std::lock_guard lock(s.mutex);
    n += s.held.size();
  }
  return n;
}

quota_verdict quota_hold::resize(std::uint64_t amount) {
  if (!of_) return quota_verdict::granted;
  if (amount > amount_) {
    const auto verdict = of_->take(caller_, amount - amount_);
    if (verdict != quota_verdict::granted) return verdict;
  } else {
    of_->give_back(caller_, amount_ - amount);
  }
  amount_ = amount;
  return quota_verdict::granted;
}

void quota_hold::reset() noexcept {
  if (of_) of_->give_back(caller_, amount_);
  of_ = nullptr;
  amount_ = 0;
}

}  // namespace ry::http
