#include "types/subschema.hpp"

#include <cmath>
#include <ry/cpp/utf8.hpp>

#include "text.hpp"

namespace runs {

namespace json = boost::json;

namespace {

constexpr std::size_t max_shown_bytes = 200;  // of a pointer or name in an error

}  // namespace

std::string shown_text(std::string_view text) {
  std::string out = plain_sentence(text.substr(0, ry::whole_characters(text.substr(0, max_shown_bytes))));
  return text.size() > max_shown_bytes ? out + "..." : out;
}

std::string escaped_token(std::string_view token) {
  std::string out;
  for (const char c : token) {
    if (c == '~')
      out += "~0";
    else if (c == '/')
      out += "~1";
    else
      out += c;
  }
  return out;
}

std::string_view key_of(const json::key_value_pair& member) {
  return member.key();
}

long double number_of(const json::value& v) {
  if (v.is_int64()) return static_cast<long double>(v.get_int64());
  if (v.is_uint64()) return static_cast<long double>(v.get_uint64());
  return static_cast<long double>(v.get_double());
}

bool is_integral(const json::value& v) {
  return v.is_int64() || v.is_uint64() || (v.is_double() && std::trunc(v.get_double()) == v.get_double());
}

}  // namespace runs
