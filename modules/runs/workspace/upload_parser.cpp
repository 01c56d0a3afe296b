#include "workspace/upload_parser.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <set>

#include "account_limits.hpp"
#include "error_response.hpp"
#include "text.hpp"
#include "workspace/safe_file_name.hpp"

namespace runs {
namespace {

constexpr std::size_t upload_batch_bytes = chunk_bytes;

// Reads a file chunk by chunk.
class file_reader {
 public:
  explicit file_reader(const std::string& path) : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  file_reader(const file_reader&) = delete;
  ~file_reader() {
    if (fd_ >= 0) ::close(fd_);
  }
  // Reads the next chunk; an empty one is the end of the file. False: error.
  bool read(std::string& piece) {
    piece.resize(chunk_bytes);
    std::size_t size = 0;
    while (size < piece.size()) {
      const ssize_t n = ::read(fd_, piece.data() + size, piece.size() - size);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return false;
      if (n == 0) break;
      size += static_cast<std::size_t>(n);
    }
    piece.resize(size);
    return fd_ >= 0;
  }

 private:
  int fd_;
};

// The media type as the client sent it; empty if it is invalid.
std::string media_type(std::string_view sent) {
  const bool valid =
      sent.size() <= 200 && std::all_of(sent.begin(), sent.end(), [](char c) { return c >= 0x20 && c < 0x7F; });
  return valid ? std::string(sent) : std::string();
}

void refuse_excess(const ry::context& ctx, std::string_view outcome, const workspace_limits& limits) {
  count_workspace_limit(ctx, outcome);
  const auto size = [](std::int64_t bytes) { return size_text(static_cast<std::uint64_t>(bytes)); };
  if (outcome == "too_large")
    refuse_upload(limits.bytes, "The files of the project would be larger than " + size(limits.bytes));
  if (outcome == "too_many")
    refuse_upload(limits.files, "The project would have more than " + std::to_string(limits.files) + " files");
  if (outcome == "account_bytes")
    refuse_upload(limits.account_bytes,
                  "The files of all your projects would be larger than " + size(limits.account_bytes));
  if (outcome == "account_files")
    refuse_upload(limits.account_files,
                  "All your projects would have more than " + std::to_string(limits.account_files) + " files");
}

}  // namespace

void refuse_upload(std::int64_t limit, std::string message) {
  throw refusal(413, message,
                "{\"message\":" + json_string(message) + ",\"limit\":" + std::to_string(limit) +
                    ",\"error_code\":\"UPLOAD_TOO_LARGE\"}");
}

upload_parser::upload_parser(const ry::context& ctx, const sandbox_drivers& sandboxes, workspace_store& workspaces,
                             std::string account, workspace_limits limits, const std::vector<ry::form_part>& files)
    : ctx_(ctx), sandboxes_(sandboxes), workspaces_(workspaces), account_(std::move(account)), limits_(limits) {
  for (const ry::form_part& part : files) {
    files_.push_back(
        {std::string(part.path), std::string(part.filename), media_type(part.content_type), part.size, {}, {}});
    total_ += part.size;
  }
}

bool upload_parser::is_large() const {
  return total_ > upload_batch_bytes;
}

// Called before the bytes are stored, so that most refused starts store none.
ry::task<void> upload_parser::check_limits(std::string project) {
  ry::result<workspace_usage> use = co_await workspaces_.rows().usage(account_, project, workspaces_.node());
  const auto bytes = static_cast<std::int64_t>(total_), files = static_cast<std::int64_t>(files_.size());
  if (use.value().project_bytes + bytes > limits_.bytes) refuse_excess(ctx_, "too_large", limits_);
  if (use->project_files + files > limits_.files) refuse_excess(ctx_, "too_many", limits_);
  if (use->kept_bytes + bytes > limits_.account_bytes) refuse_excess(ctx_, "account_bytes", limits_);
  if (use->kept_files + files > limits_.account_files) refuse_excess(ctx_, "account_files", limits_);
}

ry::task<void> upload_parser::store_batch(const std::string& project) {
  ry::result<bool> stored = co_await workspaces_.rows().put(account_, project, batch_, limits_.account_bytes);
  if (!stored.value()) refuse_excess(ctx_, "account_bytes", limits_);
  batch_ = {};
}

ry::task<void> upload_parser::read(std::optional<std::string> project) {
  struct step {
    std::string piece, digest;
    bool ok = false;
  };
  if (project) co_await check_limits(*project);
  for (file& f : files_) {
    file_reader in(f.spool_path);
    for (std::uint64_t at = 0; at < f.size;) {
      step s = co_await ctx_.run_blocking([&in] {
        step out;
        out.ok = in.read(out.piece) && !out.piece.empty();
        if (out.ok) out.digest = digest_of(out.piece);
        return out;
      });
      if (!s.ok) throw ry::internal("runs.upload", "an uploaded file could not be read");
      at += s.piece.size();
      f.chunks += (f.chunks.empty() ? "" : ",") + s.digest;
      if (project && batch_.bytes.size() + s.piece.size() > upload_batch_bytes) {
        co_await store_batch(*project);
      }
      batch_.add(std::move(s.digest), s.piece);
    }
  }
  if (project && !batch_.empty()) co_await store_batch(*project);
}

ry::task<void> upload_parser::discard(std::string project) {
  const ry::result<void> dropped = co_await workspaces_.rows().drop(account_, std::move(project));
  if (!dropped) ctx_.log_error("the files of a refused start could not be removed yet", dropped.error());
}

// Names of uploaded files in this node's copy of the project, which may not be stored in the database yet.
ry::task<std::vector<std::string>> upload_parser::local_names(std::string project) {
  std::vector<std::string> out;
  const auto driver = sandboxes_.in_use();
  if (!driver || !workspaces_.is_open(project)) co_return out;
  const std::string path = "uploads";
  ry::result<std::string> listed = co_await ry::call<std::string, ry_str>(
      [&](ry_exec* exec, ry_sandbox_list_fn fn, void* ctx) {
        return driver->table->list_files(driver->self, ry::str(project), ry::str(path), exec, fn, ctx);
      },
      [](ry_str text) { return ry::text(text); });
  if (!listed) co_return out;
  boost::system::error_code bad;
  const boost::json::value parsed = boost::json::parse(*listed, bad);
  if (bad || !parsed.is_array()) co_return out;
  for (const boost::json::value& v : parsed.as_array())
    if (const auto* name = v.is_object() ? v.as_object().if_contains("name") : nullptr;
        name != nullptr && name->is_string())
      out.emplace_back(name->as_string());
  co_return out;
}

ry::task<std::vector<upload_record>> upload_parser::keep(ry::tx& in, std::string project) {
  const workspace_repository& rows = workspaces_.rows();
  ry::result<std::vector<std::string>> stored_names = co_await rows.upload_names(in, project);
  std::set<std::string> taken(stored_names.value().begin(), stored_names.value().end());
  std::vector<std::string> local = co_await local_names(project);
  taken.insert(local.begin(), local.end());

  workspace_delta delta;
  workspace_entry uploads;
  uploads.kind = RY_SANDBOX_DIR;
  uploads.mode = 0755;
  delta.changed.emplace("uploads", uploads);
  std::vector<upload_record> records;
  const std::int64_t now_ns = ctx_.now_unix_us() * 1000;
  for (file& f : files_) {
    const std::string name = unique_name(safe_file_name(f.sent_name), taken);
    f.path = "uploads/" + name;
    workspace_entry e;
    e.kind = RY_SANDBOX_FILE;
    e.mode = 0644;
    e.size = f.size;
    e.modified_ns = now_ns;
    e.chunks = f.chunks;
    delta.changed.emplace(f.path, std::move(e));
    records.push_back({name, f.type, static_cast<std::int64_t>(f.size)});
  }
  delta.chunks = batch_;
  ry::result<keep_result> kept = co_await rows.keep(project, std::nullopt, delta, limits_, &in);
  stored_ = kept.value();
  refuse_excess(ctx_, stored_.outcome, limits_);
  if (stored_.outcome != "ok") throw ry::unavailable("runs.upload", "the uploaded files could not be stored");
  co_return records;
}

ry::task<void> upload_parser::place(std::string project, ry_exec* home) {
  const auto driver = sandboxes_.in_use();
  if (!driver) {
    ctx_.warn("no sandbox driver is loaded: uploaded files are stored without their text");
    co_return;
  }
  workspace_store::open_options options;
  options.version = stored_.version;
  options.before = stored_.previous;
  for (const file& f : files_) options.local_files.emplace(f.path, f.spool_path);
  const ry::result<workspace_ptr> copy = co_await workspaces_.open(driver, project, std::move(options), home);
  if (!copy) ctx_.log_error("uploaded files could not be copied into the workspace of this node", copy.error());
}

}  // namespace runs
