#include "run_access.hpp"

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <utility>

#include "errors.hpp"
#include "ids.hpp"
#include "json/members.hpp"
#include "run_event.hpp"

namespace openai_api {
namespace {

namespace json = boost::json;

constexpr std::uint32_t max_agents = 100;
constexpr std::size_t max_history_messages = 1000, max_message_bytes = 1 << 20, max_key_bytes = 200;
// Time until the job checks a temporary run. Requests delete their threads themselves unless they were interrupted.
constexpr std::int64_t first_look_us = 120'000'000;
constexpr std::uint64_t look_again_ms = 60'000;
// After this time, a start with files that has not committed is considered failed.
constexpr std::int64_t start_limit_us = 900'000'000, us_per_ms = 1'000;
constexpr std::uint64_t decision_poll_ms = 500;

ry::uuid parse_id(const std::string& text) {
  const std::optional<ry::uuid> id = ry::uuid::parse(text);
  if (!id) throw ry::internal("openai_api.id", "runs/1 returned an id that is not a UUID");
  return *id;
}

ry::runs::start_request request_of(start_order& order) {
  ry::runs::start_request out(order.account);
  for (auto& [name, value] : order.fields) out.field(name, value);
  for (attachment& f : order.files) out.file(f.name, f.media_type, std::move(f.content));
  if (!order.key.empty()) out.key(order.key);
  return out;
}

// runs/1 calls a refused schema `output_schema`; the client used the name of the member of its request.
std::optional<api_error> schema_error(const ry::error& e, const std::string& schema_param) {
  constexpr std::string_view field = "output_schema";
  const api_error out = from_error(e);
  if (schema_param.empty() || out.status != 400 || out.message.rfind(field, 0) != 0) return std::nullopt;
  return invalid(schema_param, schema_param + out.message.substr(field.size()));
}

}  // namespace

void run_access::connect() {
  accounts_ = ctx_.acquire<ry_accounts_v1>(RY_SVC_ACCOUNTS_1);
  agents_ = ctx_.acquire<ry_agents_v1>(RY_SVC_AGENTS_1);
  runs_ = ry::runs::client(ctx_);
}

ry::task<ry::uuid> run_access::account_of(ry::request r) const {
  if (r.principal() == nullptr) throw ry::unauthenticated("auth.required", "Not authenticated");
  ry::result<ry::uuid> account = co_await ry::call<ry::uuid, const ry_account_view*>(
      [this, &r](ry_exec* exec, ry_account_fn fn, void* ctx) {
        return accounts_->ensure(accounts_.self(), r.principal(), exec, fn, ctx);
      },
      [](const ry_account_view* a) { return ry::uuid(a->account_id); });
  co_return std::move(account).value();
}

ry::task<std::vector<std::string>> run_access::models(ry::uuid account) const {
  const json::object found = parse_object(co_await runs_.models(account));
  std::vector<std::string> out;
  const json::array* list = module_json::array_at(found, "models");
  if (list == nullptr) co_return out;
  for (const json::value& v : *list) {
    if (!v.is_object()) continue;
    const bool by_default = module_json::flag_at(v.get_object(), "default");
    out.insert(by_default ? out.begin() : out.end(), module_json::text_of(v.get_object(), "id"));
  }
  co_return out;
}

ry::task<std::vector<agent_entry>> run_access::agents(ry::uuid account) const {
  ry::result<std::vector<agent_entry>> list =
      co_await ry::call<std::vector<agent_entry>, const ry_agent_view*, std::size_t, std::size_t, std::int32_t>(
          [this, &account](ry_exec* exec, ry_agent_list_fn fn, void* ctx) {
            return agents_->list(agents_.self(), &account, nullptr, max_agents, exec, fn, ctx);
          },
          [](const ry_agent_view* agents, std::size_t n, std::size_t stride, std::int32_t) {
            std::vector<agent_entry> out;
            const auto* at = reinterpret_cast<const char*>(agents);
            for (std::size_t i = 0; i < n; ++i, at += stride) {
              const auto* a = reinterpret_cast<const ry_agent_view*>(at);
              out.push_back({ry::text(a->agent_id), ry::text(a->name)});
            }
            return out;
          });
  co_return std::move(list).value();
}

ry::task<std::string> run_access::resolve_model(ry::uuid account, model_reference model) const {
  if (model.is_agent) co_return model.name;
  const std::vector<std::string> allowed = co_await models(account);
  if (model.name.empty()) {
    if (allowed.empty()) throw unknown_model("");
    co_return allowed.front();
  }
  if (std::find(allowed.begin(), allowed.end(), model.name) == allowed.end()) throw unknown_model(model.name);
  co_return model.name;
}

ry::task<void> run_access::record(start_order& order, started_run run, ry::tx& in) const {
  if (order.row) {
    order.row->id = order.row->run = run.run;
    order.row->thread = run.thread;
    co_await rows_.add(*order.row, in);
  }
  if (!order.temporary || !order.files.empty()) co_return;
  const json::object args{{"account_id", order.account.to_string()},
                          {"thread_id", run.thread.to_string()},
                          {"run_id", run.run.to_string()}};
  ry::job_request job(delete_temporary_job, json::serialize(args));
  job.queue("openai_api").run_at(ctx_.now_unix_us() + first_look_us);
  ry::result<std::int64_t> added = co_await ctx_.jobs().enqueue(in, std::move(job));
  added.value();
}

ry::task<ry::runs::started> run_access::start_run(start_order& order, ry::tx* in) const {
  try {
    ry::runs::start_request request = request_of(order);
    ry::runs::started out = co_await runs_.start(std::move(request), in);
    co_return out;
  } catch (const ry::error& e) {
    if (const std::optional<api_error> refused = schema_error(e, order.schema_param)) throw *refused;
    throw;
  }
}

// The thread of a temporary run is chosen here, so that the job which deletes it exists before the start.
ry::task<ry::runs::started> run_access::start_with_files(start_order& order) const {
  if (order.temporary) {
    const ry::uuid thread = order.key.empty() ? ctx_.new_uuid() : thread_of_key(order.account, order.key);
    order.fields.emplace_back("thread_id", thread.to_string());
    order.fields.emplace_back("project_id", project_of_thread(thread).to_string());
    order.fields.emplace_back("optimistic", "true");
    const json::object args{{"account_id", order.account.to_string()}, {"thread_id", thread.to_string()}};
    ry::job_request job(delete_chosen_job, json::serialize(args));
    job.queue("openai_api").run_at(ctx_.now_unix_us() + first_look_us);
    ry::result<std::int64_t> added = co_await ctx_.jobs().enqueue(std::move(job));
    added.value();
  }
  ry::runs::started out = co_await start_run(order, nullptr);
  co_return out;
}

ry::task<started_run> run_access::start(start_order order) const {
  if (order.key.size() > max_key_bytes)
    throw invalid("", "The header Idempotency-Key must have at most 200 bytes", "string_too_long");
  const bool with_files = !order.files.empty();
  ry::runs::started s;
  // Files cannot be part of another module's transaction.
  if (with_files) s = co_await start_with_files(order);
  ry::result<ry::tx> opened = co_await ctx_.db().begin();
  ry::tx tx = std::move(opened).value();
  if (!with_files) s = co_await start_run(order, &tx);
  const started_run out{parse_id(s.run_id), parse_id(s.thread_id)};
  co_await record(order, out, tx);
  ry::result<void> committed = co_await tx.commit();
  committed.value();
  if (!with_files) runs_.wake();
  co_return out;
}

ry::task<std::optional<json::object>> run_access::find_run(ry::uuid account, ry::uuid run) const {
  try {
    co_return parse_object(co_await runs_.get(account, run));
  } catch (const ry::error& e) {
    if (!is_not_found(e)) throw;
  }
  co_return std::nullopt;
}

ry::task<std::optional<std::vector<std::string>>> run_access::run_ids(ry::uuid account, ry::uuid thread) const {
  json::object page;
  ry::runs::fields query{{"thread_id", thread.to_string()}, {"limit", std::to_string(max_run_ids)}};
  try {
    page = parse_object(co_await runs_.list(account, std::move(query)));
  } catch (const ry::error& e) {
    if (!is_not_found(e)) throw;
    co_return std::nullopt;
  }
  std::vector<std::string> out;
  if (const json::array* list = module_json::array_at(page, "agent_runs"))
    for (const json::value& v : *list)
      if (v.is_object()) out.push_back(module_json::text_of(v.get_object(), "id"));
  co_return out;
}

ry::task<bool> run_access::is_newest(ry::uuid account, ry::uuid thread, ry::uuid run) const {
  const std::optional<std::vector<std::string>> ids = co_await run_ids(account, thread);
  co_return ids && !ids->empty() && ids->front() == run.to_string();
}

ry::task<std::vector<json::object>> run_access::messages(ry::uuid account, ry::uuid thread) const {
  std::vector<json::object> out;
  std::size_t bytes = 0;
  std::string cursor;
  for (;;) {
    ry::runs::fields query{{"limit", "100"}};
    if (!cursor.empty()) query.emplace_back("cursor", cursor);
    const std::string text = co_await runs_.messages(account, thread, std::move(query));
    bytes += text.size();
    json::object page = parse_object(text);
    if (json::value* list = page.if_contains("messages"); list != nullptr && list->is_array())
      for (json::value& v : list->get_array())
        if (v.is_object()) out.push_back(std::move(v.get_object()));
    if (out.size() > max_history_messages || bytes > 2 * max_message_bytes)
      throw invalid("", "The conversation has too many messages for this request", "context_length_exceeded");
    cursor = module_json::text_of(page, "next_cursor");
    if (cursor.empty()) co_return out;
  }
}

ry::task<void> run_access::visit(ry::uuid account, ry::uuid run, ry::runs::follow_options options, visitor f) const {
  ry::runs::reader reader = runs_.follow(account, run.to_string(), options);
  for (;;) {
    const ry::runs::batch* events = co_await reader.next();
    if (events == nullptr) co_return;
    for (const ry::runs::event& e : events->events)
      if (!f(e.sequence, e.json)) co_return;
  }
}

ry::task<std::vector<json::object>> run_access::approvals(ry::uuid account, ry::uuid run) const {
  std::vector<json::object> out;
  std::string cursor;
  do {
    ry::runs::fields query{{"run_id", run.to_string()}, {"limit", "100"}};
    if (!cursor.empty()) query.emplace_back("cursor", cursor);
    json::object page = parse_object(co_await runs_.approvals(account, std::move(query)));
    if (const json::array* list = module_json::array_at(page, "approvals"))
      for (const json::value& v : *list)
        if (v.is_object()) out.push_back(v.get_object());
    cursor = module_json::text_of(page, "next_cursor");
  } while (!cursor.empty());
  std::reverse(out.begin(), out.end());
  co_return out;
}

ry::task<bool> run_access::await_decisions(ry::uuid account, ry::uuid run) const {
  const std::int64_t deadline = ctx_.mono_us() + static_cast<std::int64_t>(approval_wait_seconds_) * 1'000'000;
  for (;;) {
    ry::runs::fields query{{"run_id", run.to_string()}, {"status", "pending"}, {"limit", "1"}};
    const json::object page = parse_object(co_await runs_.approvals(account, std::move(query)));
    const json::array* pending = module_json::array_at(page, "approvals");
    if (pending == nullptr || pending->empty()) co_return true;
    if (ctx_.mono_us() >= deadline) co_return false;
    ry::result<void> slept = co_await ctx_.sleep(decision_poll_ms);
    slept.value();
  }
}

ry::task<bool> run_access::decide(ry::uuid account, ry::uuid approval, bool approve, std::string reason) const {
  json::object decision{{"decision", approve ? "approve" : "deny"}};
  if (!reason.empty()) decision["reason"] = reason;
  try {
    (void)co_await runs_.decide(account, approval, json::serialize(decision));
  } catch (const ry::error& e) {
    if (e.http_status() != 409) throw;
    co_return false;
  }
  co_return true;
}

ry::task<void> run_access::end_run(ry::uuid account, started_run run, bool temporary) const {
  try {
    if (temporary)
      co_await runs_.delete_thread(account, run.thread);
    else
      (void)co_await runs_.stop(account, run.run);
  } catch (...) {
    const ry::error e = ry::current_error();
    if (!is_not_found(e)) ctx_.log_error("the run of a request could not be ended", e);
  }
}

ry::task<ry::job_outcome> run_access::delete_thread_of_job(ry::uuid account, ry::uuid thread) const {
  try {
    co_await runs_.delete_thread(account, thread);
  } catch (const ry::error& e) {
    if (!is_not_found(e)) throw;
  }
  co_return ry::job_outcome::done();
}

ry::task<ry::job_outcome> run_access::delete_temporary(ry::job job) const {
  const json::object args = parse_object(job.args());
  const std::optional<ry::uuid> account = ry::uuid::parse(module_json::text_at(args, "account_id"));
  const std::optional<ry::uuid> thread = ry::uuid::parse(module_json::text_at(args, "thread_id"));
  const std::optional<ry::uuid> run = ry::uuid::parse(module_json::text_at(args, "run_id"));
  if (!account || !thread || !run) co_return ry::job_outcome::dead(ry::internal("openai_api.job", "invalid arguments"));
  const std::optional<json::object> found = co_await find_run(*account, *run);
  if (!found) co_return ry::job_outcome::done();
  if (module_json::text_at(*found, "status") == "running") co_return ry::job_outcome::snooze(look_again_ms);
  const ry::job_outcome out = co_await delete_thread_of_job(*account, *thread);
  co_return out;
}

ry::task<ry::job_outcome> run_access::delete_chosen(ry::job job) const {
  const json::object args = parse_object(job.args());
  const std::optional<ry::uuid> account = ry::uuid::parse(module_json::text_at(args, "account_id"));
  const std::optional<ry::uuid> thread = ry::uuid::parse(module_json::text_at(args, "thread_id"));
  if (!account || !thread) co_return ry::job_outcome::dead(ry::internal("openai_api.job", "invalid arguments"));
  const std::optional<std::vector<std::string>> runs = co_await run_ids(*account, *thread);
  if (!runs) {
    const bool expected = ctx_.now_unix_us() - job.enqueued_unix_us() < start_limit_us;
    co_return expected ? ry::job_outcome::snooze(start_limit_us / us_per_ms) : ry::job_outcome::done();
  }
  if (!runs->empty()) {
    const std::optional<json::object> newest = co_await find_run(*account, parse_id(runs->front()));
    if (newest && module_json::text_at(*newest, "status") == "running")
      co_return ry::job_outcome::snooze(look_again_ms);
  }
  const ry::job_outcome out = co_await delete_thread_of_job(*account, *thread);
  co_return out;
}

}  // namespace openai_api
