// Swaps, disables and enables modules while the server runs: POST /admin/modules/{name}/reload, .../enable and
// .../disable, and, if configured, a change of a module's file. GET /admin/modules lists all modules. For
// administrators.
//
// Lifetime: created before the server listens; stop() before the modules stop. Threads: the routes run on blocking
// threads and wait for the main thread; only the main thread changes modules.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "core/app/admin/swap_record.hpp"
#include "core/app/boot/api_document.hpp"
#include "core/app/boot/host.hpp"
#include "core/app/boot/load_config.hpp"
#include "core/app/boot/signals.hpp"
#include "core/db/database.hpp"
#include "core/db/migrator.hpp"
#include "core/module/module_swap.hpp"

namespace ry::app {

class file_watch;
class start_guard;

class module_operations {
 public:
  enum class action { reload, enable, disable };

  module_operations(module_host& w, host_services& r, api_document& api, signals& main, start_guard& starts,
                    config_options options, db::settings database, std::chrono::milliseconds drain);
  ~module_operations();
  module_operations(const module_operations&) = delete;
  module_operations& operator=(const module_operations&) = delete;

  // Records that the modules have started with the settings of `c`.
  void note_started(const config::config& c);
  // Starts watching module files: a module whose file changes is reloaded.
  void watch_files(const config::config& c);
  // Reloads every running module whose file differs from the loaded one; returns their number. Main thread only.
  std::size_t reload_changed();
  // Stops watching files.
  void stop();

  // Blocks until the old instances have ended or are left in memory. Main thread only. Answers 200 with the
  // result, or 404 or 409 with the reason; then nothing has changed.
  http::host_answer run(action what, const std::string& name);

 private:
  http::host_answer asked(action what, const ry_request_view& view);
  http::host_answer list() const;
  // Running modules whose configured settings differ from those with which they were created.
  std::vector<std::string> unapplied_settings(config::config& fresh) const;
  module::swap_request request_for(action what, const std::string& name, config::config& fresh,
                                   std::string& error) const;
  // Preflight: if migrations would be applied for the staged modules, starts them once and stages them again.
  // Returns why they must not be swapped in; empty: continue.
  std::string try_start(std::unique_ptr<module::module_swap>& swap, const module::swap_request& request,
                        const config::config& fresh);
  void publish(const std::vector<module::job_kind>& old_jobs, const std::vector<module::consumer>& old_consumers);
  // Like run(), and records `actor` in the audit log.
  http::host_answer run_for(const std::string& actor, action what, const std::string& name);
  // Reloads a module if its file differs from the loaded one. Returns false if it does not.
  bool compare(const module::module_description& m, const std::string& actor);
  void file_changed(const std::filesystem::path& file);

  module_host& host_;
  host_services& services_;
  api_document& api_;
  signals& main_;
  start_guard& starts_;
  const config_options options_;
  const db::settings database_;
  const std::chrono::milliseconds drain_;
  std::map<std::string, bool> requested_;  // requested since the start: enabled or disabled
  std::uint64_t newest_ = 0;  // the latest instance
  std::map<std::string, std::string> applied_;  // digests of the running modules' settings, by name
  swap_record record_;
  std::atomic<bool> busy_{false};
  std::unique_ptr<file_watch> watch_;
};

}  // namespace ry::app
