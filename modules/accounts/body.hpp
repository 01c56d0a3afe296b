// Reads JSON bodies of requests strictly: 400 if the body is not a JSON object, 422 with the name of the field for an
// invalid value.
#pragma once

#include <ry/cpp/types.hpp>

#include <boost/json/object.hpp>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace accounts {

class body {
 public:
  // An empty text counts as {}. `fields` are the known members; any other is rejected.
  body(std::string_view text, std::initializer_list<std::string_view> fields);

  bool has(std::string_view name) const;
  // nullopt if absent or null. Rejects control characters. `min` and `max` count bytes.
  std::optional<std::string> text(std::string_view name, std::size_t min, std::size_t max) const;
  // A display name: trimmed, without control characters and characters that change the writing direction. nullopt
  // if absent or null. Rejects a name that is blank after this clean-up.
  std::optional<std::string> name(std::string_view member, std::size_t max) const;
  // A string of any length and content, unchanged: for passwords. Throws if the member is not a string.
  std::string raw_text(std::string_view name) const;
  std::optional<std::int64_t> integer(std::string_view name, std::int64_t min, std::int64_t max) const;
  // An amount from 0.000001 to 1000000000 credits with at most six decimals, in micro-credits.
  std::optional<std::int64_t> credits(std::string_view name) const;
  std::optional<bool> flag(std::string_view name) const;
  // nullptr if absent or null.
  const boost::json::object* object(std::string_view name) const;

  static ry::error invalid(std::string_view field, const std::string& what);

 private:
  boost::json::object object_;
};

}  // namespace accounts
