#include "workspace/workspace_repository.hpp"

#include "ry/ext/sandbox_driver.h"
#include "text.hpp"
#include "without_protection.hpp"

namespace runs {
namespace {

workspace_entry read_entry(const ry::row& r) {
  workspace_entry e;
  e.kind = static_cast<std::uint32_t>(r.int64("kind"));
  e.mode = static_cast<std::uint32_t>(r.int64("mode"));
  e.size = static_cast<std::uint64_t>(r.int64("size"));
  e.modified_ns = r.int64("modified_ns");
  e.target = decode_path(r.opt_text("target").value_or(""));
  e.chunks = r.opt_text("chunks").value_or("");
  return e;
}

}  // namespace

void chunk_batch::add(std::string digest, std::string_view piece) {
  digests.push_back(std::move(digest));
  sizes.push_back(static_cast<std::int64_t>(piece.size()));
  bytes += piece;
}

ry::task<ry::result<bool>> workspace_repository::put(std::string account, std::string project, const chunk_batch& c,
                                                     std::int64_t max_bytes) const {
  const bool unlimited = ry_test::without_protection("pending_chunks");
  const std::int64_t limit = unlimited ? std::numeric_limits<std::int64_t>::max() : max_bytes;
  ry::result<ry::rows> rows =
      co_await db_.query("select runs.put_chunks($1::uuid, $2::uuid, $3::text[], $4::bigint[], $5::bytea, $6::bigint)",
                         account, project, c.digests, c.sizes, ry::bytes_view{ry::raw(c.bytes)}, limit);
  if (!rows) co_return rows.error();
  co_return rows->front().boolean(0);
}

ry::task<ry::result<void>> workspace_repository::drop(std::string account, std::string project) const {
  if (ry_test::without_protection("pending_chunks")) co_return ry::result<void>();
  ry::result<ry::rows> rows = co_await db_.query("select runs.drop_chunks($1::uuid, $2::uuid)", account, project);
  if (!rows) co_return rows.error();
  co_return ry::result<void>();
}

ry::task<ry::result<keep_result>> workspace_repository::keep(std::string project, std::optional<workspace_fence> fence,
                                                             const workspace_delta& delta, workspace_limits limits,
                                                             ry::tx* in) const {
  std::vector<std::string> gone, paths, targets, chunks;
  std::vector<std::int64_t> kinds, modes, sizes, modified;
  for (const std::string& path : delta.gone) gone.push_back(encode_path(path));
  for (const auto& [path, e] : delta.changed) {
    paths.push_back(encode_path(path));
    kinds.push_back(e.kind);
    modes.push_back(e.mode);
    sizes.push_back(e.kind == RY_SANDBOX_FILE ? static_cast<std::int64_t>(e.size) : 0);
    modified.push_back(e.modified_ns);
    targets.push_back(encode_path(e.target));
    chunks.push_back(e.chunks);
  }
  std::optional<std::int64_t> job, job_fence;
  if (fence) {
    job = fence->job;
    job_fence = fence->fence;
  }
  const auto query_on = [&](auto& target) {
    return target.query(
        "select outcome, detail, version, previous from runs.keep_workspace($1::uuid, $2::bigint, "
        "$3::bigint, $4::text[], $5::text[], $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[], "
        "$10::text[], $11::text[], $12::text[], $13::bigint[], $14::bytea, $15::bigint, $16::bigint, $17::bigint, "
        "$18::bigint)",
        project, job, job_fence, gone, paths, kinds, modes, sizes, modified, targets, chunks, delta.chunks.digests,
        delta.chunks.sizes, ry::bytes_view{ry::raw(delta.chunks.bytes)}, limits.bytes, limits.files,
        limits.account_bytes, limits.account_files);
  };
  ry::result<ry::rows> rows{ry::error(RY_UNKNOWN)};
  if (in != nullptr)
    rows = co_await query_on(*in);
  else
    rows = co_await query_on(db_);
  if (!rows) co_return rows.error();
  const ry::row r = rows->front();
  keep_result out{std::string(r.text(0)), std::string(r.opt_text(1).value_or("")), r.opt_int64(2).value_or(0),
                  r.opt_int64(3).value_or(0)};
  co_return out;
}

ry::task<ry::result<std::optional<workspace_manifest>>> workspace_repository::manifest(std::string project) const {
  ry::result<ry::rows> rows = co_await db_.query_with(
      {RY_DB_READ_ONLY, 0},
      "select p.workspace_version, f.path, f.kind, f.mode, f.size, f.modified_ns, f.target, "
      "array_to_string(f.chunks, ',') as chunks from runs.projects p left join runs.workspace_files f "
      "on f.project_id = p.id where p.id = $1::uuid",
      project);
  if (!rows) co_return rows.error();
  if (rows->empty()) co_return std::optional<workspace_manifest>();
  workspace_manifest out;
  out.version = rows->front().int64(0);
  for (const ry::row r : *rows)
    if (!r.is_null("path")) out.entries.emplace(decode_path(r.text("path")), read_entry(r));
  co_return std::optional<workspace_manifest>(std::move(out));
}

ry::task<ry::result<std::map<std::string, std::string>>> workspace_repository::chunks(
    std::string project, std::vector<std::string> digests) const {
  ry::result<ry::rows> rows = co_await db_.query_with(
      {RY_DB_READ_ONLY, 0},
      "select digest, bytes from runs.workspace_chunks where project_id = $1::uuid and digest = any "
      "($2::text[])",
      project, digests);
  if (!rows) co_return rows.error();
  std::map<std::string, std::string> out;
  for (const ry::row r : *rows) out.emplace(std::string(r.text(0)), std::string(r.text(1)));
  co_return out;
}

ry::task<ry::result<std::vector<std::string>>> workspace_repository::deleted_of(
    std::vector<std::string> projects) const {
  ry::result<ry::rows> rows = co_await db_.query_with(
      {RY_DB_READ_ONLY, 0},
      "select d.project_id::text from runs.deleted_projects d where d.project_id = any ($1::text[]::uuid[]) "
      "and not exists (select 1 from runs.projects p where p.id = d.project_id)",
      projects);
  if (!rows) co_return rows.error();
  std::vector<std::string> out;
  for (const ry::row r : *rows) out.emplace_back(r.text(0));
  co_return out;
}

ry::task<ry::result<std::vector<std::string>>> workspace_repository::upload_names(ry::tx& in,
                                                                                  std::string project) const {
  ry::result<ry::rows> rows = co_await in.query("select * from runs.upload_names($1::uuid)", project);
  if (!rows) co_return rows.error();
  std::vector<std::string> out;
  for (const ry::row r : *rows) out.push_back(decode_path(r.text(0)));
  co_return out;
}

ry::task<ry::result<std::optional<workspace_entry>>> workspace_repository::entry(std::string project,
                                                                                 std::string path) const {
  const std::string name = encode_path(path);
  ry::result<ry::rows> rows = co_await db_.query_with(
      {RY_DB_READ_ONLY, 0},
      "select kind, mode, size, modified_ns, target, array_to_string(chunks, ',') as chunks from "
      "runs.workspace_files where project_id = $1::uuid and path = $2::text",
      project, name);
  if (!rows) co_return rows.error();
  if (rows->empty()) co_return std::optional<workspace_entry>();
  co_return std::optional<workspace_entry>(read_entry(rows->front()));
}

ry::task<ry::result<workspace_entries>> workspace_repository::directory(std::string project, std::string path) const {
  // '0' is the character after '/', so the paths of all entries in the directory are between `from` and `to`.
  const std::string from = path.empty() ? "" : encode_path(path) + "/";
  const std::string to = path.empty() ? "" : encode_path(path) + "0";
  ry::result<ry::rows> rows = co_await db_.query_with(
      {RY_DB_READ_ONLY, 0},
      "select substr(path, length($2::text) + 1) as name, kind, mode, size, modified_ns, target, '' as "
      "chunks from runs.workspace_files where project_id = $1::uuid and path > $2::text and ($3::text = '' "
      "or path < $3::text) and strpos(substr(path, length($2::text) + 1), '/') = 0 order by path limit 10000",
      project, from, to);
  if (!rows) co_return rows.error();
  workspace_entries out;
  for (const ry::row r : *rows) out.emplace(decode_path(r.text("name")), read_entry(r));
  co_return out;
}

ry::task<ry::result<workspace_usage>> workspace_repository::usage(std::string account, std::string project,
                                                                  std::string node) const {
  ry::result<ry::rows> rows = co_await db_.query_with(
      {RY_DB_READ_ONLY, 0}, "select * from runs.workspace_usage($1::uuid, $2::uuid, $3::uuid)", account, project, node);
  if (!rows) co_return rows.error();
  const ry::row r = rows->front();
  workspace_usage out;
  out.other_bytes = r.int64("other_bytes");
  out.other_files = r.int64("other_files");
  out.kept_bytes = r.int64("kept_bytes");
  out.kept_files = r.int64("kept_files");
  out.project_bytes = r.int64("project_bytes");
  out.project_files = r.int64("project_files");
  co_return out;
}

ry::task<ry::result<void>> workspace_repository::record_copy(std::string project, std::string node) const {
  ry::result<ry::rows> rows = co_await db_.query("select runs.note_copy($1::uuid, $2::uuid)", project, node);
  if (!rows) co_return rows.error();
  co_return ry::result<void>();
}

ry::task<ry::result<void>> workspace_repository::record_size(std::string project, std::string node, std::int64_t bytes,
                                                             std::int64_t files) const {
  ry::result<ry::rows> rows = co_await db_.query(
      "update runs.workspace_copies set bytes = $3::bigint, files = $4::bigint where project_id = $1::uuid and "
      "node = $2::uuid",
      project, node, bytes, files);
  if (!rows) co_return rows.error();
  co_return ry::result<void>();
}

ry::task<ry::result<void>> workspace_repository::copy_removed(std::string project, std::string node) const {
  ry::result<ry::rows> rows = co_await db_.query("select runs.copy_removed($1::uuid, $2::uuid)", project, node);
  if (!rows) co_return rows.error();
  co_return ry::result<void>();
}

ry::task<ry::result<std::vector<std::string>>> workspace_repository::deleted_copies(std::string node) const {
  ry::result<ry::rows> rows = co_await db_.query_with(
      {RY_DB_READ_ONLY, 0},
      "select c.project_id::text from runs.deleted_projects d join runs.workspace_copies c on c.project_id = "
      "d.project_id where d.held and c.node = $1::uuid",
      node);
  if (!rows) co_return rows.error();
  std::vector<std::string> out;
  for (const ry::row r : *rows) out.emplace_back(r.text(0));
  co_return out;
}

ry::task<ry::result<void>> workspace_repository::record_node(std::string node,
                                                             std::vector<std::string> projects) const {
  ry::result<ry::rows> rows = co_await db_.query(
      "insert into runs.workspace_nodes as n (node) values ($1::uuid) on conflict (node) do update set seen_at = now()",
      node);
  if (!rows) co_return rows.error();
  rows = co_await db_.query(
      "insert into runs.workspace_copies (project_id, node, account_id) select p.id, $1::uuid, p.account_id from "
      "runs.projects p where p.id = any ($2::text[]::uuid[]) on conflict (project_id, node) do nothing",
      node, projects);
  if (!rows) co_return rows.error();
  co_return ry::result<void>();
}

ry::task<ry::result<void>> workspace_repository::prune() const {
  ry::result<ry::rows> rows =
      co_await db_.query("delete from runs.workspace_chunks where refs = 0 and made_at < now() - interval '1 hour'");
  if (!rows) co_return rows.error();
  rows = co_await db_.query("select runs.forget_lost_copies()");
  if (!rows) co_return rows.error();
  rows = co_await db_.query(
      "delete from runs.deleted_projects where deleted_at < now() - interval '90 days' and not held");
  if (!rows) co_return rows.error();
  co_return ry::result<void>();
}

}  // namespace runs
