#include "workspace/file_names.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

namespace runs {
namespace {

// Maps special spaces, dashes and quotation marks to their ASCII forms, before normalisation.
utf8proc_int32_t ascii_form(utf8proc_int32_t c, void*) {
  switch (utf8proc_category(c)) {
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
      return ' ';
    case UTF8PROC_CATEGORY_PD:
      return '-';
    default:
      break;
  }
  switch (c) {
    case 0x2212:
      return '-';  // minus
    case 0x2018:
    case 0x2019:
    case 0x201A:
    case 0x201B:
    case 0x2032:
    case 0x02BC:
      return '\'';
    case 0x201C:
    case 0x201D:
    case 0x201E:
    case 0x201F:
    case 0x2033:
      return '"';
    default:
      return c;
  }
}

// Merges repeated spaces, because models and people type one space instead of several.
std::string with_single_blanks(std::string_view text) {
  std::string out;
  for (char c : text)
    if (c != ' ' || (!out.empty() && out.back() != ' ')) out += c;
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

}  // namespace

std::string name_key(std::string_view name) {
  const auto plain = [](char c) { return c >= 0x20 && c < 0x7f; };
  if (std::all_of(name.begin(), name.end(), plain)) return with_single_blanks(name);
  constexpr auto options =
      static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT | UTF8PROC_IGNORE);
  utf8proc_uint8_t* mapped = nullptr;
  const utf8proc_ssize_t size =
      utf8proc_map_custom(reinterpret_cast<const utf8proc_uint8_t*>(name.data()),
                          static_cast<utf8proc_ssize_t>(name.size()), &mapped, options, &ascii_form, nullptr);
  const std::unique_ptr<utf8proc_uint8_t, void (*)(void*)> owner(mapped, &std::free);
  if (size < 0) return std::string(name);
  const std::string_view text(reinterpret_cast<const char*>(mapped), static_cast<std::size_t>(size));
  return with_single_blanks(text);
}

std::vector<std::string> names_like(std::string_view typed, const std::vector<std::string>& names) {
  if (std::find(names.begin(), names.end(), typed) != names.end()) return {std::string(typed)};
  const std::string key = name_key(typed);
  std::vector<std::string> out;
  std::copy_if(names.begin(), names.end(), std::back_inserter(out),
               [&](const std::string& name) { return name_key(name) == key; });
  return out;
}

}  // namespace runs
