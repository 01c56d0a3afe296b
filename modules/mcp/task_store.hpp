// MCP tasks on which calls of runs wait. The database stores them, so that a worker that claims the run continues with
// the same task. Memory holds those of this worker's runs, to cancel them if the run ends first. Any thread.
#pragma once

#include <mutex>
#include <optional>
#include <ry/ry.hpp>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "connection.hpp"

namespace mcp {

// A call of a run; run and call are empty for a call outside a run, which is not stored.
struct call_id {
  std::string run, call, hash;

  bool is_stored() const noexcept { return !run.empty() && !call.empty(); }
};
// Hash of the tool and its arguments, independent of member order.
std::string hash_of_call(std::string_view tool, const json::value& arguments);

class task_store {
 public:
  // A task that its call abandoned while the run continued.
  struct abandoned {
    server_ptr server;
    std::string task_id;
  };

  explicit task_store(const ry::context& ctx) : ctx_(ctx) {}

  // Throws ry::error.
  ry::task<void> store(call_id id, std::string task_id, std::int64_t lifetime_ms);
  ry::task<std::optional<std::string>> find(call_id id) const;
  // Deletes the stored tasks of a run that is over.
  ry::task<void> remove(std::string run) const;

  // Records in memory that the run has a stored task, or that a call abandoned its task.
  void mark_stored(const std::string& run);
  void add_abandoned(const std::string& run, abandoned a);
  // The in-memory state of the run. stored: the run may have rows in the database.
  struct run_tasks {
    bool stored = false;
    std::vector<abandoned> tasks;
  };
  run_tasks take(const std::string& run);

 private:
  const ry::context& ctx_;
  std::mutex mutex_;
  std::unordered_map<std::string, run_tasks> runs_;
};

}  // namespace mcp
