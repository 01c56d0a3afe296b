#include <unistd.h>

#include <algorithm>
#include <utility>

#include "api/caller.hpp"
#include "api/run_routes.hpp"
#include "error_response.hpp"
#include "text.hpp"
#include "without_protection.hpp"
#include "workspace/path_lookup.hpp"
#include "workspace/stored_files.hpp"

namespace runs {
namespace {

constexpr std::uint64_t max_response_bytes = 16 * 1024 * 1024;  // of one response

std::string clean_path(std::string path) {
  if (path == "/workspace" || path.starts_with("/workspace/")) path.erase(0, 10);
  while (path.starts_with("/")) path.erase(0, 1);
  return path;
}

class opened_file {
 public:
  opened_file(int fd, std::uint64_t size) : fd_(fd), size_(size) {}
  opened_file(opened_file&& o) noexcept : fd_(std::exchange(o.fd_, -1)), size_(o.size_) {}
  opened_file& operator=(opened_file&& o) noexcept {
    std::swap(fd_, o.fd_);
    std::swap(size_, o.size_);
    return *this;
  }
  ~opened_file() {
    if (fd_ >= 0) ::close(fd_);
  }
  std::uint64_t size() const { return size_; }
  // A path that refers to the open file, for functions that take a path.
  std::string name() const { return "/proc/self/fd/" + std::to_string(fd_); }

 private:
  int fd_;
  std::uint64_t size_;
};

// A browser must never render a file that an agent wrote as a page of this origin.
ry::headers content_headers(std::uint64_t total) {
  return {{"Content-Type", "application/octet-stream"},
          {"X-Content-Type-Options", "nosniff"},
          {"Content-Disposition", "attachment"},
          {"X-File-Size", std::to_string(total)}};
}

void respond_bytes(const ry::request& request, std::string bytes, std::uint64_t total) {
  ry::response out(200, "application/octet-stream", std::move(bytes));
  for (const auto& [name, value] : content_headers(total))
    if (name != "Content-Type") out.header(name, value);
  request.respond(out);
}

[[noreturn]] void throw_file_error(const ry::error& e) {
  switch (e.status()) {
    case RY_NOT_FOUND:
    case RY_PERMISSION_DENIED:
      throw refusal(404, "File not found");
    case RY_FAILED_PRECONDITION:
    case RY_INVALID_ARGUMENT:
      throw refusal(400, std::string(e.message()));
    default:
      throw e;
  }
}

void reject_too_large(bool is_whole_file, std::uint64_t total) {
  if (is_whole_file && total > max_response_bytes)
    throw refusal(413, "The file is larger than " + size_text(max_response_bytes) +
                           ": request parts of it with offset and limit");
}

}  // namespace

ry::task<file_routes::file_sources> file_routes::find_sources(const ry::request& request) {
  file_sources out;
  out.project = uuid_param(request.param("id"));
  const caller requester = co_await caller_of(accounts_, request);
  ry::result<std::optional<std::int64_t>> version = co_await repo_.project_version(requester.id, out.project);
  if (!version.value()) throw refusal(404, "Project not found");
  out.in_database = **version != 0;
  const auto driver = sandboxes_.in_use();
  if (!driver || !out.in_database || !workspace_store::can_keep(driver)) {
    out.driver = driver;
    co_return out;
  }
  const std::optional<std::int64_t> local_version = co_await workspaces_.local_version(out.project);
  if (local_version && *local_version == **version) out.driver = driver;
  co_return out;
}

// Lists this node's copy, otherwise the files in the database.
directory_lister file_routes::lister(const file_sources& sources) {
  return [this, sources](std::string path) -> ry::task<ry::result<std::string>> {
    const file_sources s = sources;
    file_routes* const self = this;
    ry::result<std::string> entries = ry::error(RY_NOT_FOUND);
    if (s.driver) {
      const directory_lister local = lister_of(s.driver, s.project);
      entries = co_await local(path);
    }
    if (entries.status() == RY_NOT_FOUND && s.in_database)
      entries = co_await list_kept(self->workspaces_.rows(), s.project, path);
    co_return entries;
  };
}

// Returns the path whose actual names look like those of `path`; empty: none. Rejects an ambiguous path.
ry::task<std::string> file_routes::find_similar_path(const file_sources& sources, std::string path) {
  const directory_lister list_entries = lister(sources);
  ry::result<std::string> found = co_await find_path(list_entries, path);
  if (found.status() == RY_FAILED_PRECONDITION) throw_file_error(found.error());
  if (!found || *found == path) co_return std::string();
  co_return *std::move(found);
}

ry::task<ry::response> file_routes::list(ry::request request) {
  std::string path = clean_path(request.query("path").value_or(""));
  const file_sources sources = co_await find_sources(request);
  const directory_lister list_entries = lister(sources);
  ry::result<std::string> entries = co_await list_entries(path);
  if (entries.status() == RY_NOT_FOUND && !path.empty()) {
    std::string similar = co_await find_similar_path(sources, path);
    if (!similar.empty()) {
      path = std::move(similar);
      entries = co_await list_entries(path);
    }
  }
  if (!entries) {
    // A project that has never used its sandbox has no files.
    if (entries.status() != RY_NOT_FOUND || !path.empty()) throw_file_error(entries.error());
    entries = std::string("[]");
  }
  co_return ry::response::json(200, "{\"path\":" + json_string(path) + ",\"files\":" + *entries + "}");
}

ry::task<void> file_routes::content(ry::request request) {
  range requested;
  requested.path = clean_path(request.query("path").value_or(""));
  if (requested.path.empty()) throw refusal(400, "path is missing");
  const auto number = [&](const char* name, std::int64_t default_value) {
    const auto text = request.query(name);
    if (!text) return default_value;
    const auto value = parse_int(*text);
    if (!value || *value < 0) throw refusal(422, std::string(name) + " must be a number");
    return *value;
  };
  requested.is_whole_file = !request.query("offset") && !request.query("limit");
  requested.offset = static_cast<std::uint64_t>(number("offset", 0));
  requested.limit =
      std::min<std::uint64_t>(static_cast<std::uint64_t>(number("limit", max_response_bytes)), max_response_bytes);
  const file_sources sources = co_await find_sources(request);
  bool sent = co_await send(request, sources, requested);
  if (!sent) {
    std::string similar = co_await find_similar_path(sources, requested.path);
    requested.path = std::move(similar);
    if (!requested.path.empty()) sent = co_await send(request, sources, requested);
  }
  if (!sent) throw_file_error(ry::error(RY_NOT_FOUND));
}

ry::task<bool> file_routes::send(const ry::request& request, const file_sources& sources, const range& requested) {
  bool sent = false;
  if (sources.driver) sent = co_await send_from_workspace(request, sources, requested);
  if (!sent && sources.in_database) sent = co_await send_from_database(request, sources, requested);
  co_return sent;
}

// Sends the file in parts from its descriptor, so that a slow client keeps at most one part in memory.
ry::task<bool> file_routes::send_from_workspace(const ry::request& request, const file_sources& sources,
                                                const range& requested) {
  const ry_sandbox_driver_v1* table = sources.driver->table;
  if (!RY_HAS(table, ry_sandbox_driver_v1, open_file) || table->open_file == nullptr ||
      ry_test::without_protection("file_streaming"))
    co_return co_await send_without_descriptor(request, sources, requested);
  ry::result<opened_file> file = co_await ry::call<opened_file, std::int32_t, std::uint64_t>(
      [&](ry_exec* exec, ry_sandbox_open_fn fn, void* ctx) {
        return table->open_file(sources.driver->self, ry::str(sources.project), ry::str(requested.path), exec, fn, ctx);
      },
      [](std::int32_t fd, std::uint64_t size) { return opened_file(fd, size); });
  if (file.status() == RY_NOT_FOUND) co_return false;
  if (!file) throw_file_error(file.error());
  reject_too_large(requested.is_whole_file, file->size());
  const std::uint64_t offset = std::min(requested.offset, file->size());
  const ry_status sent = co_await ctx_.run_blocking(
      [&] { return request.respond_file(file->name(), content_headers(file->size()), 200, offset, requested.limit); });
  // The file was truncated while it was read.
  if (sent == RY_OUT_OF_RANGE) throw ry::unavailable("runs.file", "the file was changed while it was read");
  if (sent == RY_NOT_FOUND) co_return co_await send_without_descriptor(request, sources, requested);
  if (sent != RY_OK && sent != RY_CANCELLED) throw ry::error(sent);
  co_return true;
}

// For a driver without file descriptors, or without /proc: reads the complete requested part into memory.
ry::task<bool> file_routes::send_without_descriptor(const ry::request& request, const file_sources& sources,
                                                    const range& requested) {
  struct read_part {
    std::string bytes;
    std::uint64_t total = 0;
  };
  ry::result<read_part> got = co_await ry::call<read_part, ry_bytes, std::uint64_t>(
      [&](ry_exec* exec, ry_sandbox_read_fn fn, void* ctx) {
        return sources.driver->table->read_file(sources.driver->self, ry::str(sources.project), ry::str(requested.path),
                                                requested.offset, requested.limit, exec, fn, ctx);
      },
      [](ry_bytes bytes, std::uint64_t total) {
        return read_part{ry::text(bytes), total};
      });
  if (got.status() == RY_NOT_FOUND) co_return false;
  if (!got) throw_file_error(got.error());
  reject_too_large(requested.is_whole_file, got->total);
  respond_bytes(request, std::move(got->bytes), got->total);
  co_return true;
}

ry::task<bool> file_routes::send_from_database(const ry::request& request, const file_sources& sources,
                                               const range& requested) {
  const workspace_repository& rows = workspaces_.rows();
  ry::result<kept_file> file = co_await open_kept(rows, sources.project, requested.path);
  if (file.status() == RY_NOT_FOUND) co_return false;
  if (!file) throw_file_error(file.error());
  reject_too_large(requested.is_whole_file, file->size);
  const std::uint64_t from = std::min(requested.offset, file->size);
  const std::uint64_t end = from + std::min(requested.limit, file->size - from);
  std::string chunk;
  if (from < end) {
    ry::result<std::string> first = co_await read_kept(rows, sources.project, *file, from, end);
    if (!first) throw first.error();
    chunk = *std::move(first);
  }
  if (chunk.size() == end - from) {
    respond_bytes(request, std::move(chunk), file->size);
    co_return true;
  }
  ry::headers fields = content_headers(file->size);
  fields.emplace_back("Content-Length", std::to_string(end - from));
  ry::stream out = request.open_stream(200, fields);
  for (std::uint64_t sent = from;;) {
    if (out.write(chunk) != RY_OK) break;
    sent += chunk.size();
    if (sent >= end) break;
    // Ending early closes the connection before the announced length, which the client detects.
    ry::result<void> ready = co_await out.ready();
    if (!ready) break;
    ry::result<std::string> next = co_await read_kept(rows, sources.project, *file, sent, end);
    if (!next) break;
    chunk = *std::move(next);
  }
  co_return true;
}

}  // namespace runs
