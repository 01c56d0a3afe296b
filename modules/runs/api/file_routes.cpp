#include <unistd.h>

#include <algorithm>
#include <utility>

#include "api/caller.hpp"
#include "api/error_response.hpp"
#include "api/run_routes.hpp"
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
  // A path of the open file, for a function that takes a path.
  std::string name() const { return "/proc/self/fd/" + std::to_string(fd_); }

 private:
  int fd_;
  std::uint64_t size_;
};

// A browser must never render the content as a page of this origin, whatever an agent wrote.
ry::headers content_fields(std::uint64_t total) {
  return {{"Content-Type", "application/octet-stream"},
          {"X-Content-Type-Options", "nosniff"},
          {"Content-Disposition", "attachment"},
          {"X-File-Size", std::to_string(total)}};
}

void respond_bytes(const ry::request& request, std::string bytes, std::uint64_t total) {
  ry::response out(200, "application/octet-stream", std::move(bytes));
  for (const auto& [name, value] : content_fields(total))
    if (name != "Content-Type") out.header(name, value);
  request.respond(out);
}

[[noreturn]] void refuse_file(const ry::error& e) {
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

void refuse_too_large(bool whole, std::uint64_t total) {
  if (whole && total > max_response_bytes)
    throw refusal(413, "The file is larger than " + size_text(max_response_bytes) +
                           ": request parts of it with offset and limit");
}

}  // namespace

ry::task<file_routes::place> file_routes::place_of(const ry::request& request) {
  place out;
  out.project = uuid_param(request.param("id"));
  const caller who = co_await caller_of(accounts_, request);
  ry::result<std::optional<std::int64_t>> version = co_await repo_.project_version(who.id, out.project);
  if (!version.value()) throw refusal(404, "Project not found");
  out.kept = **version != 0;
  const auto driver = sandboxes_.in_use();
  if (!driver || !out.kept || !workspace_store::can_keep(driver)) {
    out.driver = driver;
    co_return out;
  }
  const std::optional<std::int64_t> here = co_await workspaces_.local_version(out.project);
  if (here && *here == **version) out.driver = driver;
  co_return out;
}

// Lists this node's copy, or else the database.
directory_lister file_routes::lister(const place& at) {
  return [this, at](std::string path) -> ry::task<ry::result<std::string>> {
    const place from = at;
    file_routes* const self = this;
    ry::result<std::string> entries = ry::error(RY_NOT_FOUND);
    if (from.driver) {
      const directory_lister local = lister_of(from.driver, from.project);
      entries = co_await local(path);
    }
    if (entries.status() == RY_NOT_FOUND && from.kept)
      entries = co_await list_kept(self->workspaces_.rows(), from.project, path);
    co_return entries;
  };
}

// The path with the actual names that look like those of `path`; empty: none. Refuses an ambiguous path.
ry::task<std::string> file_routes::similar_path(const place& at, std::string path) {
  const directory_lister entries_of = lister(at);
  ry::result<std::string> found = co_await find_path(entries_of, path);
  if (found.status() == RY_FAILED_PRECONDITION) refuse_file(found.error());
  if (!found || *found == path) co_return std::string();
  co_return *std::move(found);
}

ry::task<ry::response> file_routes::list(ry::request request) {
  std::string path = clean_path(request.query("path").value_or(""));
  const place at = co_await place_of(request);
  const directory_lister entries_of = lister(at);
  ry::result<std::string> entries = co_await entries_of(path);
  if (entries.status() == RY_NOT_FOUND && !path.empty()) {
    std::string similar = co_await similar_path(at, path);
    if (!similar.empty()) {
      path = std::move(similar);
      entries = co_await entries_of(path);
    }
  }
  if (!entries) {
    // A project that never used its sandbox has no files.
    if (entries.status() != RY_NOT_FOUND || !path.empty()) refuse_file(entries.error());
    entries = std::string("[]");
  }
  co_return ry::response::json(200, "{\"path\":" + json_string(path) + ",\"files\":" + *entries + "}");
}

ry::task<void> file_routes::content(ry::request request) {
  range want;
  want.path = clean_path(request.query("path").value_or(""));
  if (want.path.empty()) throw refusal(400, "path is missing");
  const auto number = [&](const char* name, std::int64_t otherwise) {
    const auto text = request.query(name);
    if (!text) return otherwise;
    const auto value = parse_int(*text);
    if (!value || *value < 0) throw refusal(422, std::string(name) + " must be a number");
    return *value;
  };
  want.whole = !request.query("offset") && !request.query("limit");
  want.offset = static_cast<std::uint64_t>(number("offset", 0));
  want.limit =
      std::min<std::uint64_t>(static_cast<std::uint64_t>(number("limit", max_response_bytes)), max_response_bytes);
  const place at = co_await place_of(request);
  bool sent = co_await send(request, at, want);
  if (!sent) {
    std::string similar = co_await similar_path(at, want.path);
    want.path = std::move(similar);
    if (!want.path.empty()) sent = co_await send(request, at, want);
  }
  if (!sent) refuse_file(ry::error(RY_NOT_FOUND));
}

ry::task<bool> file_routes::send(const ry::request& request, const place& at, const range& want) {
  bool sent = false;
  if (at.driver) sent = co_await send_local(request, at, want);
  if (!sent && at.kept) sent = co_await send_kept(request, at, want);
  co_return sent;
}

// Sends the file from the descriptor in parts; a slow client holds at most one part in memory.
ry::task<bool> file_routes::send_local(const ry::request& request, const place& at, const range& want) {
  const ry_sandbox_driver_v1* table = at.driver->table;
  if (!RY_HAS(table, ry_sandbox_driver_v1, open_file) || table->open_file == nullptr ||
      ry_test::without_protection("file_streaming"))
    co_return co_await send_read(request, at, want);
  ry::result<opened_file> file = co_await ry::call<opened_file, std::int32_t, std::uint64_t>(
      [&](ry_exec* exec, ry_sandbox_open_fn fn, void* ctx) {
        return table->open_file(at.driver->self, ry::str(at.project), ry::str(want.path), exec, fn, ctx);
      },
      [](std::int32_t fd, std::uint64_t size) { return opened_file(fd, size); });
  if (file.status() == RY_NOT_FOUND) co_return false;
  if (!file) refuse_file(file.error());
  refuse_too_large(want.whole, file->size());
  const std::uint64_t offset = std::min(want.offset, file->size());
  const ry_status sent = co_await ctx_.run_blocking(
      [&] { return request.respond_file(file->name(), content_fields(file->size()), 200, offset, want.limit); });
  // The file was truncated while it was read.
  if (sent == RY_OUT_OF_RANGE) throw ry::unavailable("runs.file", "the file was changed while it was read");
  if (sent == RY_NOT_FOUND) co_return co_await send_read(request, at, want);
  if (sent != RY_OK && sent != RY_CANCELLED) throw ry::error(sent);
  co_return true;
}

// For a driver without file descriptors, or without /proc: reads the requested part as a whole.
ry::task<bool> file_routes::send_read(const ry::request& request, const place& at, const range& want) {
  struct read_part {
    std::string bytes;
    std::uint64_t total = 0;
  };
  ry::result<read_part> got = co_await ry::call<read_part, ry_bytes, std::uint64_t>(
      [&](ry_exec* exec, ry_sandbox_read_fn fn, void* ctx) {
        return at.driver->table->read_file(at.driver->self, ry::str(at.project), ry::str(want.path), want.offset,
                                           want.limit, exec, fn, ctx);
      },
      [](ry_bytes bytes, std::uint64_t total) {
        return read_part{ry::text(bytes), total};
      });
  if (got.status() == RY_NOT_FOUND) co_return false;
  if (!got) refuse_file(got.error());
  refuse_too_large(want.whole, got->total);
  respond_bytes(request, std::move(got->bytes), got->total);
  co_return true;
}

ry::task<bool> file_routes::send_kept(const ry::request& request, const place& at, const range& want) {
  const workspace_repository& rows = workspaces_.rows();
  ry::result<kept_file> file = co_await open_kept(rows, at.project, want.path);
  if (file.status() == RY_NOT_FOUND) co_return false;
  if (!file) refuse_file(file.error());
  refuse_too_large(want.whole, file->size);
  const std::uint64_t from = std::min(want.offset, file->size);
  const std::uint64_t end = from + std::min(want.limit, file->size - from);
  std::string piece;
  if (from < end) {
    ry::result<std::string> first = co_await read_kept(rows, at.project, *file, from, end);
    if (!first) throw first.error();
    piece = *std::move(first);
  }
  if (piece.size() == end - from) {
    respond_bytes(request, std::move(piece), file->size);
    co_return true;
  }
  ry::headers fields = content_fields(file->size);
  fields.emplace_back("Content-Length", std::to_string(end - from));
  ry::stream out = request.open_stream(200, fields);
  for (std::uint64_t sent = from;;) {
    if (out.write(piece) != RY_OK) break;
    sent += piece.size();
    if (sent >= end) break;
    // Closing early ends the connection before the announced length, which the client notices.
    ry::result<void> ready = co_await out.ready();
    if (!ready) break;
    ry::result<std::string> next = co_await read_kept(rows, at.project, *file, sent, end);
    if (!next) break;
    piece = *std::move(next);
  }
  co_return true;
}

}  // namespace runs
