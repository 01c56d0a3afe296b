#include "workspace_calls.hpp"

#include <sys/stat.h>

#include <memory>
#include <utility>
#include <vector>

#include "contents.hpp"
#include "tree.hpp"

namespace bubblewrap {
namespace {

std::string str(ry_str s) {
  return ry::text(s);
}

std::uint64_t size_of(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

ry::error as_error(const file_error& e) {
  return ry::error(e.status, "sandbox.file", e.message);
}

}  // namespace

// Runs `work` on a blocking thread, then passes its result to `finish` on exec.
template <class Work, class Finish>
ry_status workspace_calls::blocking(ry_exec* exec, Work work, Finish finish,
                                    const std::optional<std::string>& account) {
  struct block {
    Work work;
    Finish finish;
    file_error error;
  };
  auto own = std::make_unique<block>(block{std::move(work), std::move(finish), {}});
  const ry_call_fn run = [](void* p) noexcept {
    auto* b = static_cast<block*>(p);
    const ry_status failed = ry::guard([&] { b->error = b->work(); });
    if (failed != RY_OK) b->error = {failed, "the sandbox failed"};
  };
  const ry_done done{[](void* p, ry_status ran, const ry_error_view*) noexcept {
                       std::unique_ptr<block> b(static_cast<block*>(p));
                       if (ran != RY_OK) b->error = {ran, "cancelled"};
                       const ry::error e = as_error(b->error);
                       const ry_error_view view = e.view();
                       b->finish(b->error.status, b->error.status == RY_OK ? nullptr : &view);
                     },
                     own.get()};
  const ry_status st = account ? disk_.threads().run(*account, exec, run, own.get(), done)
                               : ctx_.core().run_blocking(ctx_.host(), exec, run, own.get(), done);
  if (st == RY_OK) own.release();
  return st;
}

file_error workspace_calls::destroy_workspace(const std::string& project) const {
  const std::string path = files_.path_of(project);
  if (path.empty()) return {RY_INVALID_ARGUMENT, "project_id is not a UUID"};
  return disk_.destroy(project, path);
}

ry_status workspace_calls::ensure(ry_str project, ry_exec* exec, ry_done done) {
  return blocking(
      exec, [this, id = str(project)] { return files_.ensure(id, users_.owner_of(id)); },
      [done](ry_status st, const ry_error_view* err) { done.fn(done.ctx, st, err); });
}

ry_status workspace_calls::read_file(ry_str project, ry_str path, std::uint64_t offset, std::uint64_t max_bytes,
                                     ry_exec* exec, ry_sandbox_read_fn fn, void* ctx) {
  auto content = std::make_shared<file_content>();
  return blocking(
      exec,
      [this, id = str(project), name = str(path), offset, max_bytes, content] {
        return files_.read(id, name, offset, max_bytes, *content);
      },
      [fn, ctx, content](ry_status st, const ry_error_view* err) {
        fn(ctx, st, ry::raw(content->bytes), content->total_size, err);
      });
}

ry_status workspace_calls::open_file(ry_str project, ry_str path, ry_exec* exec, ry_sandbox_open_fn fn, void* ctx) {
  struct opened {
    unique_fd fd;
    std::uint64_t size = 0;
  };
  auto file = std::make_shared<opened>();
  return blocking(
      exec, [this, id = str(project), name = str(path), file] { return files_.open(id, name, file->fd, file->size); },
      [fn, ctx, file](ry_status st, const ry_error_view* err) {
        fn(ctx, st, st == RY_OK ? file->fd.release() : -1, file->size, err);
      });
}

ry_status workspace_calls::write_file(ry_str project, ry_str path, ry_bytes content, ry_exec* exec, ry_done done) {
  return blocking(
      exec,
      [this, id = str(project), name = str(path), bytes = ry::text(content)] {
        if (file_error e = disk_.before_write(id, bytes.size())) return e;
        return files_.write(id, name, bytes, users_.owner_of(id));
      },
      [done](ry_status st, const ry_error_view* err) { done.fn(done.ctx, st, err); });
}

ry_status workspace_calls::import_file(ry_str project, ry_str path, ry_str host_path, ry_exec* exec, ry_done done) {
  return blocking(
      exec,
      [this, id = str(project), name = str(path), from = str(host_path)] {
        if (file_error e = disk_.before_write(id, size_of(from))) return e;
        return files_.import(id, name, from, users_.owner_of(id));
      },
      [done](ry_status st, const ry_error_view* err) { done.fn(done.ctx, st, err); });
}

ry_status workspace_calls::list_files(ry_str project, ry_str path, ry_exec* exec, ry_sandbox_list_fn fn, void* ctx) {
  auto json = std::make_shared<std::string>();
  return blocking(
      exec, [this, id = str(project), name = str(path), json] { return files_.list(id, name, *json); },
      [fn, ctx, json](ry_status st, const ry_error_view* err) {
        fn(ctx, st, st == RY_OK ? ry::str(*json) : ry_str{}, err);
      });
}

ry_status workspace_calls::destroy(ry_str project, ry_exec* exec, ry_done done) {
  return blocking(
      exec, [this, id = str(project)] { return destroy_workspace(id); },
      [done](ry_status st, const ry_error_view* err) { done.fn(done.ctx, st, err); },
      disk_.watch().account_of(str(project)));
}

ry_status workspace_calls::scan(ry_str project, std::uint64_t max_entries, ry_exec* exec, ry_sandbox_scan_fn fn,
                                void* ctx) {
  auto found = std::make_shared<std::vector<tree_entry>>();
  return blocking(
      exec, [this, id = str(project), max_entries, found] { return scan_tree(files_, id, max_entries, *found); },
      [fn, ctx, found](ry_status st, const ry_error_view* err) {
        std::vector<ry_sandbox_entry> entries(st == RY_OK ? found->size() : 0);
        for (std::size_t i = 0; i < entries.size(); ++i) {
          const tree_entry& from = (*found)[i];
          ry_sandbox_entry& e = entries[i];
          e.struct_size = sizeof e;
          e.kind = from.kind;
          e.path = ry::str(from.path);
          e.target = ry::str(from.target);
          e.size = from.size;
          e.inode = from.inode;
          e.modified_ns = from.modified_ns;
          e.changed_ns = from.changed_ns;
          e.mode = from.mode;
        }
        fn(ctx, st, entries.data(), entries.size(), err);
      });
}

ry_status workspace_calls::place(ry_str project, const ry_sandbox_entry* entry, ry_str host_path, ry_exec* exec,
                                 ry_done done) {
  tree_entry placed;
  placed.kind = entry->kind;
  placed.path = str(entry->path);
  placed.target = str(entry->target);
  placed.modified_ns = entry->modified_ns;
  placed.mode = entry->mode;
  return blocking(
      exec,
      [this, id = str(project), placed, from = str(host_path)] {
        if (placed.kind != RY_SANDBOX_DELETED)
          if (file_error e = disk_.before_write(id, placed.kind == RY_SANDBOX_FILE ? size_of(from) : 0)) return e;
        return place_entry(files_, id, placed, from, users_.owner_of(id));
      },
      [done](ry_status st, const ry_error_view* err) { done.fn(done.ctx, st, err); });
}

}  // namespace bubblewrap
