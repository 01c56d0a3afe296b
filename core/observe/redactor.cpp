#include "core/observe/redactor.hpp"

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <cstring>
#include <mutex>

namespace ry::observe {

namespace {

std::uint64_t prefix(const char* p) noexcept {
  std::uint64_t key = 0;
  std::memcpy(&key, p, redactor::min_length);
  return key;
}

// The secret itself and its JSON-escaped form. Empty if the secret is too short to be distinguished from other text.
std::vector<std::string> spellings(std::string_view secret) {
  if (secret.size() < redactor::min_length) return {};
  const std::string quoted = boost::json::serialize(boost::json::string_view(secret));
  std::vector<std::string> out{std::string(secret)};
  if (auto escaped = quoted.substr(1, quoted.size() - 2); escaped != secret) {
    out.push_back(std::move(escaped));
  }
  return out;
}

}  // namespace

void redactor::add(std::string_view secret) {
  std::unique_lock lock(mutex_);
  for (const auto& text : spellings(secret)) known(text).for_good = true;
}

void redactor::hold(std::string_view secret) {
  std::unique_lock lock(mutex_);
  for (const auto& text : spellings(secret)) {
    auto& s = known(text);
    ++s.holders;
    if (s.resting) lately_.erase(s.position);
    s.resting = false;
  }
}

void redactor::drop(std::string_view secret) {
  std::unique_lock lock(mutex_);
  for (const auto& text : spellings(secret)) {
    const auto at = all_.find(text);
    if (at == all_.end() || at->second.holders == 0 || --at->second.holders != 0) continue;
    if (at->second.for_good) continue;
    at->second.position = lately_.insert(lately_.end(), text);
    at->second.resting = true;
  }
  while (lately_.size() > max_lately) {
    forget(lately_.front());
    lately_.pop_front();
  }
}

redactor::state& redactor::known(const std::string& text) {
  const auto [at, is_new] = all_.try_emplace(text);
  if (is_new) {
    auto& same = by_prefix_[prefix(text.data())];
    const auto longer = [](const std::string& a, const std::string& b) { return a.size() > b.size(); };
    same.insert(std::upper_bound(same.begin(), same.end(), text, longer), text);
  }
  return at->second;
}

void redactor::forget(const std::string& text) {
  const auto at = by_prefix_.find(prefix(text.data()));
  std::erase(at->second, text);
  if (at->second.empty()) by_prefix_.erase(at);
  all_.erase(text);
}

std::size_t redactor::size() const {
  std::shared_lock lock(mutex_);
  return all_.size();
}

std::string redactor::apply(std::string_view text) const {
  std::shared_lock lock(mutex_);
  if (by_prefix_.empty() || text.size() < min_length) return std::string(text);
  std::string out;
  out.reserve(text.size());
  std::size_t i = 0;
  while (i < text.size()) {
    std::size_t hit = 0;
    if (text.size() - i >= min_length) {
      if (auto it = by_prefix_.find(prefix(text.data() + i)); it != by_prefix_.end()) {
        for (const auto& secret : it->second)
          if (text.substr(i).starts_with(secret)) {
            hit = secret.size();
            break;
          }
      }
    }
    if (hit) {
      out += mask;
      i += hit;
    } else {
      out += text[i++];
    }
  }
  return out;
}

}  // namespace ry::observe
