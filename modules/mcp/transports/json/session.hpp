// One local MCP server: a child process that exchanges one JSON text per line over standard input and output. Its
// standard error goes to the log only: line by line, and its last lines again if the process exits early.
//
// A package runner with a damaged cache may exit before its first response. The session then restarts it once without
// the cache and repeats the messages.
//
// A closed session stays alive until its child is gone: it closes standard input, asks the child and its descendants to
// end where that is possible, then kills them.
#pragma once

#include <ry/cpp/mcp.hpp>
#include <ry/ry.hpp>
#include <unordered_map>

#include "package_cache.hpp"
#include "program.hpp"

namespace mcp_json {

// Counts child processes, in total and per account. Any thread.
class census {
 public:
  enum class entry { taken, account_full, full };
  entry enter(const settings& s, const std::string& account);
  void leave(const std::string& account) noexcept;

 private:
  std::mutex mutex_;
  std::size_t all_ = 0;
  std::unordered_map<std::string, std::size_t> of_;
};

class session final : public ry::mcp::session, listener {
 public:
  // State that all sessions share; must outlive them.
  struct shared {
    const ry::context& ctx;
    const settings& config;
    census& counted;
    package_cache& packages;
    homes& own_homes;
  };
  session(const shared& with, const ry::mcp::target& t, const command& c, sandboxes::entry sandbox, ry_exec* exec,
          ry::mcp::sink to);

  ry_status send(ry::mcp::message m) override;
  void finish(std::uint64_t token, std::int32_t why) noexcept override;
  void resume() noexcept override;
  void close() noexcept override;

 private:
  ~session() override;
  bool output(std::int32_t fd, std::string_view bytes) noexcept override;
  void ended(std::int32_t code, std::int32_t why) noexcept override;
  static void on_written(void* p, ry_status st, const ry_error_view* err) noexcept;
  static void on_resumed(void* p) noexcept;
  static void on_exit_timeout(void* p, ry_status st, const ry_error_view* err) noexcept;

  bool read(std::string_view bytes);
  void errors(std::string_view bytes);
  std::string_view last_errors() const noexcept;
  void start();
  // Whether the program was restarted.
  bool start_again(std::int32_t code) noexcept;
  void gone(std::int32_t code, std::int32_t why);
  void report_end(const ry::error& e) noexcept;
  void wait_for_end() noexcept;
  void end_if_idle() noexcept;

  const shared with_;
  const ry::context& ctx_;
  ry_exec* const exec_;
  const ry::mcp::sink sink_;
  const std::string server_, account_;
  const std::uint64_t max_message_;
  launch how_;
  std::unique_ptr<package_cache::lease> packages_;
  std::unique_ptr<program> child_;
  std::string first_sent_;  // messages sent before the first answer, while a restart is possible
  std::string line_, errors_, unlogged_;
  std::string held_;  // input received while the sink is full
  std::optional<ry::error> end_;  // to be reported once the sink is no longer full
  std::vector<std::uint64_t> unwritten_;
  std::size_t writes_ = 0, posts_ = 0;
  std::size_t logged_ = 0;
  ry_op_id exit_timer_ = 0;
  int asked_ = 0;
  bool answered_ = false, probed_only_ = true;
  bool waiting_ = false, closing_ = false, end_reported_ = false, paused_ = false, exited_ = false;
};

}  // namespace mcp_json
