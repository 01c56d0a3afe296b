// The keyword `pattern` of a JSON Schema: regular expressions of ECMA-262 without lookaround, references to groups, and
// \p. A search takes time proportional to the length of the text for every pattern. Immutable; thread: any.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace runs {

class schema_pattern {
 public:
  // Throws std::invalid_argument that describes the error, or the part that is not supported. `text` is valid UTF-8.
  explicit schema_pattern(std::string_view text);

  // Whether a part of the text matches. `text` is valid UTF-8.
  bool found_in(std::string_view text) const;
  // The steps of a search for each character, at most.
  std::size_t cost() const { return cost_; }

 private:
  friend class schema_pattern_compiler;
  using ranges = std::vector<std::pair<char32_t, char32_t>>;  // inclusive
  // An instruction of the automaton. All kinds except `split` and `match` continue at the following instruction; `split`
  // continues at both targets.
  struct instruction {
    enum class kind : std::uint8_t { character, split, begin, end, boundary, no_boundary, match } what;
    bool negated = false;  // of character
    std::uint32_t set = 0;  // of character: index in sets_
    std::uint32_t first = 0, second = 0;  // of split
  };
  bool accepts(const instruction& i, char32_t c) const;

  std::vector<instruction> program_;
  std::vector<ranges> sets_;
  std::size_t cost_ = 0;
};

}  // namespace runs
