#include "body.hpp"

#include <algorithm>
#include <cmath>

#include "errors.hpp"
#include "json/exact.hpp"

namespace openai_api {
namespace {

constexpr std::size_t max_body_depth = 48, max_values = 200'000;
// Below the maximum of double, because parsing the serialized number rounds and could yield infinity.
constexpr double max_number = 1e308;

// Throws if a text has a NUL character, which the database cannot store.
void check_text(std::string_view text) {
  if (text.find('\0') != std::string_view::npos) throw invalid("", "The body contains a NUL character");
}

void normalize(json::value& v) {
  if (double* number = v.if_double()) *number = std::clamp(*number, -max_number, max_number);
  if (const json::string* text = v.if_string()) check_text(*text);
  if (json::array* items = v.if_array())
    for (json::value& item : *items) normalize(item);
  if (json::object* members = v.if_object())
    for (auto& m : *members) {
      check_text(m.key());
      normalize(m.value());
    }
}

}  // namespace

json::object parse_body(std::string_view text) {
  boost::system::error_code bad;
  json::value v = module_json::parse_exactly(text, max_body_depth, bad, {}, max_values);
  if (bad || !v.is_object()) throw invalid("", "The body must be a JSON object of at most 48 levels", "invalid_json");
  normalize(v);
  return std::move(v.as_object());
}

const json::value* member(const json::object& o, std::string_view name) {
  const json::value* v = o.if_contains(json::string_view(name.data(), name.size()));
  return v == nullptr || v->is_null() ? nullptr : v;
}

std::optional<std::string> text_member(const json::object& o, std::string_view name, const std::string& path,
                                       std::size_t max_bytes) {
  const json::value* v = member(o, name);
  if (v == nullptr) return std::nullopt;
  if (!v->is_string()) throw invalid(path, path + " must be a string", "invalid_type");
  if (v->get_string().size() > max_bytes)
    throw invalid(path, path + " must have at most " + std::to_string(max_bytes) + " bytes", "string_too_long");
  return std::string(v->get_string());
}

std::optional<bool> flag_member(const json::object& o, std::string_view name, const std::string& path) {
  const json::value* v = member(o, name);
  if (v == nullptr) return std::nullopt;
  if (!v->is_bool()) throw invalid(path, path + " must be true or false", "invalid_type");
  return v->get_bool();
}

std::optional<double> number_member(const json::object& o, std::string_view name, const std::string& path, double min,
                                    double max) {
  const json::value* v = member(o, name);
  if (v == nullptr) return std::nullopt;
  if (!v->is_number()) throw invalid(path, path + " must be a number", "invalid_type");
  const double number = v->to_number<double>();
  if (!(number >= min && number <= max))
    throw invalid(path, path + " must be a number from " + std::to_string(static_cast<int>(min)) + " to " +
                            std::to_string(static_cast<int>(max)));
  return number;
}

std::optional<std::int64_t> integer_member(const json::object& o, std::string_view name, const std::string& path,
                                           std::int64_t min, std::int64_t max) {
  const json::value* v = member(o, name);
  if (v == nullptr) return std::nullopt;
  boost::system::error_code bad;
  const std::int64_t number = v->is_number() ? v->to_number<std::int64_t>(bad) : 0;
  if (!v->is_number() || bad || number < min || number > max)
    throw invalid(path, path + " must be an integer from " + std::to_string(min) + " to " + std::to_string(max));
  return number;
}

const json::array* array_member(const json::object& o, std::string_view name, const std::string& path) {
  const json::value* v = member(o, name);
  if (v == nullptr) return nullptr;
  if (!v->is_array()) throw invalid(path, path + " must be an array", "invalid_type");
  return &v->get_array();
}

const json::object* object_member(const json::object& o, std::string_view name, const std::string& path) {
  const json::value* v = member(o, name);
  if (v == nullptr) return nullptr;
  if (!v->is_object()) throw invalid(path, path + " must be an object", "invalid_type");
  return &v->get_object();
}

std::string required_text(const json::object& o, std::string_view name, const std::string& path,
                          std::size_t max_bytes) {
  std::optional<std::string> out = text_member(o, name, path, max_bytes);
  if (!out || out->empty()) throw invalid(path, path + " is required", "missing_required_parameter");
  return *std::move(out);
}

std::string at(const std::string& path, std::size_t i) {
  return path + "[" + std::to_string(i) + "]";
}

}  // namespace openai_api
