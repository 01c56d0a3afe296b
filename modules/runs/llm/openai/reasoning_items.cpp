#include "reasoning_items.hpp"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <functional>

#include "request.hpp"

namespace openai {

namespace json = boost::json;
using llm::array_at;
using llm::text_at;

namespace {

constexpr std::size_t max_items = 16'384;
constexpr std::size_t max_models = 256;

// The texts of a list, as parts of one type.
json::array text_parts(const json::object& item, std::string_view list, std::string_view type) {
  json::array out;
  if (const auto* parts = array_at(item, list))
    for (const auto& p : *parts)
      if (const auto* o = p.if_object())
        if (const auto text = text_at(*o, "text"); !text.empty()) out.push_back({{"type", type}, {"text", text}});
  return out;
}

}  // namespace

json::object replayable_reasoning(const json::object& item) {
  json::object out{{"type", "reasoning"}};
  if (const auto id = text_at(item, "id"); !id.empty()) out["id"] = id;
  out["summary"] = text_parts(item, "summary", "summary_text");
  if (const auto encrypted = text_at(item, "encrypted_content"); !encrypted.empty()) {
    out["encrypted_content"] = encrypted;
    return out;
  }
  auto content = text_parts(item, "content", "reasoning_text");
  if (content.empty()) return {};
  out["content"] = std::move(content);
  return out;
}

reasoning_refusals::mark reasoning_refusals::mark_of(const json::object& item) {
  if (const auto encrypted = text_at(item, "encrypted_content"); !encrypted.empty())
    return std::hash<std::string_view>()(encrypted);
  return std::hash<std::string>()(json::serialize(item));
}

bool reasoning_refusals::refuses(mark item) const {
  const std::lock_guard lock(mutex_);
  return items_.contains(item);
}

bool reasoning_refusals::refuses_encryption(std::string_view model) const {
  const std::lock_guard lock(mutex_);
  return models_.contains(model);
}

bool reasoning_refusals::add(const std::vector<mark>& items) {
  const std::lock_guard lock(mutex_);
  // Dropping a known rejection costs its thread one additional attempt.
  if (items_.size() >= max_items) items_.clear();
  return std::count_if(items.begin(), items.end(), [this](mark m) { return items_.insert(m).second; }) > 0;
}

bool reasoning_refusals::add_model(std::string_view model) {
  const std::lock_guard lock(mutex_);
  if (models_.size() >= max_models) models_.clear();
  return models_.emplace(model).second;
}

}  // namespace openai
