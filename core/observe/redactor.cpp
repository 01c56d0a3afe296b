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

}  // namespace

void redactor::add(std::string_view secret) {
  if (secret.size() < min_length) return;
  const std::string quoted = boost::json::serialize(boost::json::string_view(secret));
  std::string escaped = quoted.substr(1, quoted.size() - 2);
  std::unique_lock lock(mutex_);
  if (escaped != secret) insert(std::move(escaped));
  insert(std::string(secret));
}

void redactor::insert(std::string secret) {
  auto& same = by_prefix_[prefix(secret.data())];
  if (std::find(same.begin(), same.end(), secret) != same.end()) return;
  auto longer = [](const std::string& a, const std::string& b) { return a.size() > b.size(); };
  same.insert(std::upper_bound(same.begin(), same.end(), secret, longer), std::move(secret));
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
