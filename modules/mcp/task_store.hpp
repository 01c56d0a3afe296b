// Tasks of servers that calls of runs wait for: in the database, so that a worker that takes a run over goes on waiting for
// the same task, and in memory those of this worker's runs, to be cancelled when a run is over before its task is. Any thread.
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

// A call of a run; both ids empty: a call that belongs to no run and is not stored.
struct call_id {
  std::string run, call, hash;

  bool stored() const noexcept { return !run.empty() && !call.empty(); }
};
// hash: of the tool and its arguments, whatever the order of their members.
std::string hash_of_call(std::string_view tool, const json::value& arguments);

class task_store {
 public:
  // A task that was given up by its call while the run went on.
  struct abandoned {
    server_ptr at;
    std::string task_id;
  };

  explicit task_store(const ry::context& ctx) : ctx_(ctx) {}

  // Throws ry::error.
  ry::task<void> keep(call_id of, std::string task_id, std::int64_t life_ms);
  ry::task<std::optional<std::string>> find(call_id of) const;
  // The tasks of a run that is over are of no more use.
  ry::task<void> forget(std::string run) const;

  // In memory: the run has a stored task; a call gave its task up.
  void note_stored(const std::string& run);
  void note_abandoned(const std::string& run, abandoned a);
  // What is known of the run here, which is forgotten. stored: whether it may have rows.
  struct of_run {
    bool stored = false;
    std::vector<abandoned> tasks;
  };
  of_run take(const std::string& run);

 private:
  const ry::context& ctx_;
  std::mutex mutex_;
  std::unordered_map<std::string, of_run> runs_;
};

}  // namespace mcp
