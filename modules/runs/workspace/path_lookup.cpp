#include "workspace/path_lookup.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <ry/cpp/utf8.hpp>

#include "text.hpp"
#include "workspace/file_errors.hpp"
#include "workspace/file_names.hpp"

namespace runs {
namespace {

namespace json = boost::json;

constexpr std::size_t max_names_in_message = 5;
// Limits of one search, because names are compared on the event loop.
constexpr std::size_t max_directories = 32, max_names = 5000;

std::vector<std::string> names_in(const std::string& entries) {
  std::vector<std::string> out;
  boost::system::error_code bad;
  const json::value parsed = json::parse(entries, bad);
  if (bad || !parsed.is_array()) return out;
  for (const json::value& v : parsed.as_array())
    if (const auto* name = v.is_object() ? v.as_object().if_contains("name") : nullptr;
        name != nullptr && name->is_string())
      out.emplace_back(name->as_string());
  return out;
}

// Escapes make names that look alike distinguishable: "a\u00a0b.txt".
std::string with_escapes(std::string_view name) {
  std::string out = "\"";
  while (!name.empty()) {
    const char32_t c = ry::next_code_point(name);
    if (c >= 0x20 && c < 0x7F) {
      out += static_cast<char>(c);
      continue;
    }
    static constexpr char digits[] = "0123456789abcdef";
    out += c > 0xFFFF ? "\\U" : "\\u";
    for (int shift = c > 0xFFFF ? 28 : 12; shift >= 0; shift -= 4) out += digits[c >> shift & 15];
  }
  return out + "\"";
}

ry::error ambiguous(std::string_view typed, const std::vector<std::string>& found) {
  std::string message = "several files have names that look like \"" + std::string(typed) + "\":";
  for (std::size_t i = 0; i < std::min(found.size(), max_names_in_message); ++i)
    message += (i == 0 ? " " : ", ") + with_escapes(found[i]);
  if (found.size() > max_names_in_message) message += " and others";
  return ry::error(RY_FAILED_PRECONDITION, "runs.file", message + "; give the exact name");
}

}  // namespace

directory_lister lister_of(ry::drivers<ry_sandbox_driver_v1>::entry driver, std::string project) {
  return [driver = std::move(driver),
          project = std::move(project)](std::string directory) -> ry::task<ry::result<std::string>> {
    // Copies in the coroutine frame, because the lambda may be destroyed first.
    const auto d = driver;
    const std::string project_id = project, path = std::move(directory);
    co_return co_await ry::call<std::string, ry_str>(
        [&](ry_exec* exec, ry_sandbox_list_fn fn, void* ctx) {
          return d->table->list_files(d->self, ry::str(project_id), ry::str(path), exec, fn, ctx);
        },
        [](ry_str text) { return ry::text(text); });
  };
}

ry::task<ry::result<std::string>> find_path(directory_lister list, std::string path, path_use use) {
  std::string out;
  std::string_view rest = path;
  std::size_t directories = 0, names = 0;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('/'), rest.size());
    const std::string part(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (part.empty() || part == ".") continue;
    if (part == ".." || !ry::is_utf8(part)) co_return no_such_file(path);
    if (++directories > max_directories) co_return no_such_file(path);
    ry::result<std::string> entries = co_await list(out);
    if (!entries && entries.status() != RY_NOT_FOUND) co_return entries.error();
    std::vector<std::string> all = entries ? names_in(*entries) : std::vector<std::string>();
    // For an exact match, names_like() does not compare name keys, so no limit applies.
    const bool exact = std::find(all.begin(), all.end(), part) != all.end();
    if (!exact) all.resize(std::min(all.size(), max_names - names));
    if (!exact) names += all.size();
    const std::vector<std::string> found = names_like(part, all);
    if (found.size() > 1) co_return ambiguous(part, found);
    if (found.empty() && use == path_use::existing) co_return no_such_file(path);
    if (!out.empty()) out += '/';
    out += found.empty() ? part : found.front();
    if (found.empty()) {
      // The rest of the path needs no lookup, because a new directory is empty.
      if (!rest.empty()) out += '/' + std::string(rest);
      break;
    }
  }
  co_return out;
}

}  // namespace runs
