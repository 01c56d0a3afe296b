#include "routes.hpp"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <ry/cpp/page.hpp>
#include <ry/cpp/text.hpp>

#include "ids.hpp"
#include "json/exact.hpp"
#include "json/members.hpp"
#include "thread_view.hpp"

namespace agui {
namespace {

namespace json = boost::json;

constexpr std::uint64_t keepalive_ms = 10'000;
constexpr std::string_view keepalive_text = ": keep-alive\n\n";
constexpr std::string_view empty_snapshot = R"({"type":"MESSAGES_SNAPSHOT","messages":[]})";
constexpr std::size_t max_write_bytes = 32 << 10;  // of several events
constexpr std::int64_t default_page = 50, max_page = 100;
// Clients limit an SSE event to 10 MiB.
constexpr std::size_t max_snapshot_bytes = 8 << 20;
constexpr std::size_t max_page_depth = 64;
constexpr int max_thread_pages = 1000;
constexpr std::size_t max_active_runs = 20, max_ended_runs = 5;

json::object parse_object(std::string_view text) {
  boost::system::error_code bad;
  json::value v = module_json::parse_exactly(text, max_page_depth, bad);
  if (bad || !v.is_object()) throw ry::internal("agui.runs", "runs/1 returned invalid JSON");
  return std::move(v.get_object());
}

// nullopt: the account's default agent.
std::optional<std::string> agent_in_path(const ry::request& r) {
  const std::string_view text = r.param("agent_id");
  if (text == "default") return std::nullopt;
  return ry::require_uuid(text).to_string();
}

void require_event_stream(const ry::request& r) {
  const std::string_view accept = r.header("Accept");
  if (accept.empty()) return;
  std::string_view rest = accept;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(','), rest.size());
    std::string_view range = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    range = range.substr(0, range.find(';'));
    while (!range.empty() && (range.front() == ' ' || range.front() == '\t')) range.remove_prefix(1);
    while (!range.empty() && (range.back() == ' ' || range.back() == '\t')) range.remove_suffix(1);
    for (const std::string_view offered : {"text/event-stream", "text/*", "*/*"})
      if (ry::iequals(range, offered)) return;
  }
  throw ry::http_error(406, RY_INVALID_ARGUMENT, "agui.not_acceptable",
                       "Accept must allow text/event-stream, the only format of this route");
}

std::optional<cursor> resume_position(const ry::request& r) {
  std::string text(r.header("Last-Event-ID"));
  if (text.empty()) text = r.query("lastEventId").value_or("");
  if (text.empty()) return std::nullopt;
  std::optional<cursor> out = read_cursor(text);
  if (!out) throw ry::bad_request("agui.last_event_id", "Last-Event-ID must be the id of an event of this stream");
  return out;
}

std::string idempotency_key(const ry::uuid& account, const run_input& input) {
  return "agui:" + derived_uuid(account, "run", input.thread_id + "/" + input.run_id).to_string();
}

// runs/1 names its fields; clients know the members of RunAgentInput.
ry::error in_terms_of_client(const ry::error& e) {
  if (e.http_status() == 409 && e.message().substr(0, 15) == "Idempotency-Key")
    return ry::http_error(409, e.status(), "agui.run_id_reused", "runId was already used with a different input");
  if (e.http_status() != 422 || !e.detail_json().empty()) return e;
  constexpr std::pair<std::string_view, std::string_view> names[] = {
      {RY_RUN_FIELD_CLIENT_TOOLS, "tools"}, {RY_RUN_FIELD_HISTORY, "messages"}, {RY_RUN_FIELD_INSTRUCTIONS, "context"}};
  for (const auto& [field, member] : names)
    if (e.message().substr(0, field.size()) == field)
      return ry::http_error(422, RY_INVALID_ARGUMENT, "agui.invalid_input",
                            std::string(member) + std::string(e.message().substr(field.size())));
  return e;
}

std::string notice(std::string_view code, std::string_view message) {
  return json::serialize(json::object{
      {"type", "CUSTOM"}, {"name", "runyard.notice"}, {"value", json::object{{"code", code}, {"message", message}}}});
}

const json::object* approval_at(const json::array& approvals, std::string_view id) {
  for (const json::value& a : approvals)
    if (a.is_object() && module_json::text_at(a.get_object(), "approval_id") == id) return &a.get_object();
  return nullptr;
}

bool is_pending(const json::object& approval) {
  return module_json::text_at(approval, "status") == "pending";
}

[[noreturn]] void reject_resume(const std::string& message) {
  throw ry::http_error(422, RY_INVALID_ARGUMENT, "agui.invalid_input", message);
}

// A request must respond to all open interrupts. One that repeats decisions need not: another interrupt may be open now.
void check_entries(const std::vector<resume_entry>& entries, const json::array& approvals) {
  bool any_pending = false;
  std::set<std::string_view> given;
  for (const resume_entry& e : entries) {
    const json::object* approval = approval_at(approvals, e.approval);
    if (approval == nullptr) reject_resume(e.place + ".interruptId is not an interrupt of this thread");
    any_pending = any_pending || is_pending(*approval);
    given.insert(e.approval);
  }
  for (const json::value& a : approvals)
    if (any_pending && a.is_object() && is_pending(a.get_object()) &&
        !given.contains(module_json::text_at(a.get_object(), "approval_id")))
      reject_resume("resume must contain all open interrupts of the thread; it has no entry for " +
                    module_json::text_of(a.get_object(), "approval_id"));
}

std::string error_code_of(const ry::error& e) {
  boost::system::error_code bad;
  const json::value v = module_json::parse_exactly(e.detail_json(), max_page_depth, bad);
  return !bad && v.is_object() ? module_json::text_of(v.get_object(), "error_code") : std::string();
}

json::object capabilities() {
  return json::object{
      {"transport", json::object{{"streaming", true}, {"resumable", true}}},
      {"tools", json::object{{"supported", true}, {"parallelCalls", true}, {"clientProvided", true}}},
      {"reasoning", json::object{{"supported", true}, {"streaming", true}}},
      {"state", json::object{{"snapshots", false}, {"deltas", false}, {"memory", true}}},
      {"multimodal", json::object{{"input", json::object{{"image", true}, {"pdf", true}, {"file", true}}}}},
      {"humanInTheLoop",
       json::object{{"supported", true}, {"approvals", true}, {"interrupts", true}, {"approveWithEdits", true}}}};
}

struct listed_agents {
  json::array agents;
  std::string last;
  bool more = false;
};

listed_agents read_agents(const ry_agent_view* agents, std::size_t n, std::size_t stride, std::int32_t more) {
  listed_agents out;
  const auto* at = reinterpret_cast<const char*>(agents);
  for (std::size_t i = 0; i < n; ++i, at += stride) {
    const auto* a = reinterpret_cast<const ry_agent_view*>(at);
    out.last = ry::text(a->agent_id);
    out.agents.push_back(json::object{{"id", out.last},
                                      {"name", ry::view(a->name)},
                                      {"description", ry::view(a->description)},
                                      {"isDefault", a->is_default != 0},
                                      {"path", "/agui/agents/" + out.last}});
  }
  out.more = more != 0;
  return out;
}

}  // namespace

void routes::add_to(ry::registrar& reg) {
  ry::route_options large;
  large.max_body = max_input_bytes;
  reg.route("GET", "/agui/agents", 0, this, &routes::list);
  reg.route("POST", "/agui/agents/{agent_id}", RY_ROUTE_LONG, this, &routes::run, large);
  reg.route("POST", "/agui/agents/{agent_id}/connect", RY_ROUTE_LONG, this, &routes::connect, large);
  reg.route("GET", "/agui/agents/{agent_id}/runs/{run_id}", RY_ROUTE_LONG, this, &routes::follow);
  reg.route("POST", "/agui/agents/{agent_id}/runs/{run_id}/stop", 0, this, &routes::stop);
}

ry::task<ry::uuid> routes::caller(ry::request r) {
  ry::result<ry::uuid> got = co_await ry::call<ry::uuid, const ry_account_view*>(
      [this, &r](ry_exec* exec, ry_account_fn fn, void* ctx) {
        return use_.accounts->ensure(use_.accounts.self(), r.principal(), exec, fn, ctx);
      },
      [](const ry_account_view* v) { return ry::uuid(v->account_id); });
  co_return std::move(got).value();
}

ry::task<ry::response> routes::list(ry::request r) {
  const ry::uuid account = co_await caller(r);
  const auto limit = static_cast<std::uint32_t>(ry::query_integer(r, "limit", 1, max_page).value_or(default_page));
  const std::optional<ry::uuid> before = ry::query_uuid_cursor(r, "agui_agents");
  ry::result<listed_agents> read =
      co_await ry::call<listed_agents, const ry_agent_view*, std::size_t, std::size_t, std::int32_t>(
          [this, &account, &before, limit](ry_exec* exec, ry_agent_list_fn fn, void* ctx) {
            return use_.agents->list(use_.agents.self(), &account, before ? &*before : nullptr, limit, exec, fn, ctx);
          },
          &read_agents);
  listed_agents found = std::move(read).value();
  json::object out{{"agents", std::move(found.agents)}, {"capabilities", capabilities()}};
  out["next_cursor"] = found.more ? json::value(ry::make_cursor("agui_agents", found.last)) : json::value();
  co_return ry::response::json(json::serialize(out));
}

ry::task<void> routes::run(ry::request r) {
  run_stream s = co_await open_run(r);
  co_await serve(std::move(r), std::move(s));
}

ry::task<void> routes::connect(ry::request r) {
  run_stream s = co_await open_connection(r);
  co_await serve(std::move(r), std::move(s));
}

ry::task<void> routes::follow(ry::request r) {
  run_stream s = co_await open_follower(r);
  co_await serve(std::move(r), std::move(s));
}

ry::task<ry::response> routes::stop(ry::request r) {
  (void)agent_in_path(r);
  const ry::uuid run = ry::require_uuid(r.param("run_id"));
  const ry::uuid account = co_await caller(r);
  co_return ry::response::json(co_await use_.runs.stop(account, run));
}

// Not part of run(), whose frame lasts as long as the stream.
ry::task<routes::run_stream> routes::open_run(ry::request r) {
  require_event_stream(r);
  std::optional<std::string> agent = agent_in_path(r);
  const std::optional<cursor> from = resume_position(r);
  run_stream out;
  out.account = co_await caller(r);
  run_input input = read_run_input(r.body(), input_use::run);
  out.names.thread = input.thread_id;
  out.names.run = input.run_id;
  out.names.outcomes = input.outcomes;
  out.base_messages = std::move(input.base_messages);
  out.notices = std::move(input.notices);
  out.resumes = from.has_value();
  out.from = from.value_or(cursor());
  if (!input.resume.empty()) {
    co_await continue_run(out, std::move(input));
  } else if (!input.attach_run.empty()) {
    // The client has a part of the run's output, and gets it again from the beginning.
    out.messages = event_mapper::messages::restated;
    const json::object found = co_await find_run(out.account, *ry::uuid::parse(input.attach_run));
    out.names.stored_run = input.attach_run;
    out.names.stored_thread = module_json::text_of(found, "thread_id");
  } else {
    const ry::runs::started begun = co_await start(out.account, std::move(agent), std::move(input));
    out.names.stored_run = begun.run_id;
    out.names.stored_thread = begun.thread_id;
  }
  out.thread = ry::require_uuid(out.names.stored_thread);
  co_return out;
}

// The approvals of the thread's run that has this one, newest first; empty if there is none.
ry::task<json::array> routes::find_interrupted_run(ry::uuid account, ry::uuid thread, std::string approval) {
  for (const bool active : {true, false}) {
    // The run may have continued and ended after decisions that were made elsewhere.
    const std::string status = active ? "running" : "";
    const std::size_t limit = active ? max_active_runs : max_ended_runs;
    const json::array runs = co_await runs_of(account, thread, status, limit);
    for (const json::value& run : runs) {
      if (!run.is_object()) continue;
      json::array found = co_await approvals_of(account, module_json::text_of(run.get_object(), "agent_run_id"), {});
      if (approval_at(found, approval) != nullptr) co_return found;
    }
  }
  co_return json::array();
}

ry::task<json::array> routes::approvals_of(ry::uuid account, std::string run, std::string status) {
  ry::runs::fields query = {
      {"run_id", std::move(run)}, {"status", std::move(status)}, {"limit", std::to_string(max_page)}};
  const std::string text = co_await use_.runs.approvals(account, std::move(query));
  json::object page = parse_object(text);
  json::value* list = page.if_contains("approvals");
  if (list == nullptr || !list->is_array()) co_return json::array();
  co_return std::move(list->get_array());
}

// A conflict with an earlier decision is found before any decision is made.
ry::task<void> routes::decide(ry::uuid account, const run_input& input, const json::array& approvals) {
  for (const bool pending : {false, true})
    for (const resume_entry& e : input.resume) {
      if (is_pending(*approval_at(approvals, e.approval)) != pending || (!pending && e.cancelled)) continue;
      (void)co_await use_.runs.decide(account, *ry::uuid::parse(e.approval), e.decision);
    }
}

ry::task<void> routes::continue_run(run_stream& out, run_input input) {
  const std::optional<ry::uuid> thread = co_await find_thread(out.account, input.thread_id);
  json::array approvals;
  if (thread) approvals = co_await find_interrupted_run(out.account, *thread, input.resume.front().approval);
  check_entries(input.resume, approvals);
  co_await decide(out.account, input, approvals);
  out.names.stored_run = module_json::text_of(approvals.front().as_object(), "agent_run_id");
  out.names.stored_thread = thread->to_string();
  for (const resume_entry& e : input.resume) out.resumed.insert(e.approval);
  out.tool_messages = std::move(input.tool_messages);
  if (input.answer_run != out.names.stored_run) out.base_messages.clear();
}

ry::task<bool> routes::owns_thread(ry::uuid account, ry::uuid thread) {
  try {
    const ry::runs::fields query = {{"thread_id", thread.to_string()}, {"limit", "1"}};
    (void)co_await use_.runs.list(account, query);
    co_return true;
  } catch (const ry::error& e) {
    if (e.http_status() != 404) throw;
  }
  co_return false;
}

ry::task<ry::runs::started> routes::start(ry::uuid account, std::optional<std::string> agent, run_input input) {
  const std::optional<ry::uuid> named = ry::uuid::parse(input.thread_id);
  const bool stored = named && co_await owns_thread(account, *named);
  const bool can_drop_results = input.has(RY_RUN_FIELD_TOOL_RESULTS) && input.has("prompt");
  std::optional<ry::error> refused;
  try {
    co_return co_await try_start(account, agent, input, stored, true);
  } catch (const ry::error& e) {
    // An earlier run may have stored the results and failed; the client sends them again with the next prompt.
    if (!can_drop_results || error_code_of(e) != "TOOL_RESULT_NOT_PENDING") throw in_terms_of_client(e);
  }
  co_return co_await try_start(account, agent, input, stored, false);
}

ry::task<ry::runs::started> routes::try_start(ry::uuid account, std::optional<std::string> agent,
                                              const run_input& input, bool stored_thread, bool with_results) {
  ry::runs::start_request request(account);
  if (stored_thread) {
    request.field("thread_id", ry::uuid::parse(input.thread_id)->to_string());
  } else {
    request.field("optimistic", "true")
        .field("thread_id", derived_uuid(account, "thread", input.thread_id).to_string())
        .field("project_id", derived_uuid(account, "project", input.thread_id).to_string());
  }
  if (agent) request.field("agent_id", *agent);
  for (const auto& [name, value] : input.fields)
    if (with_results || name != RY_RUN_FIELD_TOOL_RESULTS) request.field(name, value);
  for (const input_file& f : input.files) request.file(f.name, f.media_type, f.content);
  request.key(idempotency_key(account, input));
  co_return co_await use_.runs.start(std::move(request));
}

ry::task<json::object> routes::find_run(ry::uuid account, ry::uuid run) {
  const std::string text = co_await use_.runs.get(account, run);
  co_return parse_object(text);
}

ry::task<json::array> routes::runs_of(ry::uuid account, ry::uuid thread, std::string status, std::size_t limit) {
  ry::runs::fields query = {
      {"thread_id", thread.to_string()}, {"limit", std::to_string(limit)}, {"status", std::move(status)}};
  const std::string text = co_await use_.runs.list(account, std::move(query));
  json::object page = parse_object(text);
  json::value* runs = page.if_contains("agent_runs");
  if (runs == nullptr || !runs->is_array()) co_return json::array();
  co_return std::move(runs->get_array());
}

ry::task<std::optional<ry::uuid>> routes::find_thread(ry::uuid account, std::string thread_id) {
  if (const std::optional<ry::uuid> named = ry::uuid::parse(thread_id)) {
    const bool stored = co_await owns_thread(account, *named);
    if (stored) co_return named;
  }
  const ry::uuid derived = derived_uuid(account, "thread", thread_id);
  const bool exists = co_await owns_thread(account, derived);
  if (exists) co_return derived;
  co_return std::nullopt;
}

ry::task<routes::run_stream> routes::open_connection(ry::request r) {
  require_event_stream(r);
  (void)agent_in_path(r);
  run_stream out;
  out.account = co_await caller(r);
  const run_input input = read_run_input(r.body(), input_use::connect);
  out.names.thread = input.thread_id;
  out.names.run = input.run_id;
  out.names.outcomes = input.outcomes;
  out.clear_first = input.has_messages;
  const std::optional<ry::uuid> thread = co_await find_thread(out.account, input.thread_id);
  out.thread = thread.value_or(derived_uuid(out.account, "thread", input.thread_id));
  out.names.stored_thread = out.thread.to_string();
  if (!thread) co_return out;
  out.messages = event_mapper::messages::restated;
  const json::array active = co_await runs_of(out.account, out.thread, "running", 1);
  if (!active.empty()) out.names.stored_run = module_json::text_of(active.front().as_object(), "agent_run_id");
  co_return out;
}

ry::task<routes::run_stream> routes::open_follower(ry::request r) {
  require_event_stream(r);
  (void)agent_in_path(r);
  const ry::uuid run = ry::require_uuid(r.param("run_id"));
  const std::optional<cursor> from = resume_position(r);
  run_stream out;
  out.account = co_await caller(r);
  const json::object found = co_await find_run(out.account, run);
  out.names.stored_run = run.to_string();
  out.names.stored_thread = module_json::text_of(found, "thread_id");
  out.thread = ry::require_uuid(out.names.stored_thread);
  out.names.thread = ry::query_text(r, "threadId", 1, 1024).value_or(out.names.stored_thread);
  out.names.run = ry::query_text(r, "runId", 1, 1024).value_or(out.names.stored_run);
  out.resumes = from.has_value();
  out.from = from.value_or(cursor());
  co_return out;
}

ry::task<void> routes::serve(ry::request r, run_stream s) {
  if (s.from.turn.ended) {
    r.respond(ry::response::empty(204));
    co_return;
  }
  if (r.method() == "HEAD") {  // otherwise it would keep its connection until the run ends
    r.respond(ry::response::empty(200).header("Content-Type", "text/event-stream"));
    co_return;
  }
  ry::headers fields = {{"Runyard-Thread-Id", s.names.stored_thread}};
  if (!s.names.stored_run.empty()) fields.emplace_back("Runyard-Run-Id", s.names.stored_run);
  ry::sse out = r.open_sse(std::move(fields));
  out.raw().keepalive(keepalive_ms, keepalive_text);
  event_mapper mapper(s.names, s.from);
  mapper.skip_results(s.tool_messages);
  if (s.resumes) s.notices.clear();
  if (!s.resumes && !s.resumed.empty()) {
    mapper.begin_after_interrupt(s.resumed);
  } else if (!s.resumes) {
    std::vector<mapped_event> first;
    mapper.begin(s.messages, first);
    co_await send(out, s, std::move(first));
  }
  co_await pump(out, s, mapper);
  out.close();
}

// True: the stream has ended with an interrupt.
ry::task<bool> routes::interrupt_if_waiting(ry::sse& out, run_stream& s, event_mapper& mapper) {
  if (!mapper.waiting()) co_return false;
  // Decisions may have been made since the events that were read.
  const json::array approvals = co_await approvals_of(s.account, s.names.stored_run, "pending");
  std::set<std::string> pending;
  for (const json::value& a : approvals)
    if (a.is_object()) pending.insert(module_json::text_of(a.get_object(), "approval_id"));
  std::vector<mapped_event> end;
  mapper.interrupt(pending, end);
  co_await send(out, s, std::move(end));
  co_return mapper.ended();
}

ry::task<void> routes::pump(ry::sse& out, run_stream& s, event_mapper& mapper) {
  if (s.names.stored_run.empty()) {
    // No run is in progress.
    std::vector<mapped_event> end;
    mapper.on_event(1, R"({"type":"status","status":"completed"})", end);
    co_return co_await send(out, s, std::move(end));
  }
  ry::runs::follow_options options;
  options.after = s.from.sequence;
  ry::runs::reader events = use_.runs.follow(s.account, s.names.stored_run, options);
  while (const ry::runs::batch* b = co_await events.next()) {
    std::vector<mapped_event> mapped;
    for (const ry::runs::event& e : b->events) mapper.on_event(e.sequence, e.json, mapped);
    co_await send(out, s, std::move(mapped));
    const bool interrupted = co_await interrupt_if_waiting(out, s, mapper);
    if (interrupted) co_return;
  }
}

ry::task<void> routes::send(ry::sse& out, run_stream& s, std::vector<mapped_event> events) {
  std::string wire;
  for (const mapped_event& e : events) {
    std::string data;
    if (e.what == mapped_event::kind::event) {
      data = json::serialize(e.event);
    } else {
      data = co_await snapshot_event(s, e.below_step);
      if (s.clear_first && s.base_messages.empty()) wire += ry::sse::format(empty_snapshot);
      s.clear_first = false;
    }
    if (wire.size() + data.size() > max_write_bytes) {
      co_await write(out, wire);
      wire.clear();
    }
    wire += ry::sse::format(data, write_cursor(e.after));
    // They follow RUN_STARTED.
    for (const std::string& text : s.notices) wire += ry::sse::format(notice("content_ignored", text));
    s.notices.clear();
  }
  co_await write(out, wire);
}

// Waits for a slow client instead of exceeding its queue, which would end the stream. `wire`: complete events, because
// the keep-alive may follow.
ry::task<void> routes::write(ry::sse& out, std::string_view wire) {
  if (wire.empty()) co_return;
  ry::result<void> ready = co_await out.ready();
  ready.value();
  if (out.raw().write(wire) != RY_OK) throw ry::error(RY_CANCELLED, "agui.client_gone", "The client has disconnected");
}

ry::task<std::string> routes::snapshot_event(const run_stream& s, std::int64_t below_step) {
  thread_part part;
  part.run = s.names.stored_run;
  part.below_step = below_step;
  part.only_added = !s.base_messages.empty();
  json::array messages;
  if (part.only_added) messages = json::parse(s.base_messages).as_array();
  if (!part.only_added || below_step > 1) {
    std::string only_run;
    if (part.only_added) only_run = part.run;
    const std::vector<json::object> stored = co_await stored_messages(s.account, s.thread, std::move(only_run));
    append_thread(stored, part, messages);
  }
  std::string text = json::serialize(json::object{{"type", "MESSAGES_SNAPSHOT"}, {"messages", std::move(messages)}});
  if (text.size() > max_snapshot_bytes)
    co_return notice("snapshot_too_large",
                     "Parts of the conversation are out of date, and a snapshot would be too large; read the thread "
                     "with GET /threads/{id}/messages");
  co_return text;
}

// Oldest first; only the newest messages of a thread that is too large for a snapshot. `only_run`: reads at least the
// messages of this run, or of the complete thread if it is empty.
ry::task<std::vector<json::object>> routes::stored_messages(ry::uuid account, ry::uuid thread, std::string only_run) {
  std::vector<json::object> out;
  std::string cursor_text;
  std::size_t bytes = 0;
  bool complete = false, has_run = false;
  for (int page = 0; !complete && bytes <= max_snapshot_bytes && page < max_thread_pages; ++page) {
    ry::runs::fields query = {{"order", "desc"}, {"limit", std::to_string(max_page)}};
    if (!cursor_text.empty()) query.emplace_back("cursor", cursor_text);
    const std::string text = co_await use_.runs.messages(account, thread, std::move(query));
    bytes += text.size();
    json::object read = parse_object(text);
    const json::array* list = module_json::array_at(read, "messages");
    for (std::size_t i = 0; list != nullptr && i < list->size() && !complete; ++i) {
      const json::object& m = (*list)[i].as_object();
      const bool of_run = module_json::text_at(m, "agent_run_id") == only_run;
      complete = !only_run.empty() && has_run && !of_run;
      has_run = has_run || of_run;
      if (!complete) out.push_back(m);
    }
    cursor_text = module_json::text_of(read, "next_cursor");
    complete = complete || cursor_text.empty();
  }
  std::reverse(out.begin(), out.end());
  if (complete) co_return out;
  // The first answers of the oldest run may be missing, so the numbers of its messages are unknown.
  const std::string cut = out.empty() ? std::string() : module_json::text_of(out.front(), "agent_run_id");
  out.erase(out.begin(), std::find_if(out.begin(), out.end(), [&cut](const json::object& m) {
              return module_json::text_at(m, "agent_run_id") != cut;
            }));
  co_return out;
}

}  // namespace agui
