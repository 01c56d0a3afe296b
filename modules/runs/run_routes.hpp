// The operations on runs, threads and the files of a project.
#pragma once
#include "parts.hpp"
#include "path_lookup.hpp"
#include "text.hpp"
#include "workspace_sweep.hpp"

namespace runs {

class run_routes {
 public:
  explicit run_routes(parts& p) : parts_(p) {}
  ry::task<ry::response> stop(ry::request request);
  ry::task<ry::response> get(ry::request request);
  ry::task<ry::response> list(ry::request request);
  ry::task<ry::response> active(ry::request request);
  ry::task<ry::response> of_thread(ry::request request);

  // Stops the account's run and waits until that is certain; the run's status then. 404: unknown or foreign.
  ry::task<std::string> stop_run(std::string account, std::string id);

 private:
  parts& parts_;
};

class thread_routes {
 public:
  thread_routes(parts& p, run_routes& runs, workspace_sweep& copies) : parts_(p), runs_(runs), copies_(copies) {}
  ry::task<ry::response> list(ry::request request);
  ry::task<ry::response> get(ry::request request);
  ry::task<ry::response> messages(ry::request request);
  ry::task<ry::response> remove(ry::request request);
  // Stops the runs of a thread of the account and deletes it. False: a run does not stop; try again later.
  ry::task<bool> erase(std::string account, std::string id);

 private:
  // The last answer of delete_alone(), after stopping runs as long as that is necessary.
  ry::task<ry::result<repository::deletion>> delete_forced(std::string account, std::string id);
  ry::task<ry::result<repository::deletion>> delete_alone(std::string account, std::string id);
  ry::task<void> stop_runs(std::string account, std::string id);

  parts& parts_;
  run_routes& runs_;
  workspace_sweep& copies_;
};

class file_routes {
 public:
  explicit file_routes(parts& p) : parts_(p) {}
  ry::task<ry::response> list(ry::request request);
  ry::task<void> content(ry::request request);

 private:
  // Where to look, after the project was found to be the caller's.
  struct place {
    std::string project;
    workspace_keeper::driver driver;  // empty: this node has no copy, or an older one
    bool kept = false;                // the database has files of it
  };
  ry::task<place> place_of(const ry::request& request);
  struct range {
    std::string path;
    std::uint64_t offset = 0, limit = 0;
    bool whole = true;  // the request names no part
  };
  directory_lister lister(const place& at);
  ry::task<std::string> similar_path(const place& at, std::string path);
  // False: this place has no such file.
  ry::task<bool> send(const ry::request& request, const place& at, const range& want);
  ry::task<bool> send_local(const ry::request& request, const place& at, const range& want);
  ry::task<bool> send_read(const ry::request& request, const place& at, const range& want);
  ry::task<bool> send_kept(const ry::request& request, const place& at, const range& want);
  parts& parts_;
};

// ?limit= within 1..100. Throws a 422.
std::int64_t page_limit(const ry::request& request, std::int64_t otherwise);
// {"<name>": [...], "next_cursor": ...} of a page of `list`.
std::string page_json(const char* name, const std::string& list, const repository::page& page);
// ?cursor=; throws a 400 when it is none of this list.
std::optional<cursor> page_cursor(const ry::request& request, std::string_view list);

}  // namespace runs
