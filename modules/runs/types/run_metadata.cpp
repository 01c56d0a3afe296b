#include "types/run_metadata.hpp"

#include <boost/json.hpp>
#include <ry/cpp/utf8.hpp>

#include "text.hpp"

namespace runs {

namespace json = boost::json;

namespace {

// As in the OpenAI API. Lengths are in characters.
constexpr std::size_t max_pairs = 16, max_key_length = 64, max_value_length = 512;
// Above the longest object within these limits whose characters are all escaped.
constexpr std::size_t max_bytes = 128 << 10;

// Returns an error message that begins with `at`, or an empty string.
std::string check_pair(const std::string& at, std::string_view key, std::string_view value) {
  for (const auto& [text, what] : {std::pair(key, "key"), std::pair(value, "value")})
    if (!ry::is_utf8(text) || text.find('\0') != std::string_view::npos)
      return at + ": the " + what + " must be UTF-8 without NUL characters";
  if (key.empty() || count_characters(key) > max_key_length)
    return at + ": the key must have 1 to " + std::to_string(max_key_length) + " characters";
  if (count_characters(value) > max_value_length)
    return at + ": the value must have at most " + std::to_string(max_value_length) + " characters";
  return {};
}

// A name from the request, short enough for an error message.
std::string shown(std::string_view name) {
  return plain_sentence(name.substr(0, ry::whole_characters(name.substr(0, max_key_length))));
}

std::string too_many(std::string_view what) {
  return "metadata must have at most " + std::to_string(max_pairs) + " " + std::string(what);
}

}  // namespace

std::string read_metadata(std::string_view text, std::string& out) {
  if (text.size() > max_bytes) return "metadata must have at most " + size_text(max_bytes);
  boost::system::error_code bad;
  const json::value v = json::parse(text, bad);
  if (bad || !v.is_object()) return "metadata must be a JSON object of strings";
  const json::object& o = v.as_object();
  if (o.size() > max_pairs) return too_many("keys");
  for (const auto& member : o) {
    const std::string at = "metadata." + shown(member.key());
    if (!member.value().is_string()) return at + " must be a string";
    std::string problem = check_pair(at, member.key(), member.value().as_string());
    if (!problem.empty()) return problem;
  }
  out = o.empty() ? std::string() : json::serialize(o);
  return {};
}

std::optional<std::string> metadata_filter_key(std::string_view parameter) {
  constexpr std::string_view prefix = "metadata[";
  if (!parameter.starts_with(prefix) || !parameter.ends_with(']')) return std::nullopt;
  return std::string(parameter.substr(prefix.size(), parameter.size() - prefix.size() - 1));
}

metadata_filter read_metadata_filter(const std::vector<std::pair<std::string, std::string>>& query) {
  json::object o;
  for (const auto& [name, value] : query) {
    const std::optional<std::string> key = metadata_filter_key(name);
    if (!key) continue;
    const std::string at = "metadata[" + shown(*key) + "]";
    std::string problem = check_pair(at, *key, value);
    if (problem.empty() && !o.emplace(*key, value).second) problem = at + " is given twice";
    if (problem.empty() && o.size() > max_pairs) problem = too_many("filters");
    if (!problem.empty()) return {std::nullopt, std::move(problem)};
  }
  return {o.empty() ? std::nullopt : std::optional(json::serialize(o)), {}};
}

}  // namespace runs
