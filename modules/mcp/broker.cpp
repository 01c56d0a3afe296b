#include "broker.hpp"

#include <algorithm>
#include <utility>

#include "deadline.hpp"
#include "progress.hpp"
#include "result.hpp"
#include "schema.hpp"

namespace mcp {
namespace {

// Old ones, ones with more scope, and those that another caller found meanwhile.
constexpr int most_credentials = 3;
// For a place among the local programs: three seconds in all.
constexpr int most_waits = 20;
constexpr std::uint64_t wait_ms = 150;

std::string joined(const std::vector<std::string>& names) {
  std::string out;
  for (const auto& n : names) {
    if (out.size() > 500) return out + ", ...";
    out += (out.empty() ? "" : ", ") + n;
  }
  return out;
}

// Servers are met that answer the call of a tool that they do not have with a result.
bool says_unknown_tool(const json::value& result) {
  const auto* o = result.if_object();
  const auto* failed = o != nullptr ? o->if_contains("isError") : nullptr;
  const auto* content = o != nullptr ? array_of(*o, "content") : nullptr;
  if (failed == nullptr || !failed->is_bool() || !failed->get_bool() || content == nullptr) return false;
  for (const auto& each : *content) {
    const auto* block = each.if_object();
    if (block == nullptr) continue;
    auto text = text_of(*block, "text").substr(0, 300);
    for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    const bool about_tool = text.find("tool") != std::string::npos;
    for (const char* sign : {"unknown tool", "-32602"}) {
      if (text.find(sign) != std::string::npos) return true;
    }
    for (const char* sign : {"not found", "no such", "does not exist"}) {
      if (about_tool && text.find(sign) != std::string::npos) return true;
    }
  }
  return false;
}

// Where the structured content of a result differs from what its tool promised; empty: nowhere.
std::string structured_mismatch(const json::value& result, const json::value& schema) {
  const auto* o = result.if_object();
  const auto* structured = o != nullptr ? o->if_contains("structuredContent") : nullptr;
  const auto* failed = o != nullptr ? o->if_contains("isError") : nullptr;
  const bool is_error = failed != nullptr && failed->is_bool() && failed->get_bool();
  if (structured == nullptr || is_error) return {};
  return schema_mismatch(schema, *structured);
}

ry::task<json::value> perform(client& c, operation what, std::string tool, json::object arguments,
                              std::vector<mirrored_argument> mirrored, progress_fn on_progress) {
  if (what == operation::call_tool) {
    co_return co_await c.call_tool(std::move(tool), std::move(arguments), std::move(mirrored), std::move(on_progress));
  }
  if (what == operation::read_resource) co_return co_await c.read_resource(text_of(arguments, "uri"));
  resource_query query;
  query.filter = text_of(arguments, "filter");
  const auto* offset = arguments.if_contains("offset");
  if (offset != nullptr && offset->is_int64()) query.offset = static_cast<std::size_t>(std::max<std::int64_t>(offset->get_int64(), 0));
  co_return co_await c.list_resources(std::move(query));
}

ry::error no_turn(const server& s, std::uint64_t ms) {
  return trouble_with(s, RY_DEADLINE_EXCEEDED, "mcp.timeout",
                      "its turn did not come within " + std::to_string(ms / 1000) +
                          " seconds: too much is under way at the same time for this account");
}

}  // namespace

ry::task<tool_list> broker::fetch(server_ptr s) {
  ry_exec* exec = co_await ry::this_exec();
  attempts made;
  // A server whose revision is known is not asked who it is, so this is worth nothing without what it said then. Legacy
  // servers say it in every session.
  const auto now = parts_.ctx.now_unix_us();
  if (parts_.eras.look_up(s->key, now) == era::modern && !memory_.look_up(s->key, now).tools) parts_.eras.forget(s->key);
  if (s->expired) s = co_await maker_.authorize(s, ry::error(RY_UNAUTHENTICATED));
  for (;;) {
    auto c = client_of(s, exec);
    ry::error why(RY_OK);
    try {
      auto list = co_await c->list_tools();
      done_with(std::move(c));
      co_return list;
    } catch (const ry::error& e) {
      why = e;
    }
    const bool unsent = c->unsent();
    c.reset();
    s = co_await next_try(s, why, unsent, made);
  }
}

std::unique_ptr<client> broker::client_of(const server_ptr& s, ry_exec* exec) {
  auto kept = s->reuse ? kept_.take(*s, exec) : nullptr;
  if (!kept && !s->session.empty()) note_beginning(waiting_key(*s));
  return kept ? std::move(kept) : std::make_unique<client>(parts_, s, exec);
}

void broker::done_with(std::unique_ptr<client> c) noexcept {
  if (c->to().reuse) kept_.give(std::move(c));
}

ry::task<server_ptr> broker::next_try(server_ptr s, ry::error why, bool unsent, attempts& made) {
  // A connection that waited may have ended without a word.
  if (unsent && s->reuse && made.unsent++ == 0) {
    parts_.count.unsent.add();
    co_return s;
  }
  // So many at once are not allowed. Those that only wait for work make room, and those that are about to end are gone soon.
  if (why.is("mcp.connect_failed") && why.status() == RY_RESOURCE_EXHAUSTED && made.rooms++ < most_waits) {
    kept_.let_go(s->account_id);
    (co_await parts_.ctx.sleep(wait_ms)).value();
    co_return s;
  }
  if (why.is("mcp.era_changed") && made.eras++ == 0) {
    parts_.count.revision.add();
    co_return s;
  }
  if (why.is("mcp.unauthorized") && made.credentials++ < most_credentials) {
    parts_.count.credentials.add();
    co_return co_await maker_.authorize(s, why);
  }
  throw why;
}

tool_list_ptr broker::keep(const server& s, tool_list got, std::uint64_t aged) {
  // A server whose revision is known is not asked again who it is.
  if (const auto before = memory_.look_up(s.key, parts_.ctx.now_unix_us()).tools; before && !got.introduced) {
    got.instructions = before->instructions;
    got.has_resources = before->has_resources;
    if (got.server_name.empty()) got.server_name = before->server_name;
  }
  got.bytes += got.instructions.size() + got.server_name.size();
  const auto list = std::make_shared<const tool_list>(std::move(got));
  constexpr std::int64_t day_ms = 24LL * 3600 * 1000;
  const auto life =
      std::min(settings_.cache_us, std::min(list->ttl_ms.value_or(day_ms), day_ms) * 1000);
  for (const auto& why : list->left_out) {
    parts_.ctx.warn("a tool of an MCP server was left out", {{"server", s.name}, {"tool", why}});
  }
  const auto change = memory_.store(s.key, s.account_id, list, life, parts_.ctx.now_unix_us(), aged);
  if (change.none()) return list;
  parts_.ctx.warn("an MCP server describes its tools otherwise than before",
                  {{"server", s.name},
                   {"account", s.account_id},
                   {"changed", joined(change.changed)},
                   {"added", joined(change.added)},
                   {"removed", joined(change.removed)}});
  return list;
}

ry::task<tool_list_ptr> broker::discover(server_ptr s, freshness wanted) {
  const auto late = trouble_with(*s, RY_DEADLINE_EXCEEDED, "mcp.timeout",
                                 "the discovery took longer than " +
                                     std::to_string(settings_.discovery_ms / 1000) + " seconds");
  const auto begun = parts_.ctx.mono_us();
  ry::error why(RY_OK);
  tool_list_ptr list;
  bool waits = false;
  try {
    list = co_await within(parts_.ctx, settings_.discovery_ms, late, ask(s, wanted, waits));
  } catch (const ry::error& e) {
    why = waits && e.is("mcp.timeout") ? no_turn(*s, settings_.discovery_ms) : e;
  }
  note(figures::operation::list, *s, why, begun);
  if (why.status() != RY_OK) throw why;
  co_return list;
}

void broker::note(figures::operation what, const server& s, const ry::error& why, std::int64_t begun_us) const {
  const std::string by = parts_.transports.find(s.driver) ? s.driver : "none";
  parts_.count.ended(what, by, why, parts_.ctx.mono_us() - begun_us);
}

ry::task<tool_list_ptr> broker::ask(server_ptr s, freshness wanted, bool& waits) {
  s = co_await maker_.resolve(s);
  if (wanted == freshness::remembered) {
    auto known = memory_.look_up(s->key, parts_.ctx.now_unix_us());
    if (known.fresh) co_return known.tools;
  }
  waits = true;
  const auto place = co_await places_.take(s->account_id);
  waits = false;
  const auto aged = memory_.look_up(s->key, parts_.ctx.now_unix_us()).aged;
  bool called_off = false;
  std::exception_ptr why;
  try {
    co_return keep(*s, co_await fetch(s), aged);
  } catch (const ry::error& e) {
    called_off = e.status() == RY_CANCELLED;
    why = std::current_exception();
  }
  // Called off by the limit on time it failed, too; by its caller it did not.
  const auto chain = co_await ry::this_cancel();
  if (!called_off || chain.why() == RY_WHY_DEADLINE) memory_.failed(s->key, s->account_id, parts_.ctx.now_unix_us());
  std::rethrow_exception(why);
}

ry::task<json::value> broker::invoke(server_ptr s, std::string tool, json::object arguments, progress_fn on_progress,
                                     operation what) {
  ry_exec* exec = co_await ry::this_exec();
  attempts made;
  ry::error said(RY_OK);
  if (s->expired) s = co_await maker_.authorize(s, ry::error(RY_UNAUTHENTICATED));
  for (int lists = 0;;) {
    std::vector<mirrored_argument> mirrored;
    const auto known = memory_.look_up(s->key, parts_.ctx.now_unix_us());
    const bool calls = what == operation::call_tool;
    if (const auto* t = known.tools && calls ? known.tools->find(tool) : nullptr) mirrored = t->mirrored;
    ry::error why(RY_OK);
    auto c = client_of(s, exec);
    if (said.status() != RY_OK) c->doubt(said);
    try {
      auto result = co_await perform(*c, what, tool, arguments, std::move(mirrored), on_progress);
      done_with(std::move(c));
      if (what == operation::call_tool && says_unknown_tool(result)) memory_.age(s->key, s->account_id);
      co_return result;
    } catch (const ry::error& e) {
      why = e;
    }
    const bool unsent = c->unsent();
    if (why.is("mcp.era_changed")) said = c->said();
    // A session outlives a call that failed, or that its caller or the limit on time gave up.
    const bool outlives = !s->session.empty() && why.status() == RY_CANCELLED && c->usable();
    if (why.is("mcp.rpc") || outlives) done_with(std::move(c));
    c.reset();
    const auto detail = why.detail_json();
    const auto code = why.is("mcp.rpc") && !detail.empty() ? code_of(parse(detail)) : 0;
    const bool about_tool = what == operation::call_tool && (code == invalid_params || code == method_not_found);
    if (about_tool || code == header_mismatch) {
      memory_.age(s->key, s->account_id);
    }
    // In all of these the server has done nothing yet.
    if (code == header_mismatch && lists++ == 0) {
      const auto aged = memory_.look_up(s->key, parts_.ctx.now_unix_us()).aged;
      keep(*s, co_await fetch(s), aged);
    } else {
      s = co_await next_try(s, why, unsent, made);
    }
  }
}

ry::task<std::string> broker::call(server_ptr s, std::string tool, json::object arguments, told_fn told, operation what) {
  if (s->session.empty()) {
    co_return co_await timed_call(std::move(s), std::move(tool), std::move(arguments), std::move(told), what);
  }
  co_return co_await call_in_session(std::move(s), std::move(tool), std::move(arguments), std::move(told), what);
}

ry::task<std::string> broker::call_in_session(server_ptr s, std::string tool, json::object arguments, told_fn told,
                                              operation what) {
  s = co_await maker_.resolve(s);
  const auto key = waiting_key(*s);
  ry_exec* const here = co_await ry::this_exec();
  const auto turn = co_await turns_.take(key);
  ry_exec* const home = kept_.home_of(key);
  const bool moves = home != nullptr && home != here;
  if (moves) {
    // The caller is told on its own executor, in order and before the result.
    told = [this, here, to = std::make_shared<const told_fn>(std::move(told))](std::string_view line) {
      parts_.ctx.post(here, [to, text = std::string(line)] {
        if (*to) (*to)(text);
      });
    };
    co_await parts_.ctx.switch_to(home);
  }
  std::string result;
  ry::error why(RY_OK);
  try {
    result = co_await timed_call(s, std::move(tool), std::move(arguments), std::move(told), what);
  } catch (...) {
    why = ry::current_error();
  }
  if (moves) co_await parts_.ctx.switch_to(here);
  if (why.status() != RY_OK) throw why;
  if (note_use(key)) result = with_note(result, "[the session with this server was begun anew: what it held before is lost]");
  co_return result;
}

void broker::note_beginning(const std::string& key) {
  std::lock_guard lock(mutex_);
  if (const auto at = sessions_.find(key); at != sessions_.end()) at->second = true;
}

bool broker::note_use(const std::string& key) {
  constexpr std::size_t most_sessions = 100'000;
  std::lock_guard lock(mutex_);
  if (sessions_.size() >= most_sessions) sessions_.clear();
  return std::exchange(sessions_[key], false);
}

ry::task<std::string> broker::timed_call(server_ptr s, std::string tool, json::object arguments, told_fn told,
                                         operation what) {
  const auto most_ms = settings_.most_call_ms;
  const auto patience_ms = std::min(s->call_ms != 0 ? s->call_ms : settings_.call_ms, most_ms);
  const auto begun = parts_.ctx.mono_us();
  auto clock = std::make_shared<idle_clock>();
  clock->patience_us = static_cast<std::int64_t>(patience_ms) * 1000;
  clock->most_us = static_cast<std::int64_t>(most_ms) * 1000;
  clock->begun_us = clock->last_us = begun;
  progress_fn on_progress = [this, clock, told = std::move(told),
                             last = progress_mark()](const json::object& params) mutable {
    if (!last.grows(params)) return;
    clock->last_us = parts_.ctx.mono_us();
    if (told) told(progress_line(params));
  };
  const auto late = trouble_with(*s, RY_DEADLINE_EXCEEDED, "mcp.timeout", "the call took too long");
  const auto name = tool;
  ry::error why(RY_OK);
  std::string text;
  bool waits = false;
  try {
    text = co_await within(parts_.ctx, patience_ms, late,
                           result_of(s, std::move(tool), std::move(arguments), std::move(on_progress), what, waits), clock);
  } catch (const ry::error& e) {
    why = e;
  }
  // Of the server itself, or of its transport, a time-out has its own sentence.
  const bool over = why.is("mcp.timeout") && why.message() == late.message();
  if (over && waits) {
    why = no_turn(*s, patience_ms);
  } else if (over) {
    const bool spoke = clock->last_us != begun;
    const bool at_most = clock->last_us + clock->patience_us >= begun + clock->most_us;
    why = trouble_with(*s, RY_DEADLINE_EXCEEDED, "mcp.timeout",
                       "the call of " + name +
                           (spoke && !at_most ? " reported no progress for " + std::to_string(patience_ms / 1000)
                                              : " took longer than " + std::to_string((spoke ? most_ms : patience_ms) / 1000)) +
                           " seconds");
  }
  note(figures::operation::call, *s, why, begun);
  if (why.status() != RY_OK) throw why;
  co_return text;
}

ry::task<std::string> broker::result_of(server_ptr s, std::string tool, json::object arguments,
                                       progress_fn on_progress, operation what, bool& waits) {
  if (s->session.empty()) s = co_await maker_.resolve(s);
  waits = true;
  const auto place = co_await places_.take(s->account_id);
  waits = false;
  const auto result = co_await invoke(s, tool, std::move(arguments), std::move(on_progress), what);
  const auto known = memory_.look_up(s->key, parts_.ctx.now_unix_us());
  const auto* described = known.tools && what == operation::call_tool ? known.tools->find(tool) : nullptr;
  std::string mismatch;
  if (described != nullptr && !described->output_schema.is_null()) {
    mismatch = structured_mismatch(result, described->output_schema);
  }
  if (!mismatch.empty()) {
    parts_.ctx.warn("a structured result does not match the output schema of its tool",
                    {{"server", s->name}, {"tool", tool}, {"mismatch", mismatch}});
  }
  co_return result_json(result, settings_.max_result_bytes, mismatch, settings_.max_files_bytes);
}

}  // namespace mcp
