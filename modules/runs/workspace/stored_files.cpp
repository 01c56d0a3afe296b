#include "workspace/stored_files.hpp"

#include <algorithm>

#include "ry/ext/sandbox_driver.h"
#include "text.hpp"
#include "workspace/file_errors.hpp"

namespace runs {
namespace {

// Removes empty and "." components; sets `bad` if the path contains "..".
std::string normalize_path(std::string_view path, bool& bad) {
  std::string out;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('/'), path.size());
    const std::string_view part = path.substr(0, end);
    path.remove_prefix(std::min(end + 1, path.size()));
    if (part == "..") bad = true;
    if (part.empty() || part == ".") continue;
    if (!out.empty()) out += '/';
    out += part;
  }
  return out;
}

}  // namespace

ry::task<ry::result<std::string>> list_kept(const workspace_repository& rows, std::string project, std::string path) {
  bool bad = false;
  path = normalize_path(path, bad);
  if (bad) co_return no_such_file(path);
  if (!path.empty()) {
    ry::result<std::optional<workspace_entry>> entry = co_await rows.entry(project, path);
    if (!entry) co_return entry.error();
    if (!*entry) co_return no_such_file(path);
    if ((*entry)->kind != RY_SANDBOX_DIR)
      co_return ry::error(RY_FAILED_PRECONDITION, "runs.file", "\"" + path + "\" is not a directory");
  }
  ry::result<workspace_entries> entries = co_await rows.directory(project, path);
  if (!entries) co_return entries.error();
  std::string out = "[";
  for (const auto& [name, e] : *entries) {
    out += out.size() > 1 ? ",{\"name\":" : "{\"name\":";
    append_json_string(out, name);
    out += ",\"kind\":\"";
    out += e.kind == RY_SANDBOX_FILE ? "file" : e.kind == RY_SANDBOX_DIR ? "dir" : "link";
    out +=
        "\",\"size\":" + std::to_string(e.size) + ",\"modified_unix_us\":" + std::to_string(e.modified_ns / 1000) + "}";
  }
  co_return out + "]";
}

ry::task<ry::result<kept_file>> open_kept(const workspace_repository& rows, std::string project, std::string path) {
  bool bad = false;
  path = normalize_path(path, bad);
  if (bad) co_return no_such_file(path);
  ry::result<std::optional<workspace_entry>> entry = co_await rows.entry(project, path);
  if (!entry) co_return entry.error();
  if (!*entry) co_return no_such_file(path);
  if ((*entry)->kind != RY_SANDBOX_FILE)
    co_return ry::error(RY_FAILED_PRECONDITION, "runs.file", "\"" + path + "\" is not a file");
  co_return kept_file{(*entry)->size, split_chunks((*entry)->chunks)};
}

ry::task<ry::result<std::string>> read_kept(const workspace_repository& rows, std::string project,
                                            const kept_file& file, std::uint64_t at, std::uint64_t end) {
  const std::size_t n = at / chunk_bytes;
  const std::uint64_t from = at % chunk_bytes;
  if (n >= file.digests.size()) co_return ry::unavailable("runs.file", "the file is incomplete");
  const std::vector<std::string> one{file.digests[n]};
  ry::result<std::map<std::string, std::string>> chunks = co_await rows.chunks(project, one);
  if (!chunks) co_return chunks.error();
  if (chunks->empty() || chunks->begin()->second.size() <= from)
    co_return ry::unavailable("runs.file", "the file was changed while it was read");
  co_return chunks->begin()->second.substr(from, end - at);
}

}  // namespace runs
