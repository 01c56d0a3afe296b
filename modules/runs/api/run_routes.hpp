// The HTTP operations on runs, threads and the files of a project.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <ry/ry.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "run/run_stopper.hpp"
#include "ry/svc/accounts.h"
#include "store/account_locks.hpp"
#include "store/repository.hpp"
#include "text.hpp"
#include "workspace/path_lookup.hpp"
#include "workspace/sandbox_drivers.hpp"
#include "workspace/workspace_store.hpp"
#include "workspace/workspace_sweep.hpp"

namespace runs {

// The parameters of a list, decoded. If a name occurs more than once, its first value counts.
using query_values = std::vector<std::pair<std::string, std::string>>;
// The parameters limit, cursor, status, order and metadata[KEY] of a request.
query_values query_of(const ry::request& request);
std::optional<std::string> value_of(const query_values& query, std::string_view name);

class run_routes {
 public:
  run_routes(const repository& repo, const ry::service<ry_accounts_v1>& accounts, run_stopper& stopper)
      : repo_(repo), accounts_(accounts), stopper_(stopper) {}
  ry::task<ry::response> stop(ry::request request);
  ry::task<ry::response> get(ry::request request);
  ry::task<ry::response> list(ry::request request);
  ry::task<ry::response> active(ry::request request);
  ry::task<ry::response> of_thread(ry::request request);

  // The responses of the routes for an account, as JSON; they throw the error responses of the routes.
  ry::task<std::string> get_json(std::string account, std::string id) const;
  ry::task<std::string> list_json(std::string account, query_values query) const;
  ry::task<std::string> thread_list_json(std::string account, std::string thread, query_values query) const;

 private:
  const repository& repo_;
  const ry::service<ry_accounts_v1>& accounts_;
  run_stopper& stopper_;
};

class thread_routes {
 public:
  thread_routes(const repository& repo, const ry::service<ry_accounts_v1>& accounts, account_locks& locks,
                run_stopper& stopper, workspace_sweep& copies)
      : repo_(repo), accounts_(accounts), locks_(locks), stopper_(stopper), copies_(copies) {}
  ry::task<ry::response> list(ry::request request);
  ry::task<ry::response> get(ry::request request);
  ry::task<ry::response> messages(ry::request request);
  ry::task<ry::response> remove(ry::request request);
  ry::task<std::string> messages_json(std::string account, std::string id, query_values query) const;
  // Stops the runs of an account's thread and deletes the thread.
  enum class erasure { done, not_found, busy };  // busy: a run did not stop; try again later
  ry::task<erasure> erase(std::string account, std::string id);

 private:
  // Calls delete_once(), and stops runs between the attempts if necessary; returns the last result.
  ry::task<ry::result<repository::deletion>> stop_and_delete(std::string account, std::string id);
  ry::task<ry::result<repository::deletion>> delete_once(std::string account, std::string id);
  ry::task<void> stop_runs(std::string account, std::string id);

  const repository& repo_;
  const ry::service<ry_accounts_v1>& accounts_;
  account_locks& locks_;
  run_stopper& stopper_;
  workspace_sweep& copies_;
};

class file_routes {
 public:
  file_routes(const ry::context& ctx, const repository& repo, const ry::service<ry_accounts_v1>& accounts,
              const sandbox_drivers& sandboxes, workspace_store& workspaces)
      : ctx_(ctx), repo_(repo), accounts_(accounts), sandboxes_(sandboxes), workspaces_(workspaces) {}
  ry::task<ry::response> list(ry::request request);
  ry::task<void> content(ry::request request);

 private:
  // The sources of a project's files; find_sources() has checked that the project is the caller's.
  struct file_sources {
    std::string project;
    workspace_store::driver driver;  // empty: this node has no copy, or an outdated one
    bool in_database = false;  // the database has files of the project
  };
  ry::task<file_sources> find_sources(const ry::request& request);
  struct range {
    std::string path;
    std::uint64_t offset = 0, limit = 0;
    bool is_whole_file = true;  // the request has no offset and no limit
  };
  directory_lister lister(const file_sources& sources);
  ry::task<std::string> find_similar_path(const file_sources& sources, std::string path);
  // False: the sources have no such file.
  ry::task<bool> send(const ry::request& request, const file_sources& sources, const range& requested);
  ry::task<bool> send_from_workspace(const ry::request& request, const file_sources& sources, const range& requested);
  ry::task<bool> send_without_descriptor(const ry::request& request, const file_sources& sources,
                                         const range& requested);
  ry::task<bool> send_from_database(const ry::request& request, const file_sources& sources, const range& requested);

  const ry::context& ctx_;
  const repository& repo_;
  const ry::service<ry_accounts_v1>& accounts_;
  const sandbox_drivers& sandboxes_;
  workspace_store& workspaces_;
};

// The parameter ?limit= from 1 to 100. Throws a 422.
std::int64_t page_limit(const query_values& query, std::int64_t default_limit);
// {"<name>": [...], "next_cursor": ...} for a page of `list`.
std::string page_json(const char* name, const std::string& list, const repository::page& page);
// The parameter ?cursor=. Throws a 400 if it is not a cursor of this list.
std::optional<cursor> page_cursor(const query_values& query, std::string_view list);

}  // namespace runs
