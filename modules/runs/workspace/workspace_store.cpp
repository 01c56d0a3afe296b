#include "workspace/workspace_store.hpp"

#include <fcntl.h>
#include <sodium.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <ry/cpp/text.hpp>
#include <set>
#include <sstream>

#include "account_limits.hpp"
#include "text.hpp"

namespace runs {
namespace {

constexpr std::size_t batch_bytes = 2 * chunk_bytes;
constexpr std::size_t batch_files = 256;
constexpr std::uint64_t urgent_bytes = 4 * chunk_bytes;
// A file that changed less than this time before a scan may change again without a change of its timestamp.
constexpr std::int64_t timestamp_granularity_ns = 20'000'000;
constexpr std::int64_t no_version = -1;  // the copy matches no version of the database

std::optional<std::string> read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return std::nullopt;
  std::ostringstream text;
  text << in.rdbuf();
  return std::move(text).str();
}

bool write_file(const std::string& path, std::string_view bytes) {
  const std::string fresh = path + ".new";
  std::FILE* f = std::fopen(fresh.c_str(), "wbe");
  if (f == nullptr) return false;
  const bool wrote = std::fwrite(bytes.data(), 1, bytes.size(), f) == bytes.size();
  if (std::fclose(f) != 0 || !wrote) return false;
  return std::rename(fresh.c_str(), path.c_str()) == 0;
}

bool append_file(const std::string& path, std::string_view bytes) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (fd < 0) return false;
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return ::close(fd) == 0 && bytes.empty();
}

// Error reason: the account's chunks without a file have reached their limit.
constexpr const char* pending_limit = "runs.workspace_pending";

std::string limit_note(std::string_view what) {
  return "[Files could be lost: " + std::string(what) + "]";
}

// The message for an exceeded limit; empty for other outcomes.
std::string excess_text(std::string_view outcome, const workspace_limits& limits) {
  const auto size = [](std::int64_t bytes) { return size_text(static_cast<std::uint64_t>(bytes)); };
  if (outcome == "too_large")
    return "the workspace is larger than " + size(limits.bytes) + ", so new files are not stored in the database";
  if (outcome == "too_many")
    return "the workspace has more than " + std::to_string(limits.files) +
           " files, so new files are not stored in the database";
  if (outcome == "account_bytes")
    return "all workspaces of your account together are larger than " + size(limits.account_bytes) +
           ", so new files are not stored in the database";
  if (outcome == "account_files")
    return "all workspaces of your account together have more than " + std::to_string(limits.account_files) +
           " files, so new files are not stored in the database";
  return {};
}

// The id of the copies in this data directory, stored in the file `path`. The node id is not used, because it changes
// with each start of the host: copies of an earlier process would count until that id expires.
std::string id_of_copies(const std::string& path, const std::string& fresh) {
  std::string id;
  std::ifstream(path) >> id;
  if (ry::uuid::parse(id)) return id;
  (void)write_file(path, fresh + "\n");  // if the directory is not writable, no copies can be made either
  return fresh;
}

}  // namespace

std::string digest_of(std::string_view bytes) {
  unsigned char out[32];
  crypto_generichash(out, sizeof out, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), nullptr, 0);
  return ry::to_hex(out);
}

void workspace_store::start() {
  const std::string data(ctx_.fact("data_dir"));
  if (data.empty()) return;
  const std::string directory = data + "/runs";
  states_ = directory + "/workspaces";
  incoming_ = directory + "/incoming";
  for (const std::string& path : {directory, states_, incoming_}) ::mkdir(path.c_str(), 0700);
  copies_id_ = id_of_copies(directory + "/copies_id", copies_id_);
}

bool workspace_store::can_keep(const driver& d) {
  return d != nullptr && RY_HAS(d->table, ry_sandbox_driver_v1, place);
}

ry::task<ry::result<void>> workspace_store::lock(workspace& w) {
  co_await ctx_.switch_to(w.exec);
  while (w.busy_) {
    ry::result<void> woken = co_await w.free_.wait();
    if (!woken) co_return woken;
  }
  w.busy_ = true;
  co_return ry::result<void>();
}

void workspace_store::unlock(workspace& w) {
  w.busy_ = false;
  w.free_.set();
}

workspace_ptr workspace_store::find_or_create(const std::string& project, ry_exec* exec) {
  std::lock_guard lock(mutex_);
  std::weak_ptr<workspace>& slot = open_[project];
  workspace_ptr w = slot.lock();
  if (w) return w;
  w = std::make_shared<workspace>(project, exec);
  slot = w;
  if (open_.size() % 1024 == 0) std::erase_if(open_, [](const auto& item) { return item.second.expired(); });
  return w;
}

ry::task<ry::result<workspace_ptr>> workspace_store::open(driver d, std::string project, open_options options,
                                                          ry_exec* home) {
  const workspace_ptr w = find_or_create(project, home);
  ry::result<void> done = co_await lock(*w);
  if (done) {
    try {
      done = co_await ry::call_done(
          [&](ry_exec* exec, ry_done made) { return d->table->ensure(d->self, ry::str(project), exec, made); });
      if (done && !w->recorded_) {
        done = co_await rows_.record_copy(project, node());
        w->recorded_ = done.ok();
      }
      if (done && can_keep(d)) done = co_await update_if_outdated(d, *w, std::move(options));
    } catch (...) {
      done = ry::current_error();
    }
    unlock(*w);
  }
  co_await ctx_.switch_to(home);
  if (!done) co_return done.error();
  co_return w;
}

ry::task<ry::result<void>> workspace_store::update_if_outdated(const driver& d, workspace& w, open_options options) {
  bool only_user = false;
  if (!w.state_loaded_) {
    ry::result<scan_result> now = co_await scan(d, w);
    // There are too many files to compare with the stored ones. Commands may still delete files; keep() stores the
    // workspace when it has fewer files.
    if (!now && now.status() == RY_RESOURCE_EXHAUSTED) co_return ry::result<void>();
    if (!now) co_return now.error();
    co_await load_state(w, *now);
    only_user = true;
  }
  // If an unused copy has a higher version than the database, the database was restored to an earlier state.
  const bool current = only_user ? w.state_.version == options.version : w.state_.version >= options.version;
  if (current && !w.must_discard_) co_return ry::result<void>();
  const bool preserve = !w.must_discard_ && (!only_user || (options.before != 0 && w.state_.version == options.before));
  const local_changes local = preserve ? local_changes::preserve : local_changes::discard;
  co_return co_await refresh(d, w, local, std::move(options.local_files));
}

ry::task<void> workspace_store::load_state(workspace& w, const scan_result& now) {
  const std::string path = state_path(w.project);
  const std::optional<std::string> text = co_await ctx_.run_blocking([&path] { return read_file(path); });
  std::optional<workspace_state> saved;
  if (text) saved = parse_state(*text);
  if (saved && saved->root_inode == now.root_inode && saved->root_made_ns == now.root_made_ns) {
    w.state_ = std::move(*saved);
  } else {
    w.state_ = {};
    w.state_.root_inode = now.root_inode;
    w.state_.root_made_ns = now.root_made_ns;
  }
  w.state_loaded_ = true;
}

ry::task<ry::result<workspace_store::scan_result>> workspace_store::scan(const driver& d, const workspace& w) {
  timespec begun{};
  ::clock_gettime(CLOCK_REALTIME, &begun);
  // A scan ends at twice the limit.
  const auto max_entries = static_cast<std::uint64_t>(config_.workspace_files) * 2;
  ry::result<scan_result> out = co_await ry::call<scan_result, const ry_sandbox_entry*, std::size_t>(
      [&](ry_exec* exec, ry_sandbox_scan_fn fn, void* ctx) {
        return d->table->scan(d->self, ry::str(w.project), max_entries, exec, fn, ctx);
      },
      [](const ry_sandbox_entry* entries, std::size_t n) {
        scan_result r;
        const auto* at = reinterpret_cast<const char*>(entries);
        for (std::size_t i = 0; i < n; ++i, at += entries->struct_size) {
          const auto& e = *reinterpret_cast<const ry_sandbox_entry*>(at);
          if (e.path.len == 0) {
            r.root_inode = e.inode;
            r.root_made_ns = e.changed_ns;
            continue;
          }
          workspace_entry entry;
          entry.kind = e.kind;
          entry.mode = e.mode;
          entry.size = e.size;
          entry.modified_ns = e.modified_ns;
          entry.changed_ns = e.changed_ns;
          entry.inode = e.inode;
          entry.target = ry::text(e.target);
          r.entries.emplace(ry::text(e.path), std::move(entry));
        }
        return r;
      });
  if (out) out->begun_ns = begun.tv_sec * 1'000'000'000LL + begun.tv_nsec;
  co_return out;
}

ry::task<ry::result<void>> workspace_store::place(const driver& d, const workspace& w, std::string path,
                                                  workspace_entry e, std::string host_path) {
  ry_sandbox_entry entry{};
  entry.struct_size = sizeof entry;
  entry.kind = e.kind;
  entry.path = ry::str(path);
  entry.target = ry::str(e.target);
  entry.size = e.size;
  entry.modified_ns = e.modified_ns;
  entry.mode = e.mode;
  co_return co_await ry::call_done([&](ry_exec* exec, ry_done done) {
    return d->table->place(d->self, ry::str(w.project), &entry, ry::str(host_path), exec, done);
  });
}

// Places the needed entries; fetches small files from the database in batches.
ry::task<ry::result<void>> workspace_store::fetch(const driver& d, const workspace& w, workspace_entries needed,
                                                  std::map<std::string, std::string> local_files) {
  const std::string spool = incoming_ + "/" + ctx_.new_uuid().to_string();
  // Placing moves a local file, so a second attempt after a conflict reads it from the database.
  co_await ctx_.run_blocking([&local_files] {
    std::erase_if(local_files, [](const auto& file) { return ::access(file.second.c_str(), R_OK) != 0; });
  });
  auto at = needed.begin();
  while (at != needed.end()) {
    auto end = at;
    std::vector<std::string> digests;
    std::uint64_t bytes = 0;
    for (; end != needed.end() && digests.size() < batch_files; ++end) {
      const workspace_entry& e = end->second;
      if (e.kind != RY_SANDBOX_FILE || local_files.contains(end->first)) continue;
      if (bytes != 0 && bytes + e.size > batch_bytes) break;
      if (e.size > batch_bytes) {
        if (end == at) ++end;
        break;
      }
      bytes += e.size;
      for (std::string& digest : split_chunks(e.chunks)) digests.push_back(std::move(digest));
    }
    std::map<std::string, std::string> pieces;
    if (!digests.empty()) {
      ry::result<std::map<std::string, std::string>> got = co_await rows_.chunks(w.project, digests);
      if (!got) co_return got.error();
      pieces = std::move(*got);
    }
    for (; at != end; ++at) {
      const std::string& path = at->first;
      const workspace_entry& e = at->second;
      std::string host;
      if (const auto local = local_files.find(path); local != local_files.end()) {
        host = local->second;
      } else if (e.kind == RY_SANDBOX_FILE) {
        host = spool;
        const std::vector<std::string> all = split_chunks(e.chunks);
        co_await ctx_.run_blocking([&spool] { ::unlink(spool.c_str()); });
        for (std::size_t i = 0; i < all.size() || i == 0;) {
          std::string part;
          const std::size_t from = i;
          if (e.size > batch_bytes) {
            const std::size_t to = std::min(i + batch_bytes / chunk_bytes, all.size());
            const std::vector<std::string> some(all.begin() + static_cast<std::ptrdiff_t>(i),
                                                all.begin() + static_cast<std::ptrdiff_t>(to));
            ry::result<std::map<std::string, std::string>> got = co_await rows_.chunks(w.project, some);
            if (!got) co_return got.error();
            pieces = std::move(*got);
          }
          for (; i < all.size() && part.size() < batch_bytes; ++i) {
            const auto piece = pieces.find(all[i]);
            if (piece == pieces.end())
              co_return ry::error(RY_ABORTED, "runs.workspace_moved", "the workspace changed in the meantime");
            part += piece->second;
          }
          const bool wrote = co_await ctx_.run_blocking([&spool, &part] { return append_file(spool, part); });
          if (!wrote) co_return ry::unavailable("runs.workspace", "a file could not be written");
          if (i == from) break;
        }
      }
      ry::result<void> placed = co_await place(d, w, path, e, host);
      if (!placed) {
        co_await ctx_.run_blocking([&spool] { ::unlink(spool.c_str()); });
        co_return placed.error();
      }
    }
  }
  co_return ry::result<void>();
}

ry::task<ry::result<void>> workspace_store::refresh(const driver& d, workspace& w, local_changes local,
                                                    std::map<std::string, std::string> local_files) {
  ry::result<void> done = ry::error(RY_UNKNOWN);
  for (int attempt = 0; attempt < 3; ++attempt) {
    ry::result<std::optional<workspace_manifest>> manifest = co_await rows_.manifest(w.project);
    if (!manifest) co_return manifest.error();
    if (!*manifest) co_return ry::result<void>();  // the project is not committed yet, or was deleted
    const workspace_manifest& stored = **manifest;
    ry::result<scan_result> before = co_await scan(d, w);
    if (!before) co_return before.error();
    const workspace_changes dirty = changes_between(w.state_.entries, before->entries);
    const auto is_preserved = [&](const std::string& path) {
      return local == local_changes::preserve && dirty.contains(path);
    };
    workspace_entries needed;
    for (const auto& [path, e] : stored.entries) {
      if (is_preserved(path)) continue;
      const auto known = w.state_.entries.find(path);
      if (known == w.state_.entries.end() || !known->second.same_content(e) || dirty.contains(path))
        needed.emplace(path, e);
    }
    std::string removed;
    for (const auto& [path, e] : before->entries) {
      if (stored.entries.contains(path) || is_preserved(path)) continue;
      if (!removed.empty() && path.starts_with(removed)) continue;  // removed with its directory
      // A directory that contains preserved entries is not removed.
      if (local == local_changes::preserve && e.kind == RY_SANDBOX_DIR) {
        const std::string inside = path + "/";
        const auto kept = std::find_if(dirty.changed.begin(), dirty.changed.end(),
                                       [&](const std::string& p) { return p.starts_with(inside); });
        if (kept != dirty.changed.end()) continue;
      }
      workspace_entry gone;
      ry::result<void> cleared = co_await place(d, w, path, gone, "");
      if (!cleared) co_return cleared.error();
      removed = path + "/";
    }
    done = co_await fetch(d, w, std::move(needed), local_files);
    if (!done && !done.error().is("runs.workspace_moved")) co_return done.error();
    if (!done) continue;
    ry::result<scan_result> now = co_await scan(d, w);
    if (!now) co_return now.error();
    workspace_entries entries;
    for (const auto& [path, e] : stored.entries) {
      const auto present = now->entries.find(path);
      if (is_preserved(path)) {
        // Keep the recorded state, so that the change is still detected.
        if (const auto old = w.state_.entries.find(path); old != w.state_.entries.end())
          entries.emplace(path, old->second);
        else
          entries.emplace(path, workspace_entry());
      } else if (present != now->entries.end()) {
        workspace_entry entry = present->second;
        entry.chunks = e.chunks;
        entries.emplace(path, std::move(entry));
      }
    }
    w.state_.entries = std::move(entries);
    w.state_.version = stored.version;
    w.must_discard_ = false;
    co_await save_state(w);
    co_return ry::result<void>();
  }
  co_return done.error();
}

ry::task<void> workspace_store::save_state(const workspace& w) {
  const std::string text = state_text(w.state_), path = state_path(w.project);
  const bool saved = co_await ctx_.run_blocking([&] { return write_file(path, text); });
  // Without the state, the next user of the copy fetches all files again.
  if (!saved) ctx_.warn("the state of a workspace could not be written", {{"project", w.project}});
}

ry::task<ry::result<workspace_store::kept>> workspace_store::keep(driver d, workspace_ptr of, workspace_fence fence,
                                                                  workspace_limits limits, std::string account,
                                                                  std::function<bool()> urgent, ry_exec* home) {
  if (!can_keep(d)) co_return kept();
  ry::result<kept> out = ry::error(RY_UNKNOWN);
  const ry::result<void> locked = co_await lock(*of);
  if (locked) {
    try {
      out = co_await keep_changes(d, *of, fence, limits, account, urgent);
    } catch (...) {
      out = ry::current_error();
    }
    unlock(*of);
  } else {
    out = locked.error();
  }
  co_await ctx_.switch_to(home);
  co_return out;
}

// Returns the digests of a file's chunks; collects chunks that the database lacks and stores them in batches.
// `incomplete`: the file changed its size meanwhile; the next scan will report it as changed.
ry::task<ry::result<std::string>> workspace_store::digest_file(const driver& d, const workspace& w,
                                                               const std::string& account,
                                                               const workspace_limits& limits, std::string path,
                                                               std::uint64_t size, workspace_delta& delta,
                                                               const std::function<bool(const std::string&)>& known,
                                                               bool& incomplete) {
  std::string digests;
  for (std::uint64_t at = 0; at < size;) {
    ry::result<std::string> piece = co_await ry::call<std::string, ry_bytes, std::uint64_t>(
        [&](ry_exec* exec, ry_sandbox_read_fn fn, void* ctx) {
          return d->table->read_file(d->self, ry::str(w.project), ry::str(path), at,
                                     std::min<std::uint64_t>(chunk_bytes, size - at), exec, fn, ctx);
        },
        [](ry_bytes content, std::uint64_t) { return ry::text(content); });
    if (!piece) co_return piece.error();
    if (piece->size() != std::min<std::uint64_t>(chunk_bytes, size - at)) incomplete = true;
    if (piece->empty()) break;
    at += piece->size();
    std::string digest;
    if (piece->size() > 64 * 1024)
      digest = co_await ctx_.run_blocking([&piece] { return digest_of(*piece); });
    else
      digest = digest_of(*piece);
    digests += (digests.empty() ? "" : ",") + digest;
    if (!known(digest)) {
      if (delta.chunks.bytes.size() + piece->size() > batch_bytes) {
        ry::result<bool> put = co_await rows_.put(account, w.project, delta.chunks, limits.account_bytes);
        if (!put) co_return put.error();
        if (!*put) co_return ry::error(RY_RESOURCE_EXHAUSTED, pending_limit, "too many bytes are being stored");
        delta.chunks = {};
      }
      delta.chunks.add(digest, *piece);
    }
  }
  co_return digests;
}

ry::task<ry::result<workspace_store::kept>> workspace_store::keep_changes(const driver& d, workspace& w,
                                                                          workspace_fence fence,
                                                                          workspace_limits limits,
                                                                          const std::string& account,
                                                                          std::function<bool()> urgent) {
  kept out;
  for (int attempt = 0; attempt < 3; ++attempt) {
    ry::result<scan_result> now = co_await scan(d, w);
    if (!now && now.status() == RY_RESOURCE_EXHAUSTED) {
      out.note = limit_note("the workspace has more than " + std::to_string(config_.workspace_files) +
                            " files, so none of its files are saved");
      co_return out;
    }
    if (!now && now.status() != RY_NOT_FOUND) co_return now.error();
    if (now && !w.state_loaded_) {
      // The workspace was too large to be scanned by open(), but no longer is.
      co_await load_state(w, *now);
      if (w.state_.version == no_version) {
        ry::result<void> refreshed = co_await refresh(d, w, local_changes::discard, {});
        if (!refreshed) co_return refreshed.error();
        co_return out;
      }
    }
    if (!now || now->root_inode != w.state_.root_inode || now->root_made_ns != w.state_.root_made_ns) {
      w.state_loaded_ = false;  // the directory was removed or replaced
      co_return ry::error(RY_FAILED_PRECONDITION, "runs.workspace_replaced",
                          "the directory of the workspace was removed or replaced while it was in use");
    }
    const workspace_changes changes = changes_between(w.state_.entries, now->entries);
    if (changes.empty()) co_return out;
    std::uint64_t to_read = 0;
    for (const std::string& path : changes.changed) to_read += now->entries.at(path).size;
    if (urgent() && to_read > urgent_bytes) co_return out;
    // Check the limits first: otherwise large files would be stored before the database refuses them.
    if (to_read > batch_bytes) {
      ry::result<std::string> excess = co_await find_excess(w, *now, limits, account);
      if (!excess) co_return excess.error();
      if (!excess->empty()) {
        out.note = limit_note(*excess);
        co_return out;
      }
    }

    std::set<std::string> known;
    if (attempt == 0)  // in later attempts, the database lacks some of these chunks
      for (const auto& [path, e] : w.state_.entries)
        for (std::string& digest : split_chunks(e.chunks)) known.insert(std::move(digest));
    const std::function<bool(const std::string&)> is_known = [&known](const std::string& digest) {
      return !known.insert(digest).second;
    };
    workspace_delta delta;
    workspace_entries updated;  // new entries of the state
    for (const std::string& path : changes.changed) {
      workspace_entry e = now->entries.at(path);
      if (e.kind == RY_SANDBOX_FILE) {
        if (e.size > static_cast<std::uint64_t>(config_.workspace_file_bytes)) {
          out.note =
              limit_note(path + " is larger than " +
                         size_text(static_cast<std::uint64_t>(config_.workspace_file_bytes)) + ", so it is not saved");
          continue;
        }
        bool incomplete = false;
        ry::result<std::string> digests =
            co_await digest_file(d, w, account, limits, path, e.size, delta, is_known, incomplete);
        if (!digests) {
          if (digests.error().is(pending_limit)) {
            count_workspace_limit(ctx_, "account_bytes");
            out.note = limit_note("files of your account larger than " +
                                  size_text(static_cast<std::uint64_t>(limits.account_bytes)) +
                                  " are being stored, so new files are not stored in the database");
            co_return out;
          }
          const ry_status st = digests.status();
          if (st == RY_NOT_FOUND || st == RY_FAILED_PRECONDITION || st == RY_PERMISSION_DENIED) continue;
          co_return digests.error();
        }
        if (incomplete) continue;
        e.chunks = std::move(*digests);
        if (urgent() && to_read > urgent_bytes) co_return out;
        if (e.changed_ns > now->begun_ns - timestamp_granularity_ns) e.changed_ns = 0;
      }
      const auto before = w.state_.entries.find(path);
      if (before == w.state_.entries.end() || !before->second.same_content(e)) delta.changed.emplace(path, e);
      updated.emplace(path, std::move(e));
    }
    delta.gone = changes.gone;
    if (!delta.changed.empty() || !delta.gone.empty()) {
      ry::result<keep_result> result = co_await rows_.keep(w.project, fence, delta, limits);
      if (!result) {
        if (result.error().is("jobs.fence_lost")) {
          w.must_discard_ = true;
          w.state_.version = no_version;  // discards the changes even after a restart of this server
          co_await save_state(w);
          out.ours = false;
          co_return out;
        }
        co_return result.error();
      }
      if (result->outcome == "missing") continue;
      if (const std::string excess = excess_text(result->outcome, limits); !excess.empty()) {
        count_workspace_limit(ctx_, result->outcome);
        out.note = limit_note(excess);
        co_return out;
      }
      if (result->outcome == "gone") co_return out;
      const bool behind = result->previous != w.state_.version;
      for (const std::string& path : delta.gone) w.state_.entries.erase(path);
      for (auto& [path, e] : updated) w.state_.entries.insert_or_assign(path, std::move(e));
      if (behind) {
        // Another node changed other files of the project: fetch them and preserve local changes.
        ry::result<void> refreshed = co_await refresh(d, w, local_changes::preserve, {});
        if (!refreshed) co_return refreshed.error();
        co_return out;
      }
      w.state_.version = result->version;
    } else {
      for (auto& [path, e] : updated) w.state_.entries.insert_or_assign(path, std::move(e));
    }
    co_await save_state(w);
    co_return out;
  }
  co_return ry::unavailable("runs.workspace", "the workspace kept changing");
}

ry::task<ry::result<std::string>> workspace_store::find_excess(const workspace& w, const scan_result& now,
                                                               const workspace_limits& limits,
                                                               const std::string& account) {
  std::int64_t bytes = 0, files = 0;
  for (const auto& [path, e] : now.entries) {
    if (e.kind == RY_SANDBOX_FILE && e.size > static_cast<std::uint64_t>(config_.workspace_file_bytes)) continue;
    if (e.kind == RY_SANDBOX_FILE) bytes += static_cast<std::int64_t>(e.size);
    ++files;
  }
  if (bytes > limits.bytes) co_return excess_text("too_large", limits);
  if (files > limits.files) co_return excess_text("too_many", limits);
  ry::result<workspace_usage> use = co_await rows_.usage(account, w.project, node());
  if (!use) co_return use.error();
  std::string_view full;
  if (bytes > use->project_bytes && use->kept_bytes - use->project_bytes + bytes > limits.account_bytes)
    full = "account_bytes";
  else if (files > use->project_files && use->kept_files - use->project_files + files > limits.account_files)
    full = "account_files";
  count_workspace_limit(ctx_, full);
  co_return excess_text(full, limits);
}

ry::task<std::optional<std::int64_t>> workspace_store::local_version(std::string project) {
  const std::string path = state_path(project);
  co_return co_await ctx_.run_blocking([&path]() -> std::optional<std::int64_t> {
    std::ifstream in(path, std::ios::binary);
    std::string line;
    if (!in || !std::getline(in, line)) return std::nullopt;
    return parse_state_version(line + "\n");
  });
}

bool workspace_store::is_open(const std::string& project) {
  std::lock_guard lock(mutex_);
  const auto at = open_.find(project);
  return at != open_.end() && !at->second.expired();
}

ry::task<std::vector<std::string>> workspace_store::local_projects() {
  if (states_.empty()) co_return std::vector<std::string>();
  co_return co_await ctx_.run_blocking([this] {
    std::vector<std::string> out;
    std::error_code bad;
    for (std::filesystem::directory_iterator at(states_, bad), end; !bad && at != end; at.increment(bad))
      if (std::string name = at->path().filename().string(); ry::uuid::parse(name)) out.push_back(std::move(name));
    return out;
  });
}

ry::task<ry::result<void>> workspace_store::remove(driver d, std::string project) {
  if (is_open(project)) co_return ry::result<void>();
  ry_exec* const home = co_await ry::this_exec();
  const workspace_ptr w = find_or_create(project, home);
  ry::result<void> done = co_await lock(*w);
  if (done) {
    // If the state was loaded, a concurrent user may have placed files of a new project and uses them.
    try {
      if (!w->state_loaded_) done = co_await remove_copy(d, *w);
    } catch (...) {
      done = ry::current_error();
    }
    unlock(*w);
  }
  co_await ctx_.switch_to(home);
  co_return done;
}

ry::task<ry::result<void>> workspace_store::remove_copy(const driver& d, workspace& w) {
  const std::vector<std::string> one(1, w.project);
  ry::result<std::vector<std::string>> deleted = co_await rows_.deleted_of(one);
  if (!deleted) co_return deleted.error();
  if (deleted->empty()) co_return ry::result<void>();
  ry::result<void> removed = co_await ry::call_done(
      [&](ry_exec* exec, ry_done done) { return d->table->destroy(d->self, ry::str(w.project), exec, done); });
  if (!removed) co_return removed;  // the next sweep finds the remaining files, because the state file still exists
  const std::string path = state_path(w.project);
  co_await ctx_.run_blocking([&path] { ::unlink(path.c_str()); });
  w.recorded_ = false;
  co_return co_await rows_.copy_removed(w.project, node());
}

}  // namespace runs
