// The JSON Schema of a run's output (`output_schema` of a start), and the check of a model's answer against it.
//
// Supports the common vocabulary of JSON Schema 2020-12. A schema with another keyword is refused, so that no part of it
// is ignored silently. Schemas and answers may be hostile: the size and depth of a schema are limited, references are
// local and must not lead back to the same value, and the time of a check is limited.
//
// Pure. Thread: any; immutable after read().
#pragma once
#include <boost/json/value.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace runs {

inline constexpr std::size_t max_output_schema_bytes = 64 << 10;
// An output is part of the run's row and of its terminal event.
inline constexpr std::size_t max_output_bytes = 1 << 20;

class output_schema {
 public:
  output_schema();
  output_schema(output_schema&&) noexcept;
  output_schema& operator=(output_schema&&) noexcept;
  ~output_schema();

  // Reads a schema; the other functions require it. Returns an error message with the JSON pointer of the invalid part, or an empty string.
  std::string read(std::string_view json);

  // The schema as JSON on one line.
  std::string text() const;
  // The errors of a value, at most ten: "/items/0/price must be of the type number".
  std::vector<std::string> errors_of(const boost::json::value& value) const;

 private:
  struct compiled;
  std::unique_ptr<compiled> compiled_;
};

// The check of a final answer. The answer may be a fenced code block, because models often write one.
struct output_check {
  std::string output;  // the answer as JSON on one line; empty: it is invalid
  std::string errors;  // of an invalid answer: sentences for the model and the client, separated by "; "
};
output_check check_output(std::string_view schema_json, std::string_view answer);

}  // namespace runs
