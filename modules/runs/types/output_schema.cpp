#include "types/output_schema.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <cmath>

#include "json/exact.hpp"
#include "text.hpp"
#include "types/schema_checker.hpp"
#include "types/schema_reader.hpp"

namespace runs {

namespace json = boost::json;

namespace {

constexpr std::size_t max_schema_depth = 60, max_output_depth = 60;  // of the JSON text; a model request may have 64

// PostgreSQL cannot store NUL characters in JSON, and JSON has no infinity.
bool is_storable(const json::value& v) {
  const auto has_nul = [](std::string_view text) { return text.find('\0') != std::string_view::npos; };
  if (const double* n = v.if_double()) return std::isfinite(*n);
  if (const json::string* text = v.if_string()) return !has_nul(*text);
  if (const json::array* list = v.if_array()) return std::all_of(list->begin(), list->end(), is_storable);
  if (const json::object* o = v.if_object())
    return std::all_of(o->begin(), o->end(),
                       [&](const auto& member) { return !has_nul(member.key()) && is_storable(member.value()); });
  return true;
}

// The content of an answer that is one fenced code block; any other answer unchanged, without white space around it.
std::string without_fence(std::string_view answer) {
  const std::string text = trim(answer);
  constexpr std::string_view fence = "```";
  const std::size_t first_line = text.find('\n');
  if (!text.starts_with(fence) || !text.ends_with(fence) || first_line == std::string::npos ||
      text.size() < first_line + fence.size())
    return text;
  return trim(std::string_view(text).substr(first_line, text.size() - fence.size() - first_line));
}

}  // namespace

struct output_schema::compiled {
  json::value document;  // the subschemas refer to its parts
  std::vector<subschema> schemas;
};

output_schema::output_schema() = default;
output_schema::output_schema(output_schema&&) noexcept = default;
output_schema& output_schema::operator=(output_schema&&) noexcept = default;
output_schema::~output_schema() = default;

std::string output_schema::read(std::string_view text) {
  const std::string what = "output_schema";
  if (text.size() > max_output_schema_bytes) return what + " must have at most " + size_text(max_output_schema_bytes);
  auto out = std::make_unique<compiled>();
  boost::system::error_code bad;
  out->document = module_json::parse_exactly(text, max_schema_depth, bad);
  if (bad == json::error::too_deep)
    return what + " must not be nested more deeply than " + std::to_string(max_schema_depth) + " levels";
  if (bad || !out->document.is_object()) return what + " must be a JSON Schema object";
  if (!is_storable(out->document)) return what + " must not contain NUL characters, or numbers that are too large";
  const std::string problem = read_subschemas(out->document, out->schemas);
  if (!problem.empty()) return what + ": " + problem;
  compiled_ = std::move(out);
  return {};
}

std::string output_schema::text() const {
  return json::serialize(compiled_->document);
}

std::vector<std::string> output_schema::errors_of(const json::value& value) const {
  return schema_errors(compiled_->schemas, value);
}

output_check check_output(std::string_view schema_json, std::string_view answer) {
  output_schema schema;
  output_check out;
  // The start has accepted the schema; an older node may have other rules.
  out.errors = schema.read(schema_json);
  if (!out.errors.empty()) return out;
  const std::string text = without_fence(answer);
  if (text.size() > max_output_bytes) {
    out.errors = "the output must have at most " + size_text(max_output_bytes);
    return out;
  }
  boost::system::error_code bad;
  json::value v = module_json::parse_exactly(text, max_output_depth, bad);
  if (bad) {
    out.errors = bad == json::error::too_deep
                     ? "the output must not be nested more deeply than " + std::to_string(max_output_depth) + " levels"
                     : "the output is not a JSON text: " + bad.message();
    return out;
  }
  if (!is_storable(v)) {
    out.errors = "the output contains a NUL character or a number that is too large";
    return out;
  }
  for (const std::string& error : schema.errors_of(v)) out.errors += (out.errors.empty() ? "" : "; ") + error;
  if (out.errors.empty()) out.output = escape_line_ends(json::serialize(v));
  return out;
}

}  // namespace runs
