#include "agent/tools/tool_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <ry/cpp/utf8.hpp>
#include <set>

#include "text.hpp"

namespace runs {

namespace {

// Maximum number of tools of a request with find_tools if the provider has no limit.
constexpr std::size_t default_tool_limit = 128;
constexpr std::size_t max_query_words = 64;
constexpr double name_weight = 3, description_weight = 1, parameter_weight = 1;
constexpr double saturation = 1.2, length_share = 0.5;  // k1 and b of BM25
constexpr double prefix_weight = 0.6;  // of a word that shares only the prefix
constexpr std::size_t min_prefix_bytes = 3;

bool is_between(char32_t c, char32_t first, char32_t last) {
  return c >= first && c <= last;
}

bool is_digit(char32_t c) {
  return is_between(c, '0', '9');
}

// Whether the character is part of a word. Beyond ASCII, all characters except common separators are.
bool is_word_character(char32_t c) {
  if (c < 0x80) return is_digit(c) || is_between(c, 'a', 'z') || is_between(c, 'A', 'Z');
  if (c <= 0xbf) return c == 0xaa || c == 0xb5 || c == 0xba;
  return c != 0xd7 && c != 0xf7 && !is_between(c, 0x2000, 0x206f) && !is_between(c, 0x3000, 0x3004) &&
         !is_between(c, 0x3008, 0x3020) && c != 0x3030 && c != 0x30fb && c != 0x060c && c != 0x061b && c != 0x061f &&
         c != 0x0964 && c != 0x0965 && !is_between(c, 0xff00, 0xff0f) && !is_between(c, 0xff1a, 0xff20) &&
         !is_between(c, 0xff3b, 0xff40) && !is_between(c, 0xff5b, 0xff65) && c != 0xfeff;
}

// Scripts without spaces between words, and Korean, which attaches particles to words.
bool is_unspaced(char32_t c) {
  return is_between(c, 0x0e00, 0x0eff) || is_between(c, 0x1000, 0x109f) || is_between(c, 0x1780, 0x17ff) ||
         is_between(c, 0x3040, 0x30ff) || is_between(c, 0x3400, 0x4dbf) || is_between(c, 0x4e00, 0x9fff) ||
         is_between(c, 0xac00, 0xd7af) || is_between(c, 0xf900, 0xfaff) || is_between(c, 0x20000, 0x3ffff);
}

// Simple case folding for the common bicameral scripts.
char32_t fold(char32_t c) {
  if (is_between(c, 'A', 'Z')) return c + 0x20;
  if (c < 0xc0) return c;
  if (is_between(c, 0xc0, 0xde) && c != 0xd7) return c + 0x20;
  if (c == 0x178) return 0xff;
  const bool odd_first = is_between(c, 0x139, 0x148) || is_between(c, 0x179, 0x17e);
  const bool even_first = is_between(c, 0x100, 0x137) || is_between(c, 0x14a, 0x177) || is_between(c, 0x460, 0x481) ||
                          is_between(c, 0x48a, 0x4bf) || is_between(c, 0x4d0, 0x52f) || is_between(c, 0x1e00, 0x1eff);
  if (odd_first && c % 2 == 1) return c + 1;
  if (even_first && c % 2 == 0) return c + 1;
  if (is_between(c, 0x391, 0x3ab) && c != 0x3a2) return c + 0x20;
  if (c == 0x386) return 0x3ac;
  if (is_between(c, 0x388, 0x38a)) return c + 0x25;
  if (c == 0x38c) return 0x3cc;
  if (c == 0x38e || c == 0x38f) return c + 0x3f;
  if (c == 0x3c2) return 0x3c3;  // final sigma
  if (is_between(c, 0x410, 0x42f)) return c + 0x20;
  if (is_between(c, 0x400, 0x40f)) return c + 0x50;
  if (is_between(c, 0x531, 0x556)) return c + 0x30;
  if (is_between(c, 0xff21, 0xff3a)) return c + 0x20;
  return c;
}

std::string folded(const std::vector<char32_t>& text, std::size_t begin, std::size_t end) {
  std::string out;
  for (std::size_t i = begin; i < end; ++i) ry::append_utf8(out, fold(text[i]));
  return out;
}

std::vector<char32_t> characters_of(std::string_view text) {
  std::vector<char32_t> out;
  if (!ry::is_utf8(text)) return out;
  out.reserve(text.size());
  while (!text.empty()) out.push_back(ry::next_code_point(text));
  return out;
}

bool is_upper(char32_t c) {
  return fold(c) != c;
}

// Whether a part of a compound word begins at `i`: "create|Issue", "HTTP|Server".
bool starts_part(const std::vector<char32_t>& text, std::size_t begin, std::size_t i, std::size_t end) {
  if (i == begin || !is_upper(text[i])) return false;
  if (!is_upper(text[i - 1])) return true;
  return i + 1 < end && !is_upper(text[i + 1]) && !is_digit(text[i + 1]);
}

void add_spaced(const std::vector<char32_t>& text, std::size_t begin, std::size_t end, std::vector<std::string>& out) {
  std::size_t part = begin;
  for (std::size_t i = begin + 1; i < end; ++i) {
    if (!starts_part(text, begin, i, end)) continue;
    out.push_back(folded(text, part, i));
    part = i;
  }
  if (part != begin) out.push_back(folded(text, part, end));
  out.push_back(folded(text, begin, end));
}

void add_unspaced(const std::vector<char32_t>& text, std::size_t begin, std::size_t end,
                  std::vector<std::string>& out) {
  if (end - begin == 1) out.push_back(folded(text, begin, end));
  for (std::size_t i = begin; i + 1 < end; ++i) out.push_back(folded(text, i, i + 2));
}

// The similarity of a tool's word and a word of the query, from 0 to 1.
double match(std::string_view query_word, std::string_view word) {
  if (query_word == word) return 1;
  const std::size_t shorter = std::min(query_word.size(), word.size()),
                    longer = std::max(query_word.size(), word.size());
  if (shorter < min_prefix_bytes || static_cast<unsigned char>(query_word.front()) >= 0xe0) return 0;
  if (!query_word.starts_with(word) && !word.starts_with(query_word)) return 0;
  return prefix_weight * static_cast<double>(shorter) / static_cast<double>(longer);
}

bool may_have_loaded_tools(const chat_message& m) {
  return m.role == "tool" || m.role == "summary";
}

}  // namespace

std::vector<std::string> search_words(std::string_view utf8) {
  std::vector<std::string> out;
  const std::vector<char32_t> text = characters_of(utf8);
  for (std::size_t i = 0; i < text.size();) {
    if (!is_word_character(text[i])) {
      ++i;
      continue;
    }
    const bool unspaced = is_unspaced(text[i]);
    std::size_t end = i;
    while (end < text.size() && is_word_character(text[end]) && is_unspaced(text[end]) == unspaced) ++end;
    if (unspaced)
      add_unspaced(text, i, end, out);
    else
      add_spaced(text, i, end, out);
    i = end;
  }
  return out;
}

tool_index::tool_index(std::vector<searchable_tool> tools) : tools_(std::move(tools)), lengths_(tools_.size()) {
  double sum = 0;
  for (std::size_t i = 0; i < tools_.size(); ++i) {
    add_words(i, tools_[i].name, name_weight);
    add_words(i, tools_[i].description, description_weight);
    for (const std::string& parameter : tools_[i].parameters) add_words(i, parameter, parameter_weight);
    sum += lengths_[i];
  }
  if (sum > 0) mean_length_ = sum / static_cast<double>(tools_.size());
}

void tool_index::add_words(std::size_t tool, std::string_view text, double weight) {
  for (std::string& word : search_words(text)) {
    std::vector<posting>& list = postings_[std::move(word)];
    if (list.empty() || list.back().tool != tool) list.push_back({tool, 0});
    list.back().weight += weight;
    lengths_[tool] += weight;
  }
}

std::vector<std::size_t> tool_index::search(std::string_view query, std::size_t max_results) const {
  std::vector<std::string> words = search_words(query);
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
  if (words.size() > max_query_words) words.resize(max_query_words);
  std::vector<double> scores(tools_.size(), 0.0);
  const auto count = static_cast<double>(tools_.size());
  for (const std::string& query_word : words) {
    std::map<std::size_t, double> occurrences;  // by tool
    for (const auto& [word, list] : postings_) {
      const double similarity = match(query_word, word);
      if (similarity <= 0) continue;
      for (const posting& p : list) occurrences[p.tool] += similarity * p.weight;
    }
    const auto matching = static_cast<double>(occurrences.size());
    const double rarity = std::log(1 + (count - matching + 0.5) / (matching + 0.5));
    for (const auto& [tool, weight] : occurrences) {
      const double length = 1 - length_share + length_share * lengths_[tool] / mean_length_;
      scores[tool] += rarity * weight * (saturation + 1) / (weight + saturation * length);
    }
  }
  if (const auto exact = find(trim(query))) scores[*exact] = std::numeric_limits<double>::max();
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < scores.size(); ++i)
    if (scores[i] > 0) out.push_back(i);
  std::sort(out.begin(), out.end(), [&](std::size_t a, std::size_t b) {
    return scores[a] != scores[b] ? scores[a] > scores[b] : tools_[a].name < tools_[b].name;
  });
  if (out.size() > max_results) out.resize(max_results);
  return out;
}

std::optional<std::size_t> tool_index::find(std::string_view name) const {
  const std::vector<char32_t> requested = characters_of(name);
  const std::string lower = folded(requested, 0, requested.size());
  std::optional<std::size_t> same_ignoring_case;
  bool ambiguous = false;
  for (std::size_t i = 0; i < tools_.size(); ++i) {
    if (tools_[i].name == name) return i;
    const std::vector<char32_t> candidate = characters_of(tools_[i].name);
    if (candidate.size() != requested.size() || folded(candidate, 0, candidate.size()) != lower) continue;
    ambiguous = same_ignoring_case.has_value();
    same_ignoring_case = i;
  }
  return ambiguous ? std::nullopt : same_ignoring_case;
}

std::vector<std::string> tools_in_use(const std::vector<chat_message>& messages) {
  std::vector<std::string> out;
  std::set<std::string, std::less<>> known;
  const auto add = [&](const std::string& name) {
    if (out.size() < max_tools_in_use && !name.empty() && known.insert(name).second) out.push_back(name);
  };
  for (auto m = messages.rbegin(); m != messages.rend() && out.size() < max_tools_in_use; ++m) {
    if (may_have_loaded_tools(*m))
      for (const std::string& name : loaded_tools_of(m->body)) add(name);
    if (m->role != "assistant") continue;
    const std::vector<tool_call> calls = calls_of(m->body);
    for (auto c = calls.rbegin(); c != calls.rend(); ++c) add(c->name);
  }
  return out;
}

bool needs_tool_search(std::size_t tools, std::size_t limit, std::size_t search_from) {
  return (limit > 0 && tools > limit) || (search_from > 0 && tools >= search_from);
}

std::vector<std::size_t> select_tools(const tool_selection& s) {
  std::set<std::size_t> selected;
  // Reserves one slot for find_tools.
  std::size_t slots = (s.limit > 0 ? s.limit : default_tool_limit) - 1;
  const auto select = [&](std::size_t tool) {
    if (slots > 0 && tool < s.tools && selected.insert(tool).second) --slots;
  };
  if (s.chosen) select(*s.chosen);
  // With a low limit, built-in tools and tools in use share the slots.
  const std::size_t built_in_slots = std::max(slots > s.in_use.size() ? slots - s.in_use.size() : 0, slots / 2);
  for (std::size_t i = 0; i < std::min(s.built_in, built_in_slots); ++i) select(i);
  for (const std::size_t tool : s.in_use) select(tool);
  return {selected.begin(), selected.end()};
}

}  // namespace runs
