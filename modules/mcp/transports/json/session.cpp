#include "session.hpp"

#include <algorithm>

#include "without_protection.hpp"

namespace mcp_json {
namespace {

constexpr std::size_t max_unwritten = 64;
constexpr std::size_t max_kept_errors = 4096;
constexpr std::size_t max_logged = 64 * 1024;
constexpr std::size_t max_tail = 1000;
constexpr std::uint64_t exit_timeout_ms = 1500;  // between closing the input, SIGTERM and SIGKILL

struct pending_write {
  session* owner;
  std::uint64_t token;
};

std::string_view trimmed(std::string_view s) {
  while (!s.empty() && static_cast<unsigned char>(s.front()) <= ' ') s.remove_prefix(1);
  while (!s.empty() && static_cast<unsigned char>(s.back()) <= ' ') s.remove_suffix(1);
  return s;
}

}  // namespace

process_counter::admission process_counter::add(const settings& s, const std::string& account) {
  std::lock_guard lock(mutex_);
  auto& of_account = by_account_[account];
  if (total_ >= s.max_children || of_account >= s.max_per_account) {
    const auto refusal = of_account >= s.max_per_account ? admission::account_full : admission::node_full;
    if (of_account == 0) by_account_.erase(account);
    return refusal;
  }
  ++total_;
  ++of_account;
  return admission::admitted;
}

void process_counter::remove(const std::string& account) noexcept {
  std::lock_guard lock(mutex_);
  --total_;
  const auto at = by_account_.find(account);
  if (at != by_account_.end() && --at->second == 0) by_account_.erase(at);
}

session::session(const shared& environment, const ry::mcp::target& t, const command& c, sandboxes::entry sandbox,
                 ry_exec* exec, ry::mcp::sink sink)
    : environment_(environment),
      ctx_(environment.ctx),
      exec_(exec),
      sink_(sink),
      server_(t.server),
      account_(t.account_id),
      max_message_bytes_(t.max_message_bytes),
      launch_options_{c, std::move(sandbox), account_, {}} {
  const auto admission = environment_.processes.add(environment_.config, account_);
  if (admission == process_counter::admission::account_full) {
    throw ry::exhausted("mcp.too_many_children",
                        "too many local MCP servers of this account are running (mcp_json.max_children_per_account)");
  }
  if (admission == process_counter::admission::node_full) {
    throw ry::error(RY_ABORTED, "mcp.too_many_children",
                    "too many local MCP servers are running (mcp_json.max_children)");
  }
  try {
    start();
  } catch (...) {
    environment_.processes.remove(account_);
    throw;
  }
}

session::~session() {
  environment_.processes.remove(account_);
}

void session::start() {
  packages_ = environment_.packages.take(account_, launch_options_.command_line);
  launch_options_.cache = packages_ ? packages_->directory() : std::string();
  child_ = start_program(ctx_, environment_.config, environment_.home_directories, launch_options_, exec_, *this);
}

bool session::restart_without_cache(std::int32_t code) noexcept {
  const bool cache_may_be_damaged =
      packages_ && packages_->filled() && !responded_ && code != 0 && !closing_ && !end_reported_;
  if (!cache_may_be_damaged) return false;
  // A server of an older revision may exit on server/discover. The next message shows whether the cache is at fault.
  if (only_probed_) return false;
  packages_->record_failure();
  bool restarted = false;
  (void)ry::guard([&] {
    ctx_.info("a local MCP server did not start from its package cache and is started without it",
              {{"server", server_}});
    packages_.reset();
    child_.reset();
    errors_.clear();
    start();
    restarted = true;
    (void)child_->write(early_messages_, ry_done{});
  });
  return restarted;
}

ry_status session::send(ry::mcp::message m) {
  if (end_reported_ || exited_ || closing_) return RY_CANCELLED;
  if (unwritten_.size() >= max_unwritten) return RY_RESOURCE_EXHAUSTED;
  m.json += '\n';
  auto write = std::make_unique<pending_write>(pending_write{this, m.token});
  unwritten_.push_back(m.token);
  const auto st = child_->write(m.json, {&session::on_written, write.get()});
  if (st != RY_OK) {
    unwritten_.pop_back();
    // The program has closed its input; its exit status is the better error.
    return st == RY_CANCELLED ? RY_CANCELLED : st;
  }
  ++pending_writes_;
  write.release();
  if (!responded_ && packages_ && packages_->filled()) {
    only_probed_ = only_probed_ && m.json.find("\"server/discover\"") != std::string::npos;
    early_messages_ += m.json;
  }
  return RY_OK;
}

void session::on_written(void* p, ry_status st, const ry_error_view*) noexcept {
  const std::unique_ptr<pending_write> write(static_cast<pending_write*>(p));
  auto* s = write->owner;
  --s->pending_writes_;
  const auto at = std::find(s->unwritten_.begin(), s->unwritten_.end(), write->token);
  if (at != s->unwritten_.end()) {
    s->unwritten_.erase(at);
    if (st == RY_OK && !s->closing_ && !s->end_reported_) s->sink_.sent(write->token);
  }
  s->end_if_idle();
}

void session::finish(std::uint64_t token, std::int32_t reason) noexcept {
  // The last output of a program that did not respond may show what it is waiting for.
  if (reason != 0 && !closing_ && !end_reported_) {
    (void)ry::guard([&] {
      if (const auto last = last_errors(); !last.empty()) {
        ctx_.warn("a request to a local MCP server ended without an answer",
                  {{"server", server_}, {"standard_error", last}});
      }
    });
  }
  const auto at = std::find(unwritten_.begin(), unwritten_.end(), token);
  if (at != unwritten_.end()) unwritten_.erase(at);
}

void session::resume() noexcept {
  if (!paused_ || closing_) return;
  paused_ = false;
  // Deferred, so that it does not run inside this call.
  ++pending_posts_;
  const auto st = ctx_.core().exec_post(ctx_.host(), exec_, &session::on_resumed, this);
  if (st != RY_OK) --pending_posts_;
}

void session::on_resumed(void* p) noexcept {
  auto* s = static_cast<session*>(p);
  --s->pending_posts_;
  (void)ry::guard([&] {
    std::string held;
    held.swap(s->held_output_);
    s->read_output(held);
    if (!s->paused_ && s->end_) s->report_end(*s->end_);
  });
  if (!s->paused_) s->child_->resume();
  s->end_if_idle();
}

bool session::output(std::int32_t fd, std::string_view bytes) noexcept {
  bool reading = true;
  (void)ry::guard([&] {
    if (fd == 1) {
      reading = read_output(bytes);
    } else {
      read_errors(bytes);
    }
  });
  return reading;
}

// Returns false if reading pauses until resume().
bool session::read_output(std::string_view bytes) {
  while (!bytes.empty() && !closing_ && !end_reported_) {
    if (paused_ || !held_output_.empty()) {
      held_output_.append(bytes);
      break;
    }
    const auto end = bytes.find('\n');
    const bool complete_line = end != std::string_view::npos && line_.empty();
    if (!complete_line) line_.append(bytes.substr(0, end));
    if ((complete_line ? end : line_.size()) > max_message_bytes_) {
      report_end(ry::error(RY_RESOURCE_EXHAUSTED, "mcp.too_large",
                           "a line is longer than " + std::to_string(max_message_bytes_) + " bytes"));
      child_->kill();
      break;
    }
    if (end == std::string_view::npos) break;
    std::string joined;
    joined.swap(line_);
    const auto text = trimmed(complete_line ? bytes.substr(0, end) : std::string_view(joined));
    bytes.remove_prefix(end + 1);
    // Some programs print other text to standard output.
    if (text.empty() || (text.front() != '{' && text.front() != '[')) continue;
    if (!std::exchange(responded_, true)) {
      if (packages_) packages_->record_success();
      early_messages_ = std::string();
    }
    const auto st = sink_.message(0, text);
    paused_ = st == RY_RESOURCE_EXHAUSTED;
    if (st != RY_OK && !paused_) {
      report_end(ry::error(st, "mcp.json", "a message could not be processed"));
    }
  }
  return !paused_ || closing_;
}

void session::read_errors(std::string_view bytes) {
  errors_.append(bytes);
  if (errors_.size() > 2 * max_kept_errors) errors_.erase(0, errors_.size() - max_kept_errors);
  // Secrets are masked in complete lines only, and no longer after the session is closed.
  if (closing_ || logged_bytes_ >= max_logged) return;
  unlogged_.append(bytes.substr(0, max_logged - logged_bytes_));
  logged_bytes_ = std::min(max_logged, logged_bytes_ + bytes.size());
  for (std::size_t end; (end = unlogged_.find('\n')) != std::string::npos; unlogged_.erase(0, end + 1)) {
    const auto line = trimmed(std::string_view(unlogged_).substr(0, end));
    if (!line.empty()) ctx_.info("standard error of a local MCP server", {{"server", server_}, {"text", line}});
  }
}

std::string_view session::last_errors() const noexcept {
  auto last = trimmed(errors_);
  if (last.size() > max_tail) last.remove_prefix(last.size() - max_tail);
  return last;
}

void session::exited(std::int32_t code, std::int32_t reason) noexcept {
  if (restart_without_cache(code)) return;
  exited_ = true;
  packages_.reset();
  (void)ry::guard([&] { handle_exit(code, reason); });
  if (exit_timer_active_) ctx_.core().op_cancel(ctx_.host(), exit_timer_);
  end_if_idle();
}

void session::handle_exit(std::int32_t code, std::int32_t reason) {
  if (closing_ || end_reported_) return;
  std::string text = "the program ended";
  const bool server_short = reason == RY_REASON_OVERLOAD && machine_is_short_of_resources(errors_);
  if (server_short) {
    text += " because the server is short of disk space or memory";
  } else if (reason == RY_REASON_DEADLINE) {
    text += " because it exceeded its time limit";
  } else if (code < 0) {
    text += " by signal " + std::to_string(-code);
  } else {
    text += " with exit code " + std::to_string(code);
  }
  const auto limit =
      server_short ? std::string()
                   : limit_reached(environment_.config, launch_options_.sandbox != nullptr, code, reason, errors_);
  if (!limit.empty()) text += " (the limit mcp_json." + limit + " was reached)";
  // A shell in the sandbox exits with 127 if a file is not visible there.
  if (launch_options_.sandbox && code == 127)
    text += " (the sandbox contains /usr and the directories of mcp_json.readable)";
  if (ry_test::without_protection("program_errors")) text += ": " + std::string(last_errors());
  end_.emplace(RY_UNAVAILABLE, "mcp.json", text);
  if (const auto last = last_errors(); !last.empty()) {
    end_ = end_->with_detail("{\"cause\":" + ry::json_string("standard error: " + std::string(last)) + "}");
  }
  // Messages that the program sent before its end are delivered first.
  if (!paused_ && pending_posts_ == 0) report_end(*end_);
}

void session::report_end(const ry::error& e) noexcept {
  if (end_reported_ || closing_) return;
  end_reported_ = true;
  unwritten_.clear();
  sink_.closed(e);
}

void session::close() noexcept {
  closing_ = true;
  unwritten_.clear();
  if (exited_) return end_if_idle();
  if (paused_) {
    paused_ = false;
    child_->resume();
  }
  child_->close_stdin();
  start_exit_timer();
}

void session::start_exit_timer() noexcept {
  const auto st =
      ctx_.core().sleep_ms(ctx_.host(), exec_, exit_timeout_ms, {&session::on_exit_timeout, this}, &exit_timer_);
  exit_timer_active_ = st == RY_OK;
  if (!exit_timer_active_) child_->kill();
}

void session::on_exit_timeout(void* p, ry_status st, const ry_error_view*) noexcept {
  auto* s = static_cast<session*>(p);
  s->exit_timer_active_ = false;
  if (!s->exited_) {
    // If the host is stopping, kill immediately.
    const bool terminating = st == RY_OK && s->terminate_attempts_++ == 0 && s->child_->terminate();
    if (terminating) return s->start_exit_timer();
    s->child_->kill();
  }
  s->end_if_idle();
}

void session::end_if_idle() noexcept {
  if (closing_ && exited_ && !exit_timer_active_ && pending_writes_ == 0 && pending_posts_ == 0) delete this;
}

}  // namespace mcp_json
