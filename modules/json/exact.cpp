#include "exact.hpp"

#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/value_stack.hpp>
#include <charconv>

namespace module_json {
namespace {

namespace json = boost::json;

// Parser handler that builds a value. It parses each double again from its text.
struct exact_values {
  static constexpr std::size_t max_object_size = json::object::max_size();
  static constexpr std::size_t max_array_size = json::array::max_size();
  static constexpr std::size_t max_key_size = json::string::max_size();
  static constexpr std::size_t max_string_size = json::string::max_size();
  using text = json::string_view;
  using error = json::error_code;

  json::value_stack stack;
  std::size_t values_left = 0;

  bool count_value(error& ec) {
    if (values_left-- > 0) return true;
    ec = json::error::array_too_large;
    return false;
  }
  bool on_document_begin(error&) { return true; }
  bool on_document_end(error&) { return true; }
  bool on_object_begin(error& ec) { return count_value(ec); }
  bool on_object_end(std::size_t n, error&) { return stack.push_object(n), true; }
  bool on_array_begin(error& ec) { return count_value(ec); }
  bool on_array_end(std::size_t n, error&) { return stack.push_array(n), true; }
  bool on_key_part(text s, std::size_t, error&) { return stack.push_chars(s), true; }
  bool on_key(text s, std::size_t, error&) { return stack.push_key(s), true; }
  bool on_string_part(text s, std::size_t, error&) { return stack.push_chars(s), true; }
  bool on_string(text s, std::size_t, error& ec) { return stack.push_string(s), count_value(ec); }
  // The complete text is parsed in one call, so a number never arrives in parts.
  bool on_number_part(text, error&) { return true; }
  bool on_int64(std::int64_t i, text, error& ec) { return stack.push_int64(i), count_value(ec); }
  bool on_uint64(std::uint64_t u, text, error& ec) { return stack.push_uint64(u), count_value(ec); }
  bool on_double(double parsed, text s, error& ec) {
    double exact = parsed;  // remains if the number is out of the range of a double
    std::from_chars(s.data(), s.data() + s.size(), exact);
    return stack.push_double(exact), count_value(ec);
  }
  bool on_bool(bool b, error& ec) { return stack.push_bool(b), count_value(ec); }
  bool on_null(error& ec) { return stack.push_null(), count_value(ec); }
  bool on_comment_part(text, error&) { return true; }
  bool on_comment(text, error&) { return true; }
};

}  // namespace

json::value parse_exactly(std::string_view text, std::size_t max_depth, boost::system::error_code& ec,
                          json::storage_ptr memory, std::size_t max_values) {
  json::parse_options options;
  options.max_depth = max_depth;
  json::basic_parser<exact_values> parser(options);
  auto& stack = parser.handler().stack;
  parser.handler().values_left = max_values;
  stack.reset(std::move(memory));
  const std::size_t read = parser.write_some(false, text.data(), text.size(), ec);
  if (!ec && read < text.size()) ec = json::error::extra_data;
  return ec ? json::value() : stack.release();
}

}  // namespace module_json
