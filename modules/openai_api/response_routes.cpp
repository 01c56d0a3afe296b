#include "response_routes.hpp"

#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <charconv>
#include <map>
#include <set>
#include <utility>

#include "body.hpp"
#include "errors.hpp"
#include "event_stream.hpp"
#include "ids.hpp"
#include "json/members.hpp"

namespace openai_api {
namespace {

constexpr std::size_t max_referenced_runs = 50;

std::uint64_t read_starting_after(const ry::request& r) {
  const std::optional<std::string> text = r.query("starting_after");
  if (!text || text->empty()) return 0;
  std::uint64_t out = 0;
  const auto [end, bad] = std::from_chars(text->data(), text->data() + text->size(), out);
  if (bad != std::errc() || end != text->data() + text->size() || out > INT64_MAX)
    throw invalid("starting_after", "starting_after must be a sequence number");
  return out + 1;
}

bool read_flag(const ry::request& r, const char* name) {
  const std::string text = r.query(name).value_or("false");
  if (text != "true" && text != "false" && text != "1" && text != "0")
    throw invalid(name, std::string(name) + " must be true or false");
  return text == "true" || text == "1";
}

std::vector<std::set<std::string>> read_answered(const std::string& text) {
  std::vector<std::set<std::string>> out;
  if (text.empty()) return out;
  const json::value parts = json::parse(text);
  for (const json::value& part : parts.as_array()) {
    std::set<std::string>& ids = out.emplace_back();
    for (const json::value& id : part.as_array()) ids.emplace(id.as_string());
  }
  return out;
}

std::string answered_text(const std::vector<std::set<std::string>>& parts) {
  json::array out;
  for (const std::set<std::string>& ids : parts) out.push_back(json::array(ids.begin(), ids.end()));
  return json::serialize(out);
}

response_identity identity_of(const response_row& row) {
  response_identity out{row.run, row.thread, true, parse_object(row.base)};
  out.only_output = row.only_output;
  if (!row.answered.empty()) {
    out.id = row.id;
    out.answered = read_answered(row.answered);
  }
  return out;
}

// Sends the events from the number `after` on, and removes them.
void send_events(std::vector<json::object>& events, std::uint64_t after, event_stream& out) {
  for (const json::object& e : events)
    if (e.at("sequence_number").to_number<std::uint64_t>() >= after) out.add(e, module_json::text_at(e, "type"));
  events.clear();
}

api_error decided_otherwise(const approval_answer& a, const std::string& status) {
  api_error out(409, "invalid_request_error", "approval_decided", a.path + ".approve",
                "The approval request '" + a.request + "' was already decided differently: " + status +
                    ". To continue the run, answer with that decision.");
  out.retry = false;
  return out;
}

json::object deleted_object(const std::string& id) {
  json::object o;
  o["id"] = id;
  o["object"] = "response";
  o["deleted"] = true;
  return o;
}

}  // namespace

void response_routes::add_to(ry::registrar& reg) {
  ry::route_options large;
  large.max_body = max_body_bytes;
  reg.route("POST", "/v1/responses", RY_ROUTE_LONG, this, &response_routes::create, large);
  reg.route("GET", "/v1/responses/{id}", RY_ROUTE_LONG, this, &response_routes::retrieve);
  reg.route("POST", "/v1/responses/{id}/cancel", 0, this, &response_routes::cancel);
  reg.route("DELETE", "/v1/responses/{id}", 0, this, &response_routes::remove);
  reg.route("GET", "/v1/responses/{id}/input_items", 0, this, &response_routes::list_input);
}

ry::task<ry::response> response_routes::cancel(ry::request r) {
  return with_errors(ctx_, cancel_response(std::move(r)));
}
ry::task<ry::response> response_routes::remove(ry::request r) {
  return with_errors(ctx_, remove_response(std::move(r)));
}
ry::task<ry::response> response_routes::list_input(ry::request r) {
  return with_errors(ctx_, input_page(std::move(r)));
}

// ---- starting ----

ry::task<response_row> response_routes::row_of(ry::uuid account, ry::uuid id) {
  std::optional<response_row> row = co_await rows_.find(account, id);
  if (row) co_return *std::move(row);
  const bool deleted = co_await rows_.is_deleted(account, id);
  std::optional<json::object> started;
  if (!deleted) started = co_await access_.find_run(account, id);
  if (!started) throw unknown_response(response_id(id));
  // The run was started through another API, or its row was pruned.
  response_row out;
  out.id = out.run = id;
  out.account = account;
  out.thread = ry::uuid::parse(module_json::text_at(*started, "thread_id")).value_or(ry::uuid());
  out.base = json::serialize(base_of_run(module_json::text_at(*started, "model_name")));
  out.only_output = module_json::member_at(*started, "output") != nullptr;
  co_return out;
}

ry::task<item_map> response_routes::find_items(ry::uuid account, std::vector<std::string> ids) {
  item_map out;
  std::vector<ry::uuid> runs;
  for (const std::string& id : ids)
    if (const std::optional<ry::uuid> run = run_of_item(id)) runs.push_back(*run);
  std::sort(runs.begin(), runs.end());
  runs.erase(std::unique(runs.begin(), runs.end()), runs.end());
  if (runs.size() > max_referenced_runs) throw invalid("input", "input must not refer to more than 50 responses");
  for (const ry::uuid& run : runs) {
    std::optional<response_row> row = co_await rows_.find_newest(account, run);
    if (!row) continue;
    started_response s;
    s.account = account;
    s.run = {row->run, row->thread};
    s.identity = {row->run, row->thread, true, {}};
    s.identity.only_output = row->only_output;
    s.identity.ends_at_waits = false;
    const json::object response = co_await read_now(std::move(s));
    for (const json::value& item : response.at("output").as_array())
      out.emplace(module_json::text_of(item.get_object(), "id"), item.get_object());
  }
  co_return out;
}

ry::task<conversation> response_routes::earlier_messages(ry::uuid account, const response_row& row) {
  const ry::uuid run = row.run, thread = row.thread;
  const std::optional<json::object> found = co_await access_.find_run(account, run);
  if (found && module_json::text_at(*found, "status") == "running")
    throw api_error(409, "invalid_request_error", "conversation_locked", "previous_response_id",
                    "The previous response is still in progress");
  conversation out;
  std::vector<json::object> messages = co_await access_.messages(account, thread);
  for (const std::string& id : runs_with_several_answers(messages)) {
    const std::optional<ry::uuid> several = ry::uuid::parse(id);
    if (!several) continue;
    const std::optional<json::object> of = co_await access_.find_run(account, *several);
    const json::value* output = of ? module_json::member_at(*of, "output") : nullptr;
    if (output != nullptr) keep_output(messages, id, json::serialize(*output));
  }
  // Ids of runs increase in time.
  const std::string last = run.to_string();
  for (const json::object& m : messages)
    if (module_json::text_at(m, "agent_run_id") <= last) out.add_stored(m);
  co_return out;
}

ry::task<start_input> response_routes::continue_from(ry::uuid account, response_request& request, start_order& order) {
  if (request.thread) {
    order.fields.emplace_back("thread_id", request.thread->to_string());
    co_return std::move(request.input).for_thread("input");
  }
  if (!request.previous) co_return std::move(request.input).for_new_thread("input");
  const std::optional<response_row> row = co_await rows_.find(account, *request.previous);
  if (!row)
    throw invalid("previous_response_id",
                  "Previous response with id '" + response_id(*request.previous) + "' not found.",
                  "previous_response_not_found");
  conversation systems;
  systems.add_system(row->system);
  bool same_thread = request.store && !request.input.has_answers();
  if (same_thread) same_thread = co_await access_.is_newest(account, row->thread, row->run);
  if (same_thread) {
    order.fields.emplace_back("thread_id", row->thread.to_string());
    systems.append(std::move(request.input));
    request.input = std::move(systems);
    conversation rest = request.input;
    co_return std::move(rest).for_thread("input");
  }
  conversation all = co_await earlier_messages(account, *row);
  all.append(std::move(systems));
  all.append(std::move(request.input));
  request.input = all;
  co_return std::move(all).for_new_thread("input");
}

ry::task<response_routes::started_response> response_routes::start(ry::request r) {
  const ry::uuid account = co_await access_.account_of(r);
  const json::object body = parse_body(r.body());
  const item_map items = co_await find_items(account, referenced_items(body));
  response_request request = read_response_request(body, items);
  if (!request.answers.empty()) co_return co_await continue_run(account, std::move(request));
  request.base["model"] = co_await access_.resolve_model(account, request.options.model);
  start_order order;
  order.account = account;
  order.key = std::string(r.header("Idempotency-Key"));
  order.temporary = !request.store;
  start_input input = co_await continue_from(account, request, order);
  conversation system;
  system.add_system(request.instructions);
  system.add_system(request.input.system());
  for (auto& f : request.options.fields(system.system())) order.fields.push_back(std::move(f));
  for (auto& f : input.fields) order.fields.push_back(std::move(f));
  if (request.background) order.fields.emplace_back("queue", "true");
  const bool only_output = !request.options.output_schema.empty();
  order.schema_param = request.options.schema_param;
  order.files = std::move(input.files);
  if (request.store) {
    order.row.emplace();
    order.row->account = account;
    order.row->base = json::serialize(request.base);
    order.row->system = request.input.system();
    order.row->only_output = only_output;
  }
  started_response out;
  out.keep = !order.key.empty();
  out.run = co_await access_.start(std::move(order));
  out.account = account;
  out.identity = {out.run.run, out.run.thread, request.store, std::move(request.base)};
  out.identity.ends_at_waits = request.store;
  out.identity.only_output = only_output;
  out.stream = request.stream;
  out.background = request.background;
  co_return out;
}

// The response after which the run continues: that of previous_response_id, or the newest one of the run.
ry::task<response_row> response_routes::row_to_continue(ry::uuid account, const response_request& request) {
  const approval_answer& first = request.answers.front();
  std::optional<response_row> row;
  if (request.previous) {
    row = co_await rows_.find(account, *request.previous);
    if (!row)
      throw invalid("previous_response_id",
                    "Previous response with id '" + response_id(*request.previous) + "' not found.",
                    "previous_response_not_found");
  } else {
    row = co_await rows_.find_newest(account, first.run);
  }
  if (!row || row->run != first.run || (request.thread && row->thread != *request.thread))
    throw unknown_approval(first);
  co_return *std::move(row);
}

ry::task<void> response_routes::decide(ry::uuid account, const std::vector<approval_answer>& answers) {
  std::map<std::string, std::string> statuses;
  const std::vector<json::object> known = co_await access_.approvals(account, answers.front().run);
  for (const json::object& a : known)
    statuses.emplace(module_json::text_of(a, "approval_id"), module_json::text_of(a, "status"));
  // Without a decision if one of the answers is refused.
  for (const approval_answer& a : answers) {
    const auto status = statuses.find(a.approval.to_string());
    if (status == statuses.end()) throw unknown_approval(a);
    if (status->second != "pending" && (status->second == "approved") != a.approve)
      throw decided_otherwise(a, status->second);
  }
  for (const approval_answer& a : answers) {
    if (statuses.at(a.approval.to_string()) != "pending") continue;
    const bool decided = co_await access_.decide(account, a.approval, a.approve, a.reason);
    if (!decided) throw decided_otherwise(a, a.approve ? "denied" : "approved");
  }
}

ry::task<response_routes::started_response> response_routes::continue_run(ry::uuid account, response_request request) {
  response_row row = co_await row_to_continue(account, request);
  co_await decide(account, request.answers);
  std::vector<std::set<std::string>> answered = read_answered(row.answered);
  std::set<std::string> added;
  for (const approval_answer& a : request.answers) {
    const bool before = std::any_of(answered.begin(), answered.end(),
                                    [&a](const std::set<std::string>& ids) { return ids.count(a.request) != 0; });
    if (!before) added.insert(a.request);
  }
  // Repeated answers belong to the response that they began.
  if (!added.empty()) {
    answered.push_back(std::move(added));
    row.answered = answered_text(answered);
    std::optional<response_row> repeated = co_await rows_.find_answered(account, row.run, row.answered);
    if (repeated) {
      row = *std::move(repeated);
    } else {
      const std::string model = module_json::text_of(parse_object(row.base), "model");
      row.id = ctx_.new_uuid();
      request.base["model"] = model;
      row.base = json::serialize(request.base);
      co_await rows_.add(row);
    }
  }
  started_response out;
  out.keep = true;
  out.account = account;
  out.run = {row.run, row.thread};
  out.identity = identity_of(row);
  out.stream = request.stream;
  out.background = request.background;
  co_return out;
}

ry::task<std::optional<response_routes::started_response>> response_routes::open_created(
    ry::request r, std::optional<ry::response>& failure) {
  std::optional<started_response> out;
  try {
    // A disconnect must not leave the outcome of the start unknown.
    out = co_await ry::shield(start(r));
  } catch (...) {
    const api_error e = current_api_error();
    if (e.status >= 500) ctx_.log_error("a response could not be started", ry::current_error());
    failure = response_of(e);
  }
  co_return out;
}

ry::task<void> response_routes::create(ry::request r) {
  std::optional<ry::response> failure;
  std::optional<started_response> s = co_await open_created(r, failure);
  if (!s) co_return r.respond(*failure);
  if (s->stream) co_return co_await send_stream(std::move(r), *std::move(s));
  if (!s->background) co_return r.respond(co_await finish_foreground(r, *std::move(s)));
  r.respond(co_await with_errors(ctx_, show(*std::move(s))));
}

// ---- foreground ----

// Ends the run of a response whose request has ended.
ry::task<void> response_routes::settle(started_response s, bool ended) {
  const bool temporary = !s.identity.stored;
  // The job deletes the thread later if the request may be repeated.
  if (ended && (!temporary || s.keep)) co_return;
  co_await ry::shield(access_.end_run(s.account, s.run, temporary));
}

// A response that is not stored cannot be continued, so it fails unless a decision is made elsewhere.
ry::task<void> response_routes::limit_wait(const started_response& s, response_builder& builder,
                                           std::vector<json::object>& events) {
  if (s.identity.ends_at_waits || builder.ended() || !builder.waits()) co_return;
  const bool decided = co_await access_.await_decisions(s.account, s.run.run);
  if (!decided) builder.refuse_wait(events);
}

ry::task<ry::response> response_routes::finish_foreground(ry::request r, started_response s) {
  response_builder builder(s.identity);
  std::optional<ry::response> out;
  std::vector<json::object> events;
  bool ended = true;
  try {
    ry::runs::reader reader = access_.runs().follow(s.account, s.run.run.to_string());
    while (!builder.ended()) {
      const ry::runs::batch* batch = co_await reader.next();
      if (batch == nullptr) break;
      for (const ry::runs::event& e : batch->events) builder.apply(e.sequence, e.json, events);
      co_await limit_wait(s, builder, events);
      events.clear();
    }
    out = ry::response::json(json::serialize(builder.response()));
  } catch (...) {
    // A repetition with the same key waits for the same run after a restart of the server.
    ended = s.keep && r.cancel().why() == RY_REASON_SHUTDOWN;
    out = response_of(current_api_error());
  }
  co_await settle(std::move(s), ended);
  co_return *std::move(out);
}

// ---- streams ----

ry::task<void> response_routes::send_stream(ry::request r, started_response s) {
  event_stream out(r);
  response_builder builder(s.identity);
  bool connected = true;
  std::optional<ry::error> failure;
  try {
    ry::runs::reader reader = access_.runs().follow(s.account, s.run.run.to_string());
    std::vector<json::object> events;
    while (connected && !builder.ended()) {
      const ry::runs::batch* batch = co_await reader.next();
      if (batch == nullptr) break;
      for (const ry::runs::event& e : batch->events) builder.apply(e.sequence, e.json, events);
      if (builder.waits()) {
        send_events(events, s.after, out);
        connected = co_await out.flush();
        co_await limit_wait(s, builder, events);
      }
      send_events(events, s.after, out);
      if (builder.ended()) out.add_done();
      connected = co_await out.flush();
    }
  } catch (...) {
    failure = ry::current_error();
  }
  const std::int32_t why = out.why_cancelled();
  const bool gone = !connected || why == RY_REASON_GONE;
  if (failure && failure->status() != RY_CANCELLED) ctx_.log_error("the stream of a response failed", *failure);
  // A stored response continues while the server restarts; the client resumes its stream with starting_after.
  const bool continues = !builder.ended() && (s.background || (!gone && s.identity.stored));
  if (!continues) co_await settle(std::move(s), builder.ended());
}

// ---- stored responses ----

ry::task<json::object> response_routes::read_now(started_response s) {
  ry::runs::follow_options options;
  options.flags = RY_RUN_BACKGROUND;
  const std::optional<json::object> run = co_await access_.find_run(s.account, s.run.run);
  if (!run) throw unknown_response(response_id(s.run.run));
  std::uint64_t last = UINT64_MAX;
  if (module_json::text_at(*run, "status") == "running") {
    // The first event of a snapshot has the number of the last event so far.
    ry::runs::follow_options now = options;
    now.flags |= RY_RUN_SNAPSHOT;
    co_await access_.visit(s.account, s.run.run, now, [&last](std::uint64_t sequence, std::string_view) {
      last = sequence;
      return false;
    });
  }
  response_builder builder(s.identity);
  std::vector<json::object> events;
  co_await access_.visit(s.account, s.run.run, options, [&](std::uint64_t sequence, std::string_view event) {
    builder.apply(sequence, event, events);
    events.clear();
    return !builder.ended() && sequence < last;
  });
  if (builder.trimmed())
    throw api_error(410, "invalid_request_error", "response_expired", "",
                    "The events of the response '" + response_id(s.run.run) + "' have been deleted.");
  co_return builder.response();
}

ry::task<ry::response> response_routes::show(started_response s) {
  const json::object response = co_await read_now(std::move(s));
  co_return ry::response::json(json::serialize(response));
}

ry::task<response_routes::started_response> response_routes::find(ry::request r) {
  const ry::uuid account = co_await access_.account_of(r);
  const std::string id(r.param("id"));
  const std::optional<ry::uuid> uuid = run_of_response(id);
  if (!uuid) throw unknown_response(id);
  const response_row row = co_await row_of(account, *uuid);
  started_response out;
  out.account = account;
  out.run = {row.run, row.thread};
  out.identity = identity_of(row);
  out.background = true;  // a disconnect of this request does not stop the run
  co_return out;
}

ry::task<std::optional<response_routes::started_response>> response_routes::open_stored(
    ry::request r, std::optional<ry::response>& failure) {
  std::optional<started_response> out;
  try {
    out = co_await find(r);
    out->stream = read_flag(r, "stream");
    out->after = read_starting_after(r);
    if (!out->stream) {
      failure = co_await show(*out);
      out.reset();
    } else {
      const std::optional<json::object> known = co_await access_.find_run(out->account, out->run.run);
      if (!known) throw unknown_response(response_id(out->run.run));
    }
  } catch (...) {
    out.reset();
    failure = response_of(current_api_error());
  }
  co_return out;
}

ry::task<void> response_routes::retrieve(ry::request r) {
  std::optional<ry::response> response;
  std::optional<started_response> s = co_await open_stored(r, response);
  if (!s) co_return r.respond(*response);
  co_await send_stream(std::move(r), *std::move(s));
}

ry::task<ry::response> response_routes::cancel_response(ry::request r) {
  started_response s = co_await find(r);
  try {
    (void)co_await access_.runs().stop(s.account, s.run.run);
  } catch (const ry::error& e) {
    if (is_not_found(e)) throw unknown_response(response_id(s.run.run));
    throw;
  }
  co_return co_await show(std::move(s));
}

// Deletes the thread with its last response, unless the thread has runs that are not responses.
ry::task<ry::response> response_routes::remove_response(ry::request r) {
  const started_response s = co_await find(r);
  const ry::uuid uuid = s.identity.id.value_or(s.run.run);
  const std::string id = response_id(uuid);
  const std::optional<std::vector<std::string>> runs = co_await access_.run_ids(s.account, s.run.thread);
  co_await rows_.mark_deleted(s.account, uuid);
  const bool others = co_await rows_.has_responses(s.account, s.run.thread);
  const std::int64_t deleted = co_await rows_.count_deleted(s.account, s.run.thread);
  const bool all_known = !runs || runs->size() < run_access::max_run_ids;
  const bool last = !runs || (all_known && !others && static_cast<std::int64_t>(runs->size()) <= deleted);
  const bool continued = co_await rows_.has_responses_of_run(s.account, s.run.run);
  if (!continued) co_await access_.end_run(s.account, s.run, last);
  if (last) co_await rows_.delete_thread(s.account, s.run.thread);
  co_return ry::response::json(json::serialize(deleted_object(id)));
}

ry::task<json::array> response_routes::all_input(const started_response& s) {
  if (!s.identity.answered.empty()) {
    const std::vector<json::object> approvals = co_await access_.approvals(s.account, s.run.run);
    co_return answer_items(approvals, s.run.run, s.identity.answered.back());
  }
  const std::optional<std::vector<std::string>> runs = co_await access_.run_ids(s.account, s.run.thread);
  if (!runs) throw unknown_response(response_id(s.run.run));
  const std::vector<json::object> messages = co_await access_.messages(s.account, s.run.thread);
  const bool first = !runs->empty() && runs->back() == s.run.run.to_string();
  co_return input_items(messages, s.run.run, first);
}

ry::task<ry::response> response_routes::input_page(ry::request r) {
  const started_response s = co_await find(r);
  json::array items = co_await all_input(s);
  if (r.query("order").value_or("desc") != "asc") std::reverse(items.begin(), items.end());
  std::int64_t limit = 20;
  if (const std::optional<std::string> text = r.query("limit")) {
    const auto [end, bad] = std::from_chars(text->data(), text->data() + text->size(), limit);
    if (bad != std::errc() || end != text->data() + text->size() || limit < 1 || limit > 100)
      throw invalid("limit", "limit must be an integer from 1 to 100");
  }
  const auto id_of = [](const json::value& v) { return module_json::text_of(v.get_object(), "id"); };
  auto begin = items.begin();
  if (const std::optional<std::string> after = r.query("after")) {
    begin = std::find_if(items.begin(), items.end(), [&](const json::value& v) { return id_of(v) == *after; });
    if (begin == items.end()) throw invalid("after", "after must be the id of an item of this list");
    ++begin;
  }
  const auto end = items.end() - begin > limit ? begin + limit : items.end();
  json::object page;
  page["object"] = "list";
  page["has_more"] = end != items.end();
  page["first_id"] = begin == end ? json::value(nullptr) : json::value(id_of(*begin));
  page["last_id"] = begin == end ? json::value(nullptr) : json::value(id_of(*(end - 1)));
  page["data"] = json::array(begin, end);
  co_return ry::response::json(json::serialize(page));
}

}  // namespace openai_api
