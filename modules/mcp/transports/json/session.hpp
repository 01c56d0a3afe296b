// One local MCP server: a child process that exchanges one JSON text per line over standard input and output. Its
// standard error goes to the log only: line by line, and its last lines again if the process exits early.
//
// A package runner with a damaged cache may exit before its first response. The session then restarts it once without
// the cache and repeats the messages.
//
// A closed session lives until its child has terminated: it closes standard input, sends SIGTERM to the child and its
// descendants where that is possible, then kills them.
#pragma once

#include <ry/cpp/mcp.hpp>
#include <ry/ry.hpp>
#include <unordered_map>

#include "package_cache.hpp"
#include "program.hpp"

namespace mcp_json {

// Counts child processes, in total and per account. Any thread.
class process_counter {
 public:
  enum class admission { admitted, account_full, node_full };
  admission add(const settings& s, const std::string& account);
  void remove(const std::string& account) noexcept;

 private:
  std::mutex mutex_;
  std::size_t total_ = 0;
  std::unordered_map<std::string, std::size_t> by_account_;
};

class session final : public ry::mcp::session, listener {
 public:
  // State that all sessions share; must outlive them.
  struct shared {
    const ry::context& ctx;
    const settings& config;
    process_counter& processes;
    package_cache& packages;
    homes& home_directories;
  };
  session(const shared& environment, const ry::mcp::target& t, const command& c, sandboxes::entry sandbox,
          ry_exec* exec, ry::mcp::sink sink);

  ry_status send(ry::mcp::message m) override;
  void finish(std::uint64_t token, std::int32_t reason) noexcept override;
  void resume() noexcept override;
  void close() noexcept override;

 private:
  ~session() override;
  bool output(std::int32_t fd, std::string_view bytes) noexcept override;
  void exited(std::int32_t code, std::int32_t reason) noexcept override;
  static void on_written(void* p, ry_status st, const ry_error_view* err) noexcept;
  static void on_resumed(void* p) noexcept;
  static void on_exit_timeout(void* p, ry_status st, const ry_error_view* err) noexcept;

  bool read_output(std::string_view bytes);
  void read_errors(std::string_view bytes);
  std::string_view last_errors() const noexcept;
  void start();
  // Returns true if the program was restarted.
  bool restart_without_cache(std::int32_t code) noexcept;
  void handle_exit(std::int32_t code, std::int32_t reason);
  void report_end(const ry::error& e) noexcept;
  void start_exit_timer() noexcept;
  void end_if_idle() noexcept;

  const shared environment_;
  const ry::context& ctx_;
  ry_exec* const exec_;
  const ry::mcp::sink sink_;
  const std::string server_, account_;
  const std::uint64_t max_message_bytes_;
  launch_options launch_options_;
  std::unique_ptr<package_cache::lease> packages_;
  std::unique_ptr<program> child_;
  std::string early_messages_;  // sent before the first response, while a restart is possible
  std::string line_, errors_, unlogged_;
  std::string held_output_;  // received while the sink is full
  std::optional<ry::error> end_;  // to be reported once the sink is no longer full
  std::vector<std::uint64_t> unwritten_;
  std::size_t pending_writes_ = 0, pending_posts_ = 0;
  std::size_t logged_bytes_ = 0;
  ry_op_id exit_timer_ = 0;
  int terminate_attempts_ = 0;
  bool responded_ = false, only_probed_ = true;
  bool exit_timer_active_ = false, closing_ = false, end_reported_ = false, paused_ = false, exited_ = false;
};

}  // namespace mcp_json
