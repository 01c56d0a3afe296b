// Route patterns: "/a/{id}/b". "{name}" matches one non-empty segment; "{name...}" at the end matches the rest of the
// path (one or more segments, the last may be empty: "/files/{path...}" matches "/files/" but not "/files"). Literals
// are compared byte by byte. The router tries a path with a trailing '/' first as it is, then without it.
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
  // Throws std::invalid_argument with a message that names the fault.
  explicit pattern(std::string_view text);

  const std::string& text() const noexcept { return text_; }
  // Never empty: "/" has one empty literal.
  const std::vector<pattern_segment>& segments() const noexcept { return segments_; }

 private:
  std::string text_;
  std::vector<pattern_segment> segments_;
};

// The relation between the sets of paths that two patterns match.
enum class overlap {
  none,  // no path matches both
  same,  // exactly the same paths: a duplicate for one method
  first_narrower,  // a subset of the second's paths: the first has precedence
  second_narrower,
  ambiguous,  // they overlap and neither is a subset
};
overlap compare(const pattern& a, const pattern& b) noexcept;

// The methods allowed for routes: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS.
bool known_method(std::string_view method) noexcept;

}  // namespace ry::module
