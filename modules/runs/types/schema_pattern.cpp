#include "types/schema_pattern.hpp"

#include <algorithm>
#include <optional>
#include <ry/cpp/utf8.hpp>
#include <stdexcept>

namespace runs {
namespace {

constexpr std::size_t max_pattern_bytes = 2000, max_instructions = 5000;
constexpr std::size_t max_group_depth = 50;
constexpr std::uint32_t max_repeats = 1000;
constexpr char32_t last_character = 0x10FFFF;

[[noreturn]] void refuse_pattern(const std::string& reason) {
  throw std::invalid_argument(reason);
}

bool is_word_character(char32_t c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

int hex_digit(char32_t c) {
  if (c >= '0' && c <= '9') return static_cast<int>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<int>(c - 'a') + 10;
  if (c >= 'A' && c <= 'F') return static_cast<int>(c - 'A') + 10;
  return -1;
}

}  // namespace

// Parses the text by recursive descent, then writes the program of a Thompson automaton.
class schema_pattern_compiler {
 public:
  schema_pattern_compiler(std::string_view text, schema_pattern& out) : out_(out) {
    while (!text.empty()) text_.push_back(ry::next_code_point(text));
  }

  void run() {
    const piece all = alternatives(0);
    if (at_ != text_.size()) refuse_pattern("it has a closing parenthesis without an opening one");
    emit(all);
    append({instruction::kind::match});
  }

 private:
  using instruction = schema_pattern::instruction;
  using ranges = schema_pattern::ranges;
  struct piece {
    enum class kind { instruction, sequence, choice, repetition } what = kind::sequence;
    instruction code{instruction::kind::match};
    std::vector<piece> parts;
    std::uint32_t min = 0, max = 0;  // of a repetition
    bool unlimited = false;  // there is no max
  };

  bool more() const { return at_ < text_.size(); }
  bool next_is(char32_t c) const { return more() && text_[at_] == c; }
  bool accept(char32_t c) {
    if (!next_is(c)) return false;
    ++at_;
    return true;
  }
  char32_t take(const char* missing) {
    if (!more()) refuse_pattern(missing);
    return text_[at_++];
  }

  piece alternatives(std::size_t depth) {
    if (depth > max_group_depth) refuse_pattern("its groups are nested too deeply");
    piece out{piece::kind::choice};
    do {
      piece sequence;
      while (more() && !next_is('|') && !next_is(')')) sequence.parts.push_back(term(depth));
      out.parts.push_back(std::move(sequence));
    } while (accept('|'));
    return out;
  }

  piece term(std::size_t depth) {
    const char32_t c = text_[at_++];
    if (c == '^') return assertion(instruction::kind::begin);
    if (c == '$') return assertion(instruction::kind::end);
    if (c == '\\' && accept('b')) return assertion(instruction::kind::boundary);
    if (c == '\\' && accept('B')) return assertion(instruction::kind::no_boundary);
    if (c == '*' || c == '+' || c == '?') refuse_pattern("a quantifier has nothing to repeat");
    if (c == '{') refuse_pattern("a brace must be part of a quantifier such as {2,5}, or follow a backslash");
    if (c == '(') return quantified(group(depth));
    if (c == '[') return quantified(character_class());
    if (c == '.') return quantified(character({{'\n', '\n'}, {'\r', '\r'}, {0x2028, 0x2029}}, true));
    if (c == '\\') return quantified(escape());
    return quantified(character({{c, c}}));
  }

  piece group(std::size_t depth) {
    if (accept('?') && !accept(':')) {
      const bool named = accept('<') && !next_is('=') && !next_is('!');
      if (!named) refuse_pattern("lookahead and lookbehind are not supported");
      while (take("a group has no end") != '>') {
      }
    }
    piece out = alternatives(depth + 1);
    if (!accept(')')) refuse_pattern("a group has no closing parenthesis");
    return out;
  }

  piece quantified(piece part) {
    piece out{piece::kind::repetition};
    if (accept('*')) {
      out.unlimited = true;
    } else if (accept('+')) {
      out.min = 1;
      out.unlimited = true;
    } else if (accept('?')) {
      out.max = 1;
    } else if (accept('{')) {
      const std::optional<std::uint32_t> low = number();
      if (!low) refuse_pattern("a brace must be part of a quantifier such as {2,5}, or follow a backslash");
      out.min = out.max = *low;
      if (accept(',')) {
        const std::optional<std::uint32_t> high = number();
        out.unlimited = !high;
        out.max = high.value_or(out.min);
      }
      if (!accept('}') || out.max < out.min) refuse_pattern("a quantifier is invalid");
    } else {
      return part;
    }
    accept('?');  // whether a match is the shortest one makes no difference
    out.parts.push_back(std::move(part));
    return out;
  }

  std::optional<std::uint32_t> number() {
    std::optional<std::uint32_t> out;
    while (more() && text_[at_] >= '0' && text_[at_] <= '9') {
      out = out.value_or(0) * 10 + static_cast<std::uint32_t>(text_[at_++] - '0');
      if (*out > max_repeats)
        refuse_pattern("a quantifier repeats more than " + std::to_string(max_repeats) + " times");
    }
    return out;
  }

  piece assertion(instruction::kind what) {
    piece out{piece::kind::instruction};
    out.code.what = what;
    return out;
  }
  piece character(ranges set, bool negated = false) {
    piece out = assertion(instruction::kind::character);
    out.code.negated = negated;
    out.code.set = static_cast<std::uint32_t>(out_.sets_.size());
    out_.sets_.push_back(std::move(set));
    return out;
  }

  // The set of \d, \w or \s in lower or upper case; nullopt: another escape.
  static std::optional<ranges> named_set(char32_t c) {
    ranges set;
    switch (c) {
      case 'd':
      case 'D':
        set = {{'0', '9'}};
        break;
      case 'w':
      case 'W':
        set = {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}};
        break;
      case 's':
      case 'S':
        set = {{'\t', '\r'},     {' ', ' '},       {0xA0, 0xA0},     {0x1680, 0x1680}, {0x2000, 0x200A},
               {0x2028, 0x2029}, {0x202F, 0x202F}, {0x205F, 0x205F}, {0x3000, 0x3000}, {0xFEFF, 0xFEFF}};
        break;
      default:
        return std::nullopt;
    }
    if (c >= 'a') return set;
    ranges inverse;
    char32_t from = 0;
    for (const auto& [low, high] : set) {
      if (low > from) inverse.emplace_back(from, low - 1);
      from = high + 1;
    }
    inverse.emplace_back(from, last_character);
    return inverse;
  }

  piece escape() {
    if (!more()) refuse_pattern("it ends with a backslash");
    if (std::optional<ranges> set = named_set(text_[at_])) {
      ++at_;
      return character(std::move(*set));
    }
    const char32_t c = escaped_character();
    return character({{c, c}});
  }

  // A single character after a backslash.
  char32_t escaped_character() {
    const char32_t c = take("it ends with a backslash");
    switch (c) {
      case 't':
        return '\t';
      case 'n':
        return '\n';
      case 'r':
        return '\r';
      case 'f':
        return '\f';
      case 'v':
        return '\v';
      case '0':
        return 0;
      case 'x':
        return hex(2);
      case 'u':
        if (accept('{')) {
          char32_t out = 0;
          do {
            out = out * 16 + hex(1);
            if (out > last_character) refuse_pattern("a character of the form \\u{...} does not exist");
          } while (!accept('}'));
          return out;
        }
        return code_unit();
      default:
        break;
    }
    if ((c >= '1' && c <= '9') || c == 'k') refuse_pattern("references to groups are not supported");
    if (c == 'p' || c == 'P') refuse_pattern("\\p is not supported");
    if (is_word_character(c) && c != '_') refuse_pattern("a letter follows a backslash, but is not a known escape");
    return c;
  }
  // \uXXXX; two surrogates are one character.
  char32_t code_unit() {
    const char32_t high = hex(4);
    if (high < 0xD800 || high > 0xDBFF || at_ + 1 >= text_.size() || text_[at_] != '\\' || text_[at_ + 1] != 'u')
      return high;
    at_ += 2;
    const char32_t low = hex(4);
    if (low < 0xDC00 || low > 0xDFFF) refuse_pattern("a surrogate has no pair");
    return 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
  }
  char32_t hex(int digits) {
    char32_t out = 0;
    for (int i = 0; i < digits; ++i) {
      const int d = hex_digit(take("a hexadecimal escape is incomplete"));
      if (d < 0) refuse_pattern("a hexadecimal escape is incomplete");
      out = out * 16 + static_cast<char32_t>(d);
    }
    return out;
  }

  piece character_class() {
    const bool negated = accept('^');
    ranges set;
    while (!accept(']')) {
      const std::optional<char32_t> low = class_item(set);
      if (!next_is('-') || at_ + 1 >= text_.size() || text_[at_ + 1] == ']') {
        if (low) set.emplace_back(*low, *low);
        continue;
      }
      ++at_;
      const std::optional<char32_t> high = class_item(set);
      if (!low || !high || *high < *low) refuse_pattern("a range of a character class is invalid");
      set.emplace_back(*low, *high);
    }
    return character(std::move(set), negated);
  }
  // One character of a class; nullopt: a named set, which was added.
  std::optional<char32_t> class_item(ranges& set) {
    const char32_t c = take("a character class has no closing bracket");
    if (c != '\\') return c;
    if (!more()) refuse_pattern("it ends with a backslash");
    if (const std::optional<ranges> named = named_set(text_[at_])) {
      ++at_;
      set.insert(set.end(), named->begin(), named->end());
      return std::nullopt;
    }
    if (accept('b')) return '\b';
    return escaped_character();
  }

  // Appends the instructions of a piece. A piece that matches only the empty text has none.
  void emit(const piece& p) {
    switch (p.what) {
      case piece::kind::instruction:
        append(p.code);
        break;
      case piece::kind::sequence:
        for (const piece& part : p.parts) emit(part);
        break;
      case piece::kind::choice:
        emit_choice(p);
        break;
      case piece::kind::repetition:
        emit_repetition(p);
        break;
    }
  }

  void emit_choice(const piece& p) {
    std::vector<std::uint32_t> jumps;  // to the end of all alternatives
    for (std::size_t i = 0; i < p.parts.size(); ++i) {
      const bool is_last = i + 1 == p.parts.size();
      const std::uint32_t start = is_last ? 0 : append_split();
      emit(p.parts[i]);
      if (is_last) break;
      jumps.push_back(append_split());
      split(start, start + 1, here());
    }
    for (const std::uint32_t jump : jumps) split(jump, here(), here());
  }

  void emit_repetition(const piece& p) {
    const piece& part = p.parts.front();
    std::uint32_t last = here();
    for (std::uint32_t i = 0; i < p.min; ++i) {
      last = here();
      emit(part);
      if (here() == last) return;
    }
    if (p.unlimited && p.min > 0) {
      const std::uint32_t back = append_split();
      split(back, last, here());
      return;
    }
    std::vector<std::uint32_t> exits;
    const std::uint32_t optional_copies = p.unlimited ? 1 : p.max - p.min;
    for (std::uint32_t i = 0; i < optional_copies; ++i) {
      exits.push_back(append_split());
      emit(part);
      if (here() != exits.back() + 1) continue;
      out_.program_.pop_back();
      exits.pop_back();
      break;
    }
    if (p.unlimited && !exits.empty()) {
      const std::uint32_t back = append_split();
      split(back, exits.front(), exits.front());
    }
    for (const std::uint32_t e : exits) split(e, e + 1, here());
  }

  std::uint32_t here() const { return static_cast<std::uint32_t>(out_.program_.size()); }
  void append(instruction i) {
    if (out_.program_.size() == max_instructions) refuse_pattern("it is too large: use fewer or smaller repetitions");
    out_.program_.push_back(i);
    out_.cost_ += i.what == instruction::kind::character ? 1 + out_.sets_[i.set].size() : 1;
  }
  std::uint32_t append_split() {
    append({instruction::kind::split});
    return here() - 1;
  }
  void split(std::uint32_t at, std::uint32_t first, std::uint32_t second) {
    out_.program_[at].first = first;
    out_.program_[at].second = second;
  }

  schema_pattern& out_;
  std::vector<char32_t> text_;
  std::size_t at_ = 0;
};

schema_pattern::schema_pattern(std::string_view text) {
  if (text.size() > max_pattern_bytes)
    refuse_pattern("it has more than " + std::to_string(max_pattern_bytes) + " bytes");
  schema_pattern_compiler(text, *this).run();
}

bool schema_pattern::accepts(const instruction& i, char32_t c) const {
  const ranges& set = sets_[i.set];
  const bool found = std::any_of(set.begin(), set.end(), [c](const auto& r) { return c >= r.first && c <= r.second; });
  return found != i.negated;
}

bool schema_pattern::found_in(std::string_view text) const {
  using kind = instruction::kind;
  // The instructions that the automaton has reached at the current position, each once: reached_at is the number of the
  // position, from 1.
  std::vector<std::uint32_t> characters, stack;
  std::vector<std::size_t> reached_at(program_.size(), 0);
  bool is_begin = true, after_word = false;
  for (std::size_t position = 1;; ++position) {
    const bool is_end = text.empty();
    const char32_t c = is_end ? 0 : ry::next_code_point(text);
    const bool is_boundary = after_word != (!is_end && is_word_character(c));
    stack.push_back(0);  // a match may begin at every position
    characters.clear();
    while (!stack.empty()) {
      const std::uint32_t at = stack.back();
      stack.pop_back();
      if (std::exchange(reached_at[at], position) == position) continue;
      const instruction& i = program_[at];
      if (i.what == kind::match) return true;
      if (i.what == kind::character) characters.push_back(at);
      if (i.what == kind::split) stack.insert(stack.end(), {i.second, i.first});
      if ((i.what == kind::begin && is_begin) || (i.what == kind::end && is_end) ||
          (i.what == kind::boundary && is_boundary) || (i.what == kind::no_boundary && !is_boundary))
        stack.push_back(at + 1);
    }
    if (is_end) return false;
    for (const std::uint32_t at : characters)
      if (accepts(program_[at], c)) stack.push_back(at + 1);
    is_begin = false;
    after_word = is_word_character(c);
  }
}

}  // namespace runs
