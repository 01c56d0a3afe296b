#include "session.hpp"

#include <algorithm>

#include "without_protection.hpp"

namespace mcp_json {
namespace {

constexpr std::size_t max_unwritten = 64;
constexpr std::size_t kept_errors = 4096;
constexpr std::size_t max_logged = 64 * 1024;
constexpr std::size_t max_tail = 1000;
constexpr std::uint64_t exit_timeout_ms = 1500;  // between closing the input, TERM and KILL

struct write_note {
  session* of;
  std::uint64_t token;
};

std::string_view trimmed(std::string_view s) {
  while (!s.empty() && static_cast<unsigned char>(s.front()) <= ' ') s.remove_prefix(1);
  while (!s.empty() && static_cast<unsigned char>(s.back()) <= ' ') s.remove_suffix(1);
  return s;
}

}  // namespace

census::entry census::enter(const settings& s, const std::string& account) {
  std::lock_guard lock(mutex_);
  auto& mine = of_[account];
  if (all_ >= s.max_children || mine >= s.max_per_account) {
    const auto why = mine >= s.max_per_account ? entry::account_full : entry::full;
    if (mine == 0) of_.erase(account);
    return why;
  }
  ++all_;
  ++mine;
  return entry::taken;
}

void census::leave(const std::string& account) noexcept {
  std::lock_guard lock(mutex_);
  --all_;
  const auto at = of_.find(account);
  if (at != of_.end() && --at->second == 0) of_.erase(at);
}

session::session(const shared& with, const ry::mcp::target& t, const command& c, sandboxes::entry sandbox,
                 ry_exec* exec, ry::mcp::sink to)
    : with_(with),
      ctx_(with.ctx),
      exec_(exec),
      sink_(to),
      server_(t.server),
      account_(t.account_id),
      max_message_(t.max_message_bytes),
      how_{c, std::move(sandbox), account_, {}} {
  const auto entered = with_.counted.enter(with_.config, account_);
  if (entered == census::entry::account_full) {
    throw ry::exhausted("mcp.too_many_children",
                        "too many local MCP servers of this account are running (mcp_json.max_children_per_account)");
  }
  if (entered == census::entry::full) {
    throw ry::error(RY_ABORTED, "mcp.too_many_children",
                    "too many local MCP servers are running (mcp_json.max_children)");
  }
  try {
    start();
  } catch (...) {
    with_.counted.leave(account_);
    throw;
  }
}

session::~session() {
  with_.counted.leave(account_);
}

void session::start() {
  packages_ = with_.packages.take(account_, how_.what);
  how_.cache = packages_ ? packages_->directory() : std::string();
  child_ = start_program(ctx_, with_.config, with_.own_homes, how_, exec_, *this);
}

bool session::start_again(std::int32_t code) noexcept {
  const bool damaged = packages_ && packages_->filled() && !answered_ && code != 0 && !closing_ && !end_reported_;
  if (!damaged) return false;
  // A server of an older revision may exit on server/discover. The next message shows whether the cache is at fault.
  if (probed_only_) return false;
  packages_->failed();
  bool again = false;
  (void)ry::guard([&] {
    ctx_.info("a local MCP server did not start from its package cache and is started without it",
              {{"server", server_}});
    packages_.reset();
    child_.reset();
    errors_.clear();
    start();
    again = true;
    (void)child_->write(first_sent_, ry_done{});
  });
  return again;
}

ry_status session::send(ry::mcp::message m) {
  if (end_reported_ || exited_ || closing_) return RY_CANCELLED;
  if (unwritten_.size() >= max_unwritten) return RY_RESOURCE_EXHAUSTED;
  m.json += '\n';
  auto note = std::make_unique<write_note>(write_note{this, m.token});
  unwritten_.push_back(m.token);
  const auto st = child_->write(m.json, {&session::on_written, note.get()});
  if (st != RY_OK) {
    unwritten_.pop_back();
    // The program has closed its input; its exit status is the better error.
    return st == RY_CANCELLED ? RY_CANCELLED : st;
  }
  ++writes_;
  note.release();
  if (!answered_ && packages_ && packages_->filled()) {
    probed_only_ = probed_only_ && m.json.find("\"server/discover\"") != std::string::npos;
    first_sent_ += m.json;
  }
  return RY_OK;
}

void session::on_written(void* p, ry_status st, const ry_error_view*) noexcept {
  const std::unique_ptr<write_note> note(static_cast<write_note*>(p));
  auto* s = note->of;
  --s->writes_;
  const auto at = std::find(s->unwritten_.begin(), s->unwritten_.end(), note->token);
  if (at != s->unwritten_.end()) {
    s->unwritten_.erase(at);
    if (st == RY_OK && !s->closing_ && !s->end_reported_) s->sink_.sent(note->token);
  }
  s->end_if_idle();
}

void session::finish(std::uint64_t token, std::int32_t why) noexcept {
  // The last output of a program that did not answer may show what it is waiting for.
  if (why != 0 && !closing_ && !end_reported_) {
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
  ++posts_;
  const auto st = ctx_.core().exec_post(ctx_.host(), exec_, &session::on_resumed, this);
  if (st != RY_OK) --posts_;
}

void session::on_resumed(void* p) noexcept {
  auto* s = static_cast<session*>(p);
  --s->posts_;
  (void)ry::guard([&] {
    std::string held;
    held.swap(s->held_);
    s->read(held);
    if (!s->paused_ && s->end_) s->report_end(*s->end_);
  });
  if (!s->paused_) s->child_->resume();
  s->end_if_idle();
}

bool session::output(std::int32_t fd, std::string_view bytes) noexcept {
  bool more = true;
  (void)ry::guard([&] {
    if (fd == 1) {
      more = read(bytes);
    } else {
      errors(bytes);
    }
  });
  return more;
}

// Returns false if reading pauses until resume().
bool session::read(std::string_view bytes) {
  while (!bytes.empty() && !closing_ && !end_reported_) {
    if (paused_ || !held_.empty()) {
      held_.append(bytes);
      break;
    }
    const auto end = bytes.find('\n');
    const bool whole_line = end != std::string_view::npos && line_.empty();
    if (!whole_line) line_.append(bytes.substr(0, end));
    if ((whole_line ? end : line_.size()) > max_message_) {
      report_end(ry::error(RY_RESOURCE_EXHAUSTED, "mcp.too_large",
                           "a line is longer than " + std::to_string(max_message_) + " bytes"));
      child_->kill();
      break;
    }
    if (end == std::string_view::npos) break;
    std::string joined;
    joined.swap(line_);
    const auto text = trimmed(whole_line ? bytes.substr(0, end) : std::string_view(joined));
    bytes.remove_prefix(end + 1);
    // Some programs print a greeting on standard output.
    if (text.empty() || (text.front() != '{' && text.front() != '[')) continue;
    if (!std::exchange(answered_, true)) {
      if (packages_) packages_->worked();
      first_sent_ = std::string();
    }
    const auto st = sink_.message(0, text);
    paused_ = st == RY_RESOURCE_EXHAUSTED;
    if (st != RY_OK && !paused_) {
      report_end(ry::error(st, "mcp.json", "a message could not be taken"));
    }
  }
  return !paused_ || closing_;
}

void session::errors(std::string_view bytes) {
  errors_.append(bytes);
  if (errors_.size() > 2 * kept_errors) errors_.erase(0, errors_.size() - kept_errors);
  // Only whole lines are masked, and a closed session no longer masks its secrets.
  if (closing_ || logged_ >= max_logged) return;
  unlogged_.append(bytes.substr(0, max_logged - logged_));
  logged_ = std::min(max_logged, logged_ + bytes.size());
  for (std::size_t end; (end = unlogged_.find('\n')) != std::string::npos; unlogged_.erase(0, end + 1)) {
    const auto line = trimmed(std::string_view(unlogged_).substr(0, end));
    if (!line.empty()) ctx_.info("a local MCP server says", {{"server", server_}, {"text", line}});
  }
}

std::string_view session::last_errors() const noexcept {
  auto last = trimmed(errors_);
  if (last.size() > max_tail) last.remove_prefix(last.size() - max_tail);
  return last;
}

void session::ended(std::int32_t code, std::int32_t why) noexcept {
  if (start_again(code)) return;
  exited_ = true;
  packages_.reset();
  (void)ry::guard([&] { gone(code, why); });
  if (waiting_) ctx_.core().op_cancel(ctx_.host(), exit_timer_);
  end_if_idle();
}

void session::gone(std::int32_t code, std::int32_t why) {
  if (closing_ || end_reported_) return;
  std::string text = "the program ended";
  const bool by_server = why == RY_REASON_OVERLOAD && server_is_short(errors_);
  if (by_server) {
    text += " because the server is short of disk space or memory";
  } else if (why == RY_REASON_DEADLINE) {
    text += " because it exceeded its time limit";
  } else if (code < 0) {
    text += " by signal " + std::to_string(-code);
  } else {
    text += " with exit code " + std::to_string(code);
  }
  const auto limit =
      by_server ? std::string() : limit_reached(with_.config, how_.sandbox != nullptr, code, why, errors_);
  if (!limit.empty()) text += " (the limit mcp_json." + limit + " was reached)";
  // A shell in the sandbox exits with 127 if a file is not visible there.
  if (how_.sandbox && code == 127) text += " (the sandbox shows /usr and what mcp_json.readable names)";
  if (ry_test::without_protection("program_errors")) text += ": " + std::string(last_errors());
  end_.emplace(RY_UNAVAILABLE, "mcp.json", text);
  if (const auto last = last_errors(); !last.empty()) {
    end_ = end_->with_detail("{\"cause\":" + ry::json_string("standard error: " + std::string(last)) + "}");
  }
  // Messages that the program sent before its end are delivered first.
  if (!paused_ && posts_ == 0) report_end(*end_);
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
  wait_for_end();
}

void session::wait_for_end() noexcept {
  const auto st =
      ctx_.core().sleep_ms(ctx_.host(), exec_, exit_timeout_ms, {&session::on_exit_timeout, this}, &exit_timer_);
  waiting_ = st == RY_OK;
  if (!waiting_) child_->kill();
}

void session::on_exit_timeout(void* p, ry_status st, const ry_error_view*) noexcept {
  auto* s = static_cast<session*>(p);
  s->waiting_ = false;
  if (!s->exited_) {
    // If the host is stopping, kill at once.
    const bool asked = st == RY_OK && s->asked_++ == 0 && s->child_->ask_to_end();
    if (asked) return s->wait_for_end();
    s->child_->kill();
  }
  s->end_if_idle();
}

void session::end_if_idle() noexcept {
  if (closing_ && exited_ && !waiting_ && writes_ == 0 && posts_ == 0) delete this;
}

}  // namespace mcp_json
