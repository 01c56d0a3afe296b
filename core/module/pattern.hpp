// Route patterns: "/a/{id}/b", "{name}" matches one non-empty segment, "{name...}" at the end
// matches the rest of the path (one segment or more, the last may be empty: "/files/{path...}"
// matches
// "/files/" and not "/files"). Literals are compared byte by byte. The router tries a path with a
// trailing '/' as it is first, then without it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ry::module {

struct pattern_segment {
  enum class kind { literal, param, rest };
  kind what = kind::literal;
  std::string text;  // the literal (empty only for a trailing '/'), or the parameter's name
};

class pattern {
 public:
  // Throws std::invalid_argument with a sentence that names what is wrong.
  explicit pattern(std::string_view text);

  const std::string& text() const noexcept { return text_; }
  // Never empty: "/" is one empty literal.
  const std::vector<pattern_segment>& segments() const noexcept { return segments_; }

 private:
  std::string text_;
  std::vector<pattern_segment> segments_;
};

// How the sets of paths that two patterns match lie to each other.
enum class overlap {
  none,            // no path matches both
  same,            // exactly the same paths: a duplicate for one method
  first_narrower,  // every path of the first is one of the second: the first wins
  second_narrower,
  ambiguous,  // they share paths and neither is the narrower one
};
overlap compare(const pattern& a, const pattern& b) noexcept;

// Methods a route may have: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS.
bool known_method(std::string_view method) noexcept;

}  // namespace ry::module
