#include "kept_files.hpp"
#include "run_routes.hpp"
#include "text.hpp"

namespace runs {
namespace {

constexpr std::uint64_t most_bytes = 16 * 1024 * 1024;  // of one answer

std::string clean_path(std::string path) {
  if (path == "/workspace" || path.starts_with("/workspace/")) path.erase(0, 10);
  while (path.starts_with("/")) path.erase(0, 1);
  return path;
}

[[noreturn]] void refuse_file(const ry::error& e) {
  switch (e.status()) {
    case RY_NOT_FOUND:
    case RY_PERMISSION_DENIED: throw refusal(404, "File not found");
    case RY_FAILED_PRECONDITION:
    case RY_INVALID_ARGUMENT: throw refusal(400, std::string(e.message()));
    default: throw e;
  }
}

}  // namespace

ry::task<file_routes::place> file_routes::place_of(const ry::request& request) {
  place out;
  out.project = uuid_param(request.param("id"));
  const caller who = co_await caller_of(parts_, request);
  ry::result<std::optional<std::int64_t>> version =
      co_await parts_.repo.project_version(who.id, out.project);
  if (!version.value()) throw refusal(404, "Project not found");
  out.kept = **version != 0;
  const auto driver = parts_.sandbox();
  if (!driver || !out.kept || !workspace_keeper::can_keep(driver)) {
    out.driver = driver;
    co_return out;
  }
  const std::optional<std::int64_t> here = co_await parts_.keeper.local_version(out.project);
  if (here && *here == **version) out.driver = driver;
  co_return out;
}

ry::task<ry::response> file_routes::list(ry::request request) {
  const std::string path = clean_path(request.query("path").value_or(""));
  const place at = co_await place_of(request);
  ry::result<std::string> entries = ry::error(RY_NOT_FOUND);
  if (at.driver)
    entries = co_await ry::call<std::string, ry_str>(
        [&](ry_exec* exec, ry_sandbox_list_fn fn, void* ctx) {
          return at.driver->table->list_files(at.driver->self, ry::str(at.project), ry::str(path), exec,
                                              fn, ctx);
        },
        [](ry_str text) { return ry::text(text); });
  if (entries.status() == RY_NOT_FOUND && at.kept)
    entries = co_await list_kept(parts_.keeper.rows(), at.project, path);
  if (!entries) {
    // A project whose sandbox was not needed yet has no files.
    if (entries.status() != RY_NOT_FOUND || !path.empty()) refuse_file(entries.error());
    entries = std::string("[]");
  }
  co_return ry::response::json(200, "{\"path\":" + json_string(path) + ",\"files\":" + *entries + "}");
}

ry::task<ry::response> file_routes::content(ry::request request) {
  const std::string path = clean_path(request.query("path").value_or(""));
  if (path.empty()) throw refusal(400, "path is missing");
  const auto number = [&](const char* name, std::int64_t otherwise) {
    const auto text = request.query(name);
    if (!text) return otherwise;
    const auto value = parse_int(*text);
    if (!value || *value < 0) throw refusal(422, std::string(name) + " must be a number");
    return *value;
  };
  const auto offset = static_cast<std::uint64_t>(number("offset", 0));
  const auto limit = std::min<std::uint64_t>(static_cast<std::uint64_t>(number("limit", most_bytes)), most_bytes);
  const place at = co_await place_of(request);
  ry::result<kept_content> got = ry::error(RY_NOT_FOUND);
  if (at.driver)
    got = co_await ry::call<kept_content, ry_bytes, std::uint64_t>(
        [&](ry_exec* exec, ry_sandbox_read_fn fn, void* ctx) {
          return at.driver->table->read_file(at.driver->self, ry::str(at.project), ry::str(path), offset,
                                             limit, exec, fn, ctx);
        },
        [](ry_bytes bytes, std::uint64_t total) { return kept_content{ry::text(bytes), total}; });
  if (got.status() == RY_NOT_FOUND && at.kept)
    got = co_await read_kept(parts_.keeper.rows(), at.project, path, offset, limit);
  if (!got) refuse_file(got.error());
  const std::uint64_t total = got->total;
  if (!request.query("offset") && !request.query("limit") && got->bytes.size() < total)
    throw refusal(413, "The file is larger than " + size_text(most_bytes) +
                           ": ask for parts of it with offset and limit");
  // Never shown by a browser as a page of this origin, whatever an agent wrote into it.
  ry::response out(200, "application/octet-stream", std::move(got->bytes));
  out.header("X-Content-Type-Options", "nosniff");
  out.header("Content-Disposition", "attachment");
  out.header("X-File-Size", std::to_string(total));
  co_return out;
}

}  // namespace runs
