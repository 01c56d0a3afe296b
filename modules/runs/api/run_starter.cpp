#include "api/run_starter.hpp"

#include <fcntl.h>
#include <sodium.h>
#include <unistd.h>

#include <algorithm>
#include <ry/cpp/base64.hpp>
#include <ry/cpp/text.hpp>
#include <set>

#include "account_limits.hpp"
#include "error_response.hpp"
#include "module_context.hpp"
#include "run/conversation.hpp"
#include "settings/model_choice.hpp"
#include "text.hpp"
#include "without_protection.hpp"
#include "workspace/upload_parser.hpp"

namespace runs {
namespace {

constexpr std::int64_t first_reservation = 32;
constexpr std::uint32_t prompts_full_retry_s = 5;

class form_hash {
 public:
  form_hash() { crypto_generichash_init(&state_, nullptr, 0, size); }
  // Adds the length first, so that "ab"+"c" and "a"+"bc" differ.
  void add(std::string_view text) {
    const std::string length = std::to_string(text.size()) + ":";
    raw(length);
    raw(text);
  }
  void raw(std::string_view bytes) {
    crypto_generichash_update(&state_, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  }
  bool add_file(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    std::vector<char> buffer(128 * 1024);
    ssize_t n;
    while ((n = ::read(fd, buffer.data(), buffer.size())) > 0) raw({buffer.data(), static_cast<std::size_t>(n)});
    ::close(fd);
    return n == 0;
  }
  std::string hex() {
    unsigned char out[size];
    crypto_generichash_final(&state_, out, size);
    return ry::to_hex(out);
  }

 private:
  static constexpr std::size_t size = 32;
  crypto_generichash_state state_;
};

std::int64_t prompt_limit(const settings& config, const caller& requester) {
  return by_tier(config.account_prompt_bytes, ry::view(requester.tier->name));
}

}  // namespace

ry::task<void> run_starter::check_room(caller requester, std::optional<std::string> key) {
  if (context_.run_placement.has_room(ry::view(requester.tier->name))) co_return;
  work w;
  w.of.requester = std::move(requester);
  w.args.key = std::move(key);
  co_await reject_unless_replay(w);
}

ry::task<void> run_starter::hash_form(work& w) {
  // Clients rebuild the form for a retry, so fields may arrive in any order. Only the order of files with the same
  // name is significant.
  const auto by_name = [](const auto& a, const auto& b) { return a.name < b.name; };
  std::stable_sort(w.of.fields.begin(), w.of.fields.end(), by_name);
  std::vector<ry::form_part> files = w.of.files;
  std::stable_sort(files.begin(), files.end(), by_name);
  form_hash hash;
  for (const form_field& f : w.of.fields) {
    hash.add(f.name);
    hash.add(f.value);
  }
  for (const ry::form_part& file : files) {
    hash.add(file.filename);
    hash.add(std::to_string(file.size));
  }
  if (!files.empty()) {
    const bool all_read = co_await context_.ctx.run_blocking([&hash, &files] {
      for (const ry::form_part& file : files)
        if (!hash.add_file(std::string(file.path))) return false;
      return true;
    });
    if (!all_read) throw ry::internal("runs.upload", "an uploaded file could not be read");
  }
  w.args.hash = hash.hex();
}

void run_starter::prepare_webhook(start_arguments& a) const {
  // The address guard is off in local mode only.
  const bool is_local = context_.ctx.fact("deployment.mode") == "local";
  if (!is_local && !ry::lower_ascii(a.form.webhook_url).starts_with("https://"))
    throw refusal(422, "webhook_url must begin with https://");
  const ry_status st = context_.ctx.http_client().check_url(a.form.webhook_url);
  if (st == RY_PERMISSION_DENIED) throw refusal(422, "webhook_url must not refer to a private or local address");
  if (st != RY_OK) throw refusal(422, "webhook_url is not a valid URL");
  ry::result<std::string> sealed =
      context_.ctx.secrets().seal(webhook_binding(a.run.to_string()), a.form.webhook_secret);
  a.sealed_webhook_secret = ry::base64_encode(sealed.value(), ry::base64_alphabet::url, false);
}

ry::task<run_starter::started> run_starter::start(order o) {
  work w;
  w.of = std::move(o);
  start_arguments& a = w.args;
  a.form = std::move(w.of.form);
  a.key = w.of.key;
  if (a.key) co_await hash_form(w);
  a.account = w.of.requester.id;
  co_await check_prompt_rate(w);
  a.new_thread = context_.ctx.new_uuid();
  a.new_project = context_.ctx.new_uuid();
  a.run = context_.ctx.new_uuid();
  a.message = context_.ctx.new_uuid();
  if (!a.form.webhook_url.empty()) prepare_webhook(a);
  a.title = title_of(a.form.prompt.empty() && !a.form.history.empty() ? content_of(a.form.history.back().body)
                                                                      : a.form.prompt);
  if (a.form.on_busy == busy_policy::steer) {
    if (!w.of.files.empty()) throw refusal(422, "on_busy=steer does not allow files");
    std::optional<start_result> joined;
    if (a.form.thread_id) joined = co_await ry::shield(join(w));
    if (joined) {
      count_start(*joined);
      if (joined->outcome == start_outcome::joined)
        prompts_.add(w.of.requester.id, static_cast<std::int64_t>(a.form.stored_bytes()),
                     prompt_limit(context_.config, w.of.requester), context_.ctx.mono_us());
      else if (joined->outcome != start_outcome::replay)
        throw_refusal(w, *joined);
      started answer;
      if (joined->message_id.empty())
        answer.queue_position = (co_await context_.repo.first_place(joined->run_id)).value();
      answer.run = std::move(*joined);
      co_return answer;
    }
  }
  std::optional<placement::ticket> ticket;
  // The run of a transaction that may never be committed must not occupy this node.
  if (w.of.in == nullptr) ticket = context_.run_placement.take();
  if (ticket && ticket->goes == placement::way::here)
    a.node = context_.node_id;
  else if (!context_.run_placement.queue_has_room(
               ry::view(w.of.requester.tier->name)))  // checked again, because many starts may have arrived together
    co_await reject_unless_replay(w);
  a.timeout_seconds = context_.config.timeout_seconds;
  a.reserve = first_reservation;
  a.max_waiting = context_.config.max_waiting_runs;
  event_text(a.first_event, 1, "status").text("status", "running");

  started out;
  start_result& run = out.run;
  std::optional<upload_parser> uploads;
  for (int attempt = 1;; ++attempt) {
    try {
      if (w.of.files.empty())
        run = co_await ry::shield(decide_start(w));  // a shutdown must not leave the outcome unknown
      else
        run = co_await decide_start_with_files(
            w, uploads.emplace(context_.ctx, context_.sandboxes, context_.workspaces, w.of.requester.id,
                               context_.quota.limits_of(ry::view(w.of.requester.tier->name)), w.of.files));
      break;
    } catch (const ry::error& e) {
      // Two concurrent starts created the same client-chosen id; the next attempt finds the existing row.
      if (e.status() != RY_ALREADY_EXISTS || attempt == 5 || w.of.in != nullptr) throw;
    }
  }
  if (run.outcome == start_outcome::thread_not_found && w.of.in == nullptr) co_await refine_not_found(a, run);
  const bool queued = run.outcome == start_outcome::queued;
  count_start(run);
  if (is_granted(run.outcome))
    prompts_.add(w.of.requester.id, static_cast<std::int64_t>(a.form.stored_bytes()),
                 prompt_limit(context_.config, w.of.requester), context_.ctx.mono_us());
  if (run.outcome == start_outcome::ok && run.fence == 0) {
    if (w.of.in == nullptr) wake_queue();
  } else if (run.outcome == start_outcome::ok)
    begin_run(w, run);
  else if (queued)
    out.queue_position = run.detail;
  else if (run.outcome == start_outcome::replay && a.form.on_busy == busy_policy::steer)
    run.message_id = (co_await context_.repo.joined_message(a.account, *a.key, w.of.in)).value();
  else if (run.outcome != start_outcome::replay)
    throw_refusal(w, run);
  if (run.outcome == start_outcome::replay && run.message_id.empty())
    out.queue_position = (co_await context_.repo.first_place(run.run_id)).value();
  if (uploads && is_granted(run.outcome)) co_await place_files(w, *uploads, run);
  co_return out;
}

ry::task<void> run_starter::check_prompt_rate(work& w) {
  const std::int64_t limit = prompt_limit(context_.config, w.of.requester);
  const std::int64_t wait = prompts_.wait_seconds(
      w.of.requester.id, static_cast<std::int64_t>(w.args.form.stored_bytes()), limit, context_.ctx.mono_us());
  if (wait == 0 || ry_test::without_protection("prompt_rate")) co_return;
  const bool replay = co_await is_replay(w);
  if (replay) co_return;
  ry::account_limit(context_.ctx, "prompt_bytes").add();
  const std::string sentence = "Your prompts of the last hour have more than " +
                               size_text(static_cast<std::uint64_t>(limit)) + "; try again later";
  throw refusal(429, sentence,
                "{\"message\":" + json_string(sentence) + ",\"limit\":" + std::to_string(limit) +
                    ",\"error_code\":\"PROMPT_RATE_EXCEEDED\"}")
      .with_retry_after(static_cast<std::uint32_t>(wait));
}

// The caller's thread may exist in another project than the requested one.
ry::task<void> run_starter::refine_not_found(const start_arguments& a, start_result& run) const {
  if (!a.form.thread_id || !a.form.project_id) co_return;
  ry::result<std::optional<std::string>> thread = co_await context_.repo.thread_json(a.account, *a.form.thread_id);
  if (thread.value()) run.outcome = start_outcome::project_not_found;
}

ry::task<bool> run_starter::is_replay(work& w) {
  if (!w.args.key) co_return false;
  if (!w.is_replay) {
    ry::result<bool> known = co_await context_.repo.has_key(w.of.requester.id, *w.args.key);
    w.is_replay = known.value();
  }
  co_return *w.is_replay;
}

ry::task<void> run_starter::reject_unless_replay(work& w) {
  const bool replay = co_await is_replay(w);
  if (!replay) context_.run_placement.refuse();
}

ry::task<std::optional<start_result>> run_starter::join(work& w) {
  w.args.body = user_body(w.args.form.prompt);
  ry::result<join_result> made = co_await context_.repo.join(w.args, context_.config.max_pending_prompts,
                                                             context_.config.pending_prompt_bytes, w.of.in);
  join_result& joined = made.value();
  start_result out;
  out.run_id = std::move(joined.run_id);
  out.thread_id = std::move(joined.thread_id);
  out.project_id = std::move(joined.project_id);
  out.sandbox_id = std::move(joined.sandbox_id);
  out.message_id = std::move(joined.message_id);
  switch (joined.how) {
    case join_result::outcome::none:
      w.args.body.reset();  // decide_start() decides when the message is stored
      co_return std::nullopt;
    case join_result::outcome::joined:
      out.outcome = start_outcome::joined;
      break;
    case join_result::outcome::replay:
      out.outcome = start_outcome::replay;
      break;
    case join_result::outcome::key_reused:
      out.outcome = start_outcome::key_reused;
      break;
    case join_result::outcome::busy:
      out.outcome = start_outcome::thread_busy;
      out.detail = out.run_id;
      break;
    case join_result::outcome::full:
      out.outcome = start_outcome::prompts_full;
      out.detail = out.run_id;
      break;
  }
  co_return out;
}

ry::task<start_result> run_starter::decide_start(work& w) {
  const bool needs_tx = w.args.form.on_busy == busy_policy::interrupt || !w.args.form.history.empty() ||
                        !w.args.form.tool_results.empty();
  if (!needs_tx && w.of.in == nullptr) {
    if (!w.args.form.prompt.empty()) w.args.body = user_body(w.args.form.prompt);
    co_return co_await request_start(w, nullptr);
  }
  if (w.of.in == nullptr) co_return co_await commit_start(w, nullptr);
  start_result out = co_await request_start(w, w.of.in);
  if (is_granted(out.outcome)) co_await complete_start(w, nullptr, out, *w.of.in);
  co_return out;
}

// Part of the start's commit, so that the job runs even if this node crashes.
ry::task<void> run_starter::enqueue_interrupt(const work& w, const start_result& run, ry::tx& in) {
  if (w.args.form.on_busy != busy_policy::interrupt || run.outcome != start_outcome::queued) co_return;
  ry::job_request job("runs.interrupt", "{\"account_id\":\"" + w.args.account + "\",\"thread_id\":\"" + run.thread_id +
                                            "\",\"run_id\":\"" + run.run_id + "\"}");
  job.queue("runs");
  ry::result<std::int64_t> job_id = co_await context_.ctx.jobs().enqueue(in, std::move(job));
  job_id.value();
}

// Repeats until the arguments match: the tier or the agent's model may differ from the values cached on this node.
ry::task<start_result> run_starter::request_start(work& w, ry::tx* in) {
  start_arguments& a = w.args;
  const ry_tier_view* tier = w.of.requester.tier;
  std::optional<std::string> requested = a.form.model_name;
  for (int attempt = 0; attempt < 6; ++attempt) {
    a.tier = ry::text(tier->name);
    a.max_runs = tier->concurrent_runs;
    a.max_threads = tier->threads;
    const model_choice by_default = default_model(context_.config, *tier);
    a.default_model.reset();
    if (by_default.granted()) a.default_model = by_default.model;
    a.model.reset();
    a.model_denied = false;
    if (requested) {
      const model_choice choice = choose_model(context_.config, *tier, *requested);
      a.model = choice.granted() ? choice.model : *requested;
      a.model_denied = !choice.granted();
    }
    ry::result<start_result> out = co_await execute_start(w, in);
    if (!out) throw out.error();
    if (out->outcome == start_outcome::tier) {
      tier = context_.accounts->tier(context_.accounts.self(), ry::str(out->detail));
      if (ry::view(tier->name) != out->detail)
        throw ry::internal("runs.tier", "the tier \"" + out->detail + "\" is not configured");
      w.of.requester.tier = tier;
    } else if (out->outcome == start_outcome::model) {
      requested = out->detail;
    } else {
      co_return std::move(*out);
    }
  }
  throw ry::unavailable("runs.start", "the account's tier or model changed during each attempt to start the run");
}

// Executes the start alone in the given transaction, or batched with other starts.
ry::task<ry::result<start_result>> run_starter::execute_start(const work& w, ry::tx* in) {
  if (in == nullptr) {
    ry::result<start_result> out = co_await context_.starts.start(w.args, w.of.exec);
    co_return out;
  }
  const start_arguments* starts[] = {&w.args};
  ry::result<std::vector<start_result>> out = co_await context_.repo.start(starts, repository::on_lock::wait, in);
  if (!out) co_return out.error();
  co_return std::move(out->front());
}

ry::task<start_result> run_starter::decide_start_with_files(work& w, upload_parser& uploads) {
  w.args.sandbox = context_.ctx.new_uuid().to_string();
  std::optional<std::string> project;
  if (uploads.is_large()) {
    // Decides on the start and rolls back, so that a rejected start stores no files in the database.
    ry::result<ry::tx> opened = co_await context_.repo.begin();
    ry::tx tx = std::move(opened).value();
    start_result trial = co_await request_start(w, &tx);
    (void)co_await tx.rollback();
    if (!is_granted(trial.outcome)) co_return trial;
    project = trial.project_id;
  }
  std::optional<start_result> out;
  std::exception_ptr failure;
  try {
    co_await uploads.read(project);
    out = co_await commit_start(w, &uploads);
  } catch (...) {
    failure = std::current_exception();
  }
  if (project && (failure || !is_granted(out->outcome))) co_await ry::shield(uploads.discard(*project));
  if (failure) std::rethrow_exception(failure);
  co_return std::move(*out);
}

ry::task<start_result> run_starter::commit_start(work& w, upload_parser* uploads) {
  ry::result<ry::tx> opened = co_await context_.repo.begin();
  ry::tx tx = std::move(opened).value();
  start_result out = co_await request_start(w, &tx);
  if (!is_granted(out.outcome)) {
    (void)co_await tx.rollback();
    co_return out;
  }
  co_await complete_start(w, uploads, out, tx);
  ry::result<void> committed = co_await tx.commit();
  committed.value();
  if (out.outcome == start_outcome::queued) context_.ctx.jobs().wake("runs");
  co_return out;
}

ry::task<void> run_starter::add_tool_results(const work& w, const start_result& run, ry::tx& in) {
  ry::result<ry::rows> rows = co_await context_.repo.last_answer(in, run.thread_id);
  std::vector<tool_call> calls;
  std::set<std::string> answered;
  for (const ry::row r : rows.value()) {
    const chat_message m{std::string(r.text(0)), std::string(r.text(1))};
    if (m.role == "assistant") calls = calls_of(m.body);
    if (m.role == "tool") answered.insert(answered_id(m));
  }
  std::vector<added_message> messages;
  for (std::size_t i = 0; i < w.args.form.tool_results.size(); ++i) {
    const client_result& result = w.args.form.tool_results[i];
    const auto call =
        std::find_if(calls.begin(), calls.end(), [&](const tool_call& c) { return c.id == result.tool_call_id; });
    if (call == calls.end() || !answered.insert(result.tool_call_id).second) {
      const std::string sentence = "tool_results[" + std::to_string(i) +
                                   "].tool_call_id is not a call of the thread's last answer that waits for a result";
      throw refusal(409, sentence,
                    "{\"message\":" + json_string(sentence) + ",\"error_code\":\"TOOL_RESULT_NOT_PENDING\"}");
    }
    messages.push_back({"tool", tool_body(*call, {result.content, result.is_error})});
  }
  ry::result<void> stored = co_await context_.repo.add_messages(in, run.thread_id, run.run_id, messages);
  stored.value();
}

// The messages follow here instead of in the start's statement, because files change the user's message, and earlier
// messages precede it.
ry::task<void> run_starter::complete_start(work& w, upload_parser* uploads, start_result& run, ry::tx& in) {
  if (!w.args.form.history.empty() && run.fresh_thread) {
    ry::result<void> stored = co_await context_.repo.add_messages(in, run.thread_id, std::nullopt, w.args.form.history);
    stored.value();
    run.fresh_thread = false;  // the worker reads the messages from the database
  }
  if (!w.args.form.tool_results.empty()) co_await add_tool_results(w, run, in);
  std::vector<upload_record> records;
  std::string prompt = w.args.form.prompt;
  if (uploads != nullptr) {
    records = co_await uploads->keep(in, run.project_id);
    std::vector<attached_file> attached;
    attached.reserve(records.size());
    for (const upload_record& r : records) attached.push_back({r.name, static_cast<std::uint64_t>(r.size)});
    prompt = prompt_with_files(prompt, attached);
  }
  if (!prompt.empty()) {
    w.args.body = user_body(prompt);
    ry::result<void> attached_message =
        co_await context_.repo.attach_message(in, run, w.args.message, *w.args.body, std::move(records));
    attached_message.value();
  }
  co_await enqueue_interrupt(w, run, in);
}

// The run has already begun and waits for its workspace. If the files cannot be placed here, its worker reads them from
// the database.
ry::task<void> run_starter::place_files(const work& w, upload_parser& uploads, const start_result& run) {
  std::optional<ry::error> failure;
  try {
    co_await ry::shield(uploads.place(run.project_id, w.of.exec));
  } catch (...) {
    failure = ry::current_error();
  }
  if (failure) {
    context_.ctx.log_error("the files of a start could not be written to the workspace yet", *failure);
    co_await context_.ctx.switch_to(w.of.exec);
  }
}

void run_starter::count_start(const start_result& run) const {
  std::string_view label = name_of(run.outcome);
  if (run.outcome == start_outcome::ok) label = run.fence == 0 ? "queued" : "here";
  if (run.outcome == start_outcome::queued) label = "waiting";
  if (run.outcome == start_outcome::replay) label = "replayed";
  context_.metrics.starts.add(label);
}

void run_starter::wake_queue() {
  context_.run_placement.note_queued();
  context_.ctx.jobs().wake("runs");
}

void run_starter::begin_run(const work& w, const start_result& run) {
  run_identity identity;
  identity.run = w.args.run;
  identity.account = w.of.requester.uuid;
  identity.project = ry::uuid::parse(run.project_id).value_or(ry::uuid());
  identity.thread = ry::uuid::parse(run.thread_id).value_or(ry::uuid());
  identity.agent = ry::uuid::parse(run.agent_id).value_or(ry::uuid());
  identity.agent_version = run.agent_version;
  identity.model = run.model;
  identity.title = w.args.title;
  identity.parameters = w.args.form.parameters;
  if (!w.args.form.options.empty()) identity.options = std::make_shared<run_options>(w.args.form.options);
  identity.mode = w.args.form.mode.value_or(run_mode::agent);
  identity.memory = w.args.form.memory_enabled.value_or(true);
  identity.job = run.job;
  identity.fence = run.fence;
  identity.started_us = context_.ctx.mono_us();
  identity.deadline_us = identity.started_us + context_.config.timeout_seconds * 1'000'000;
  auto live = std::make_shared<live_run>(context_.ctx, std::move(identity), w.of.exec, 1, first_reservation);
  live->events.buffer.seed(w.args.first_event);
  if (run.fresh_thread && w.args.body) {
    live->progress.messages.push_back({"user", *w.args.body, belongs::to_this_run});
    live->progress.messages_known = true;
  }
  live->progress.uploads_waiting = !w.of.files.empty();
  live->progress.spending = w.args.form.budget;
  // After a very slow commit, the job may have been reclaimed and then claimed by this node.
  if (context_.live.find(live->who.run)) return;
  context_.live.put(live);
  const ry_status st =
      context_.ctx.jobs().adopt("runs.execute", run.job, run.fence, "{\"run_id\":\"" + run.run_id + "\"}");
  if (st != RY_OK) {
    // The job is durable: the instance that replaced this one runs it, or a worker claims it when the lease expires.
    live->end(event_broadcaster::ending::left);
    context_.live.remove(*live);
    if (st == RY_CANCELLED) return;
    const std::string status = ry::status_name(st);
    if (st == RY_UNAVAILABLE)  // this node is about to stop
      context_.ctx.info("another node will execute a started run: this node is stopping",
                        {{"run", run.run_id}, {"status", status}});
    else
      context_.ctx.warn(
          "this node could not take the job of a started run; another node claims it when the lease expires",
          {{"run", run.run_id}, {"status", status}});
  }
}

void run_starter::throw_refusal(const work& w, const start_result& run) const {
  const std::string tier = ry::text(w.of.requester.tier->name);
  const std::string model = w.args.model.value_or(context_.config.default_model);
  start_refusal refused = refusal_of(run.outcome, {tier, model, w.args.max_threads, w.args.max_runs, run.detail});
  if (refused.http_status == 0)
    throw ry::internal("runs.start", "unexpected outcome " + std::string(name_of(run.outcome)));
  if (run.outcome == start_outcome::thread_limit) ry::account_limit(context_.ctx, "threads").add();
  if (run.outcome == start_outcome::run_limit) ry::account_limit(context_.ctx, "agent_runs").add();
  // Unlike the other refusals, this response has no error code; callers of runs/1 check the reason of the error.
  if (run.outcome == start_outcome::key_reused)
    throw ry::http_error(refused.http_status, RY_ALREADY_EXISTS, RY_RUNS_KEY_REUSED, std::move(refused.message));
  const ry::error answer = refusal(refused.http_status, std::move(refused.message), std::move(refused.detail_json));
  throw run.outcome == start_outcome::prompts_full ? answer.with_retry_after(prompts_full_retry_s) : answer;
}

}  // namespace runs
