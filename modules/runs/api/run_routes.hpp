// The HTTP operations on runs, threads and the files of a project.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <ry/ry.hpp>
#include <string>
#include <string_view>

#include "ry/svc/accounts.h"
#include "start/account_locks.hpp"
#include "store/repository.hpp"
#include "text.hpp"
#include "workspace/path_lookup.hpp"
#include "workspace/sandbox_drivers.hpp"
#include "workspace/workspace_store.hpp"
#include "workspace/workspace_sweep.hpp"

namespace runs {

struct module_context;

class run_routes {
 public:
  explicit run_routes(module_context& p) : context_(p) {}
  ry::task<ry::response> stop(ry::request request);
  ry::task<ry::response> get(ry::request request);
  ry::task<ry::response> list(ry::request request);
  ry::task<ry::response> active(ry::request request);
  ry::task<ry::response> of_thread(ry::request request);

  // Stops the account's run, waits until it has ended, and returns its status. Throws a 404: unknown, or of another
  // account.
  ry::task<std::string> stop_run(std::string account, std::string id);

 private:
  module_context& context_;
};

class thread_routes {
 public:
  thread_routes(const repository& repo, const ry::service<ry_accounts_v1>& accounts, account_locks& locks,
                run_routes& runs, workspace_sweep& copies)
      : repo_(repo), accounts_(accounts), locks_(locks), runs_(runs), copies_(copies) {}
  ry::task<ry::response> list(ry::request request);
  ry::task<ry::response> get(ry::request request);
  ry::task<ry::response> messages(ry::request request);
  ry::task<ry::response> remove(ry::request request);
  // Stops the runs of an account's thread and deletes it. False: a run does not stop; try again later.
  ry::task<bool> erase(std::string account, std::string id);

 private:
  // Calls delete_alone(), stopping runs between the attempts as necessary; returns its last result.
  ry::task<ry::result<repository::deletion>> delete_forced(std::string account, std::string id);
  ry::task<ry::result<repository::deletion>> delete_alone(std::string account, std::string id);
  ry::task<void> stop_runs(std::string account, std::string id);

  const repository& repo_;
  const ry::service<ry_accounts_v1>& accounts_;
  account_locks& locks_;
  run_routes& runs_;
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
  // Sources of the files; place_of() has checked that the project is the caller's.
  struct place {
    std::string project;
    workspace_store::driver driver;  // empty: this node has no copy, or an outdated one
    bool kept = false;  // the database has files of the project
  };
  ry::task<place> place_of(const ry::request& request);
  struct range {
    std::string path;
    std::uint64_t offset = 0, limit = 0;
    bool whole = true;  // the request asks for the whole file
  };
  directory_lister lister(const place& at);
  ry::task<std::string> similar_path(const place& at, std::string path);
  // False: this source has no such file.
  ry::task<bool> send(const ry::request& request, const place& at, const range& want);
  ry::task<bool> send_local(const ry::request& request, const place& at, const range& want);
  ry::task<bool> send_read(const ry::request& request, const place& at, const range& want);
  ry::task<bool> send_kept(const ry::request& request, const place& at, const range& want);

  const ry::context& ctx_;
  const repository& repo_;
  const ry::service<ry_accounts_v1>& accounts_;
  const sandbox_drivers& sandboxes_;
  workspace_store& workspaces_;
};

// ?limit= within 1..100. Throws a 422.
std::int64_t page_limit(const ry::request& request, std::int64_t otherwise);
// {"<name>": [...], "next_cursor": ...} for a page of `list`.
std::string page_json(const char* name, const std::string& list, const repository::page& page);
// ?cursor=; throws a 400 if it is not a cursor of this list.
std::optional<cursor> page_cursor(const ry::request& request, std::string_view list);

}  // namespace runs
