#include "agent/tools/tool_workspace.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <string>
#include <utility>

#include "agent/tools/tool_catalog.hpp"
#include "agent/tools/tool_source_text.hpp"
#include "json/members.hpp"
#include "text.hpp"
#include "workspace/path_lookup.hpp"

namespace runs {

namespace json = boost::json;

namespace {

constexpr std::uint64_t max_read_bytes = 256 * 1024;

// Models write "/workspace/a.txt" as often as "a.txt".
std::string relative_path(std::string path) {
  for (std::string_view prefix : {"/workspace/", "./"})
    if (path.starts_with(prefix)) path.erase(0, prefix.size());
  if (path == "/workspace" || path == ".") path.clear();
  return path;
}

// Whether the path may refer to an existing file whose name has special spaces or another Unicode normalisation.
bool may_match_differently_typed_name(std::string_view path) {
  return std::any_of(path.begin(), path.end(),
                     [](char c) { return static_cast<unsigned char>(c) >= 0x80 || c == ' ' || c == '\'' || c == '"'; });
}

}  // namespace

ry::task<tool_outcome> run_read(std::shared_ptr<live_run> run, ry::drivers<ry_sandbox_driver_v1>::entry driver,
                                json::object arguments) {
  struct read {
    std::string bytes;
    std::uint64_t total = 0;
  };
  const std::string project = run->who.project.to_string();
  std::string path = relative_path(module_json::text_of(arguments, "path"));
  const auto offset =
      static_cast<std::uint64_t>(std::max<std::int64_t>(module_json::integer_at(arguments, "offset", 0), 0));
  const auto limit = std::min<std::uint64_t>(static_cast<std::uint64_t>(std::max<std::int64_t>(
                                                 module_json::integer_at(arguments, "limit", max_read_bytes), 1)),
                                             max_read_bytes);
  const auto read_file = [&] {
    return ry::call<read, ry_bytes, std::uint64_t>(
        [&](ry_exec* exec, ry_sandbox_read_fn fn, void* ctx) {
          return driver->table->read_file(driver->self, ry::str(project), ry::str(path), offset, limit, exec, fn, ctx);
        },
        [](ry_bytes content, std::uint64_t total) {
          return read{ry::text(content), total};
        });
  };
  ry::result<read> got = co_await read_file();
  if (got.status() == RY_NOT_FOUND) {
    ry::result<std::string> similar = co_await find_path(lister_of(driver, project), path);
    if (similar.status() == RY_FAILED_PRECONDITION)
      co_return tool_outcome{std::string(similar.error().message()), true};
    if (similar && *similar != path) {
      path = *std::move(similar);
      got = co_await read_file();
    }
  }
  if (!got) co_return tool_outcome{std::string(got.error().message()), true};
  std::string text = shorten(got->bytes, max_result_bytes);
  if (offset + got->bytes.size() < got->total)
    text += "\n[" + std::to_string(got->total - offset - got->bytes.size()) + " more bytes: continue with offset " +
            std::to_string(offset + got->bytes.size()) + "]";
  co_return tool_outcome{std::move(text), false};
}

ry::task<tool_outcome> run_write(const sandbox_drivers& sandboxes, const run_workspace& files,
                                 std::shared_ptr<live_run> run, json::object arguments) {
  const json::value* content = arguments.if_contains("content");
  if (content == nullptr || !content->is_string()) co_return tool_outcome{"the argument \"content\" is missing", true};
  std::string path = relative_path(module_json::text_of(arguments, "path"));
  const auto driver = sandboxes.in_use();
  if (driver && may_match_differently_typed_name(path)) {
    ry::result<std::string> similar =
        co_await find_path(lister_of(driver, run->who.project.to_string()), path, path_use::may_be_new);
    if (similar.status() == RY_FAILED_PRECONDITION)
      co_return tool_outcome{std::string(similar.error().message()), true};
    // Other errors will also occur in the write itself.
    if (similar) path = *std::move(similar);
  }
  const std::string bytes(content->as_string());
  ry::result<void> done = co_await files.write(run, path, bytes);
  if (!done) co_return tool_outcome{std::string(done.error().message()), true};
  co_return tool_outcome{"wrote " + std::to_string(bytes.size()) + " bytes to " + path, false};
}

ry::task<tool_outcome> run_list(std::shared_ptr<live_run> run, ry::drivers<ry_sandbox_driver_v1>::entry driver,
                                json::object arguments) {
  const std::string path = relative_path(module_json::text_of(arguments, "path"));
  const directory_lister list = lister_of(driver, run->who.project.to_string());
  ry::result<std::string> entries = co_await list(path);
  if (entries.status() == RY_NOT_FOUND && !path.empty()) {
    ry::result<std::string> similar = co_await find_path(list, path);
    if (similar.status() == RY_FAILED_PRECONDITION)
      co_return tool_outcome{std::string(similar.error().message()), true};
    if (similar && *similar != path) entries = co_await list(*similar);
  }
  if (!entries) co_return tool_outcome{std::string(entries.error().message()), true};
  std::string text;
  boost::system::error_code bad;
  const json::value parsed = json::parse(*entries, bad);
  if (!bad && parsed.is_array()) {
    for (const json::value& v : parsed.as_array()) {
      if (!v.is_object()) continue;
      const json::object& e = v.as_object();
      const std::string kind = module_json::text_of(e, "kind");
      text += module_json::text_of(e, "name") + (kind == "dir" ? "/" : "");
      if (kind == "file") text += "  " + size_text(static_cast<std::uint64_t>(module_json::integer_at(e, "size", 0)));
      text += "\n";
    }
  }
  co_return tool_outcome{text.empty() ? "(empty)" : shorten(text, max_result_bytes), false};
}

}  // namespace runs
