#include "api/start_route.hpp"

#include <fcntl.h>
#include <sodium.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <ry/cpp/text.hpp>
#include <ry/cpp/utf8.hpp>

#include "account_limits.hpp"
#include "api/start_form.hpp"
#include "error_response.hpp"
#include "module_context.hpp"
#include "settings/model_choice.hpp"
#include "text.hpp"
#include "without_protection.hpp"
#include "workspace/upload_parser.hpp"

namespace runs {
namespace {

constexpr std::int64_t first_reservation = 32;
constexpr std::uint32_t retry_after_s = 5;  // of a transient error, for example if the database is unavailable
constexpr std::uint64_t max_field_bytes = 1 << 20;
constexpr std::uint32_t max_parts = 1000;

// A member of the host's {"message", "limit", "field"}.
std::string member_of(const boost::json::object& o, std::string_view key) {
  const boost::json::value* v = o.if_contains(key);
  if (v == nullptr) return {};
  if (v->is_string()) return std::string(v->as_string());
  return v->is_number() ? std::to_string(v->to_number<std::uint64_t>()) : std::string();
}

[[noreturn]] void reject_total_size(std::int64_t limit) {
  const std::string sentence =
      "The files of a start must not exceed " + size_text(static_cast<std::uint64_t>(limit)) + " in total";
  refuse_upload(limit, sentence);
}

enum class body_kind { none, some };

// Converts the host's errors about exceeded form limits to the errors of the API contract.
[[noreturn]] void throw_form_error(const ry::error& e, const ry_tier_view& tier, const ry_form_limits& limits,
                                   body_kind body) {
  if (e.is("http.form_file_too_large")) {
    const std::string sentence = "A file is larger than your plan allows (" +
                                 size_text(static_cast<std::uint64_t>(tier.upload_file_bytes)) + ")";
    refuse_upload(tier.upload_file_bytes, sentence);
  }
  if (e.is("http.form_too_many_files")) {
    const std::string sentence = "Too many files: your plan allows " + std::to_string(tier.upload_files) + " per start";
    refuse_upload(tier.upload_files, sentence);
  }
  if (e.is("http.form_too_many_parts"))
    throw refusal(400, "The form has too many parts: at most " + std::to_string(limits.max_parts) + " are allowed");
  if (e.is("http.form_too_large")) {
    boost::system::error_code bad;
    const boost::json::value error_detail = boost::json::parse(std::string(e.detail_json()), bad);
    const auto none = boost::json::object();
    const boost::json::object& o = !bad && error_detail.is_object() ? error_detail.as_object() : none;
    const std::string limit = member_of(o, "limit"), field = member_of(o, "field");
    if (limit == std::to_string(limits.max_total_bytes))
      reject_total_size(static_cast<std::int64_t>(limits.max_total_bytes));
    if (limit != std::to_string(limits.max_value_bytes))
      throw refusal(400, "The fields of the form are too long in total; the limit was exceeded in " +
                             (field.empty() ? "the last field" : field.substr(0, 100)) + ": at most " +
                             size_text(static_cast<std::uint64_t>(parse_int(limit).value_or(0))));
    throw refusal(400, (field.empty() ? "A field" : field.substr(0, 100)) + " is too long: at most " +
                           size_text(limits.max_value_bytes));
  }
  // A body that is not a form contains no prompt. An empty body needs no content type.
  if (e.is("http.form_malformed") && e.http_status() == 415) {
    const std::string sentence = "prompt required when creating new thread";
    if (body == body_kind::none) throw refusal(400, sentence);
    throw refusal(400, sentence + ": " + std::string(e.message()));
  }
  if (e.status() == RY_INVALID_ARGUMENT && e.http_status() == 0) throw refusal(400, std::string(e.message()));
  throw e;
}

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

ry::task<void> start_route::serve(ry::request request) {
  try {
    const ry::response out = co_await create_response(request);
    request.respond(out);
  } catch (const ry::error& e) {
    const ry_status st = e.status();
    if (st == RY_CANCELLED && request.cancel().why() == RY_REASON_SHUTDOWN)
      throw refusal(503, "The server is stopping");
    const bool is_server_fault = st == RY_INTERNAL || st == RY_UNKNOWN || st == RY_UNAVAILABLE || st == RY_ABORTED ||
                                 st == RY_DEADLINE_EXCEEDED || st == RY_DATA_LOSS;
    if (e.http_status() != 0 || !is_server_fault) throw;
    context_.ctx.log_error("a run could not be started", e);
    // Uses fail(), because the host hides the message of a thrown internal error from the client.
    const bool is_transient = st == RY_UNAVAILABLE || st == RY_ABORTED || st == RY_DEADLINE_EXCEEDED;
    if (is_transient) {
      const std::string sentence = "Failed to start agent: a part of the server does not respond; try again later";
      request.fail(refusal(503, sentence, json_string(sentence)).with_retry_after(retry_after_s));
    } else {
      const std::string sentence = "Failed to start agent: internal error";
      request.fail(refusal(500, sentence, json_string(sentence)));
    }
  }
}

ry::task<ry::response> start_route::create_response(ry::request request) {
  const std::int64_t started_us = context_.ctx.mono_us();
  work w;
  w.exec = request.exec();
  w.requester = co_await caller_of(context_.accounts, request);
  start_arguments& a = w.args;
  if (const std::string_view key = request.header("Idempotency-Key"); !key.empty()) {
    if (key.size() > 255 || !ry::is_utf8(key)) throw refusal(400, "Idempotency-Key must be UTF-8 of at most 255 bytes");
    a.key = std::string(key);
  }
  if (!context_.run_placement.has_room(ry::view(w.requester.tier->name)))
    co_await reject_unless_replay(w);  // before the files are read
  ry_form_limits limits{};
  limits.max_files = static_cast<std::uint32_t>(w.requester.tier->upload_files);
  limits.max_file_bytes = static_cast<std::uint64_t>(w.requester.tier->upload_file_bytes);
  limits.max_total_bytes = static_cast<std::uint64_t>(context_.config.upload_total_bytes);
  limits.max_value_bytes = max_field_bytes;
  limits.max_parts = max_parts;
  if (const auto length = parse_int(request.header("Content-Length"));
      length && *length > context_.config.upload_total_bytes)
    reject_total_size(context_.config.upload_total_bytes);
  ry::result<ry::form> form = co_await request.read_form(limits);
  if (!form) {
    const bool has_body =
        !request.header("Transfer-Encoding").empty() || parse_int(request.header("Content-Length")).value_or(0) != 0;
    throw_form_error(form.error(), *w.requester.tier, limits, has_body ? body_kind::some : body_kind::none);
  }

  std::vector<form_field> fields;
  for (const ry::form_part& part : form->parts()) {
    if (!part.is_file)
      fields.push_back({part.name, part.value});
    else if (is_start_field(part.name))
      throw refusal(400, std::string(part.name) + " must not be a file");
    else if (!part.filename.empty() || part.size != 0)  // browsers send an empty part if no file is selected
      w.files.push_back(part);
  }
  auto parsed = parse_start(fields);
  if (auto* refused = std::get_if<form_refusal>(&parsed)) throw refusal(refused->http_status, refused->detail);
  a.form = std::move(std::get<start_request>(parsed));

  if (a.key) {
    // Clients rebuild the form for a retry, so fields may arrive in any order. Only the order of files with the same
    // name is significant.
    const auto by_name = [](const auto& a, const auto& b) { return a.name < b.name; };
    std::stable_sort(fields.begin(), fields.end(), by_name);
    std::vector<ry::form_part> files = w.files;
    std::stable_sort(files.begin(), files.end(), by_name);
    form_hash hash;
    for (const form_field& f : fields) {
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
    a.hash = hash.hex();
  }

  a.account = w.requester.id;
  co_await check_prompt_rate(w);
  a.new_thread = context_.ctx.new_uuid();
  a.new_project = context_.ctx.new_uuid();
  a.run = context_.ctx.new_uuid();
  a.message = context_.ctx.new_uuid();
  a.title = title_of(a.form.prompt);
  const placement::ticket ticket = context_.run_placement.take();
  if (ticket.goes == placement::way::here)
    a.node = context_.node_id;
  else if (!context_.run_placement.queue_has_room(
               ry::view(w.requester.tier->name)))  // checked again, because many starts may have arrived together
    co_await reject_unless_replay(w);
  a.timeout_seconds = context_.config.timeout_seconds;
  a.reserve = first_reservation;
  a.max_waiting = context_.config.max_waiting_runs;
  event_text(a.first_event, 1, "status").text("status", "running");

  start_result run;
  std::optional<upload_parser> uploads;
  for (int attempt = 1;; ++attempt) {
    try {
      if (w.files.empty())
        run = co_await ry::shield(decide_start(w));  // a shutdown must not leave the outcome unknown
      else
        run = co_await decide_start_with_files(
            w, uploads.emplace(context_.ctx, context_.sandboxes, context_.workspaces, w.requester.id,
                               context_.quota.limits_of(ry::view(w.requester.tier->name)), w.files));
      break;
    } catch (const ry::error& e) {
      // Two concurrent starts created the same client-chosen id; the next attempt finds the existing row.
      if (e.status() != RY_ALREADY_EXISTS || attempt == 5) throw;
    }
  }
  if (run.outcome == start_outcome::thread_not_found) co_await refine_not_found(a, run);
  const bool queued = run.outcome == start_outcome::queued;
  count_start(run);
  if (is_granted(run.outcome))
    prompts_.add(w.requester.id, static_cast<std::int64_t>(a.form.prompt.size()),
                 prompt_limit(context_.config, w.requester), context_.ctx.mono_us());
  std::string queue_position;
  if (run.outcome == start_outcome::ok && run.fence == 0)
    wake_queue();
  else if (run.outcome == start_outcome::ok)
    begin_run(w, run, request.exec());
  else if (queued)
    queue_position = run.detail;
  else if (run.outcome == start_outcome::replay)
    queue_position = (co_await context_.repo.first_place(run.run_id)).value();
  else
    throw_refusal(w, run);
  if (uploads && is_granted(run.outcome)) co_await place_files(w, *uploads, run);

  const std::int64_t elapsed_us = context_.ctx.mono_us() - started_us;
  std::string body = "{\"thread_id\":\"" + run.thread_id + "\",\"agent_run_id\":\"" + run.run_id +
                     "\",\"project_id\":\"" + run.project_id + "\"";
  if (!run.sandbox_id.empty()) body += ",\"sandbox_id\":\"" + run.sandbox_id + "\"";
  body += ",\"status\":\"running\"";
  if (!queue_position.empty()) body += ",\"queue_position\":" + queue_position;
  if (w.requester.role == RY_ROLE_SUPER_ADMIN && ry::lower_ascii(trim(request.header("X-Emit-Timing"))) == "true")
    body += ",\"timing_breakdown\":{\"setup_ms\":" + milliseconds_text(elapsed_us) + "}";
  body += "}";
  ry::response out = ry::response::json(200, std::move(body));
  out.header("Server-Timing", "setup;dur=" + milliseconds_text(elapsed_us));
  if (run.outcome == start_outcome::replay) out.header("Idempotency-Replayed", "true");
  co_return out;
}

ry::task<void> start_route::check_prompt_rate(work& w) {
  const std::int64_t limit = prompt_limit(context_.config, w.requester);
  const std::int64_t wait = prompts_.wait_seconds(w.requester.id, static_cast<std::int64_t>(w.args.form.prompt.size()),
                                                  limit, context_.ctx.mono_us());
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
ry::task<void> start_route::refine_not_found(const start_arguments& a, start_result& run) const {
  if (!a.form.thread_id || !a.form.project_id) co_return;
  ry::result<std::optional<std::string>> thread = co_await context_.repo.thread_json(a.account, *a.form.thread_id);
  if (thread.value()) run.outcome = start_outcome::project_not_found;
}

ry::task<bool> start_route::is_replay(work& w) {
  if (!w.args.key) co_return false;
  if (!w.is_replay) {
    ry::result<bool> known = co_await context_.repo.has_key(w.requester.id, *w.args.key);
    w.is_replay = known.value();
  }
  co_return *w.is_replay;
}

ry::task<void> start_route::reject_unless_replay(work& w) {
  const bool replay = co_await is_replay(w);
  if (!replay) context_.run_placement.refuse();
}

ry::task<start_result> start_route::decide_start(work& w) {
  if (!w.args.form.prompt.empty()) w.args.body = user_body(w.args.form.prompt);
  start_result out;
  if (w.args.form.on_busy == busy_policy::interrupt) {
    ry::result<ry::tx> opened = co_await context_.repo.begin();
    ry::tx tx = std::move(opened).value();
    out = co_await request_start(w, &tx);
    co_await enqueue_interrupt(w, out, tx);
    ry::result<void> committed = co_await tx.commit();
    committed.value();
    if (out.outcome == start_outcome::queued) context_.ctx.jobs().wake("runs");
  } else {
    out = co_await request_start(w, nullptr);
  }
  co_return out;
}

// Part of the start's commit, so that the job runs even if this node crashes.
ry::task<void> start_route::enqueue_interrupt(const work& w, const start_result& run, ry::tx& in) {
  if (w.args.form.on_busy != busy_policy::interrupt || run.outcome != start_outcome::queued) co_return;
  ry::job_request job("runs.interrupt", "{\"account_id\":\"" + w.args.account + "\",\"thread_id\":\"" + run.thread_id +
                                            "\",\"run_id\":\"" + run.run_id + "\"}");
  job.queue("runs");
  ry::result<std::int64_t> job_id = co_await context_.ctx.jobs().enqueue(in, std::move(job));
  job_id.value();
}

// Repeats until the arguments match: the tier or the agent's model may differ from the values cached on this node.
ry::task<start_result> start_route::request_start(work& w, ry::tx* in) {
  start_arguments& a = w.args;
  const ry_tier_view* tier = w.requester.tier;
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
      w.requester.tier = tier;
    } else if (out->outcome == start_outcome::model) {
      requested = out->detail;
    } else {
      co_return std::move(*out);
    }
  }
  throw ry::unavailable("runs.start", "the account kept changing");
}

// Executes the start alone in the given transaction, or batched with other starts.
ry::task<ry::result<start_result>> start_route::execute_start(const work& w, ry::tx* in) {
  if (in == nullptr) {
    ry::result<start_result> out = co_await context_.starts.start(w.args, w.exec);
    co_return out;
  }
  const start_arguments* starts[] = {&w.args};
  ry::result<std::vector<start_result>> out = co_await context_.repo.start(starts, repository::on_lock::wait, in);
  if (!out) co_return out.error();
  co_return std::move(out->front());
}

ry::task<start_result> start_route::decide_start_with_files(work& w, upload_parser& uploads) {
  w.args.sandbox = context_.ctx.new_uuid().to_string();
  std::optional<std::string> project;
  if (uploads.is_large()) {
    // Decides about the start and rolls back, so that a rejected start stores no files in the database.
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
    out = co_await commit_start_with_files(w, uploads);
  } catch (...) {
    failure = std::current_exception();
  }
  if (project && (failure || !is_granted(out->outcome))) co_await ry::shield(uploads.discard(*project));
  if (failure) std::rethrow_exception(failure);
  co_return std::move(*out);
}

ry::task<start_result> start_route::commit_start_with_files(work& w, upload_parser& uploads) {
  ry::result<ry::tx> opened = co_await context_.repo.begin();
  ry::tx tx = std::move(opened).value();
  start_result out = co_await request_start(w, &tx);
  if (!is_granted(out.outcome)) {
    (void)co_await tx.rollback();
    co_return out;
  }
  std::vector<upload_record> records = co_await uploads.keep(tx, out.project_id);
  std::vector<attached_file> attached;
  attached.reserve(records.size());
  for (const upload_record& r : records) attached.push_back({r.name, static_cast<std::uint64_t>(r.size)});
  w.args.body = user_body(prompt_with_files(w.args.form.prompt, attached));
  ry::result<void> attached_uploads =
      co_await context_.repo.attach_uploads(tx, out, w.args.message, *w.args.body, std::move(records));
  attached_uploads.value();
  co_await enqueue_interrupt(w, out, tx);
  ry::result<void> committed = co_await tx.commit();
  committed.value();
  if (out.outcome == start_outcome::queued) context_.ctx.jobs().wake("runs");
  co_return out;
}

// The run has already begun and waits for its workspace. If the files cannot be placed here, its worker reads them from
// the database.
ry::task<void> start_route::place_files(const work& w, upload_parser& uploads, const start_result& run) {
  std::optional<ry::error> failure;
  try {
    co_await ry::shield(uploads.place(run.project_id, w.exec));
  } catch (...) {
    failure = ry::current_error();
  }
  if (failure) {
    context_.ctx.log_error("the files of a start could not be written to the workspace yet", *failure);
    co_await context_.ctx.switch_to(w.exec);
  }
}

void start_route::count_start(const start_result& run) const {
  std::string_view label = name_of(run.outcome);
  if (run.outcome == start_outcome::ok) label = run.fence == 0 ? "queued" : "here";
  if (run.outcome == start_outcome::queued) label = "waiting";
  if (run.outcome == start_outcome::replay) label = "replayed";
  context_.metrics.starts.add(label);
}

// Any node with a free permit may claim the run, including this one.
void start_route::wake_queue() {
  context_.run_placement.note_queued();
  context_.ctx.jobs().wake("runs");
}

void start_route::begin_run(const work& w, const start_result& run, ry_exec* exec) {
  run_identity identity;
  identity.run = w.args.run;
  identity.account = w.requester.uuid;
  identity.project = ry::uuid::parse(run.project_id).value_or(ry::uuid());
  identity.thread = ry::uuid::parse(run.thread_id).value_or(ry::uuid());
  identity.agent = ry::uuid::parse(run.agent_id).value_or(ry::uuid());
  identity.agent_version = run.agent_version;
  identity.model = run.model;
  identity.title = w.args.title;
  identity.parameters = w.args.form.parameters;
  identity.mode = w.args.form.mode.value_or(run_mode::agent);
  identity.memory = w.args.form.memory_enabled.value_or(true);
  identity.job = run.job;
  identity.fence = run.fence;
  identity.started_us = context_.ctx.mono_us();
  identity.deadline_us = identity.started_us + context_.config.timeout_seconds * 1'000'000;
  auto live = std::make_shared<live_run>(context_.ctx, std::move(identity), exec, 1, first_reservation);
  live->events.buffer.seed(w.args.first_event);
  if (run.fresh_thread && w.args.body) {
    live->progress.messages.push_back({"user", *w.args.body, belongs::to_this_run});
    live->progress.messages_known = true;
  }
  live->progress.uploads_waiting = !w.files.empty();
  live->progress.spending = w.args.form.budget;
  // After a very slow commit, the job may have been reclaimed and then claimed by this node.
  if (context_.live.find(live->who.run)) return;
  context_.live.put(live);
  const ry_status st =
      context_.ctx.jobs().adopt("runs.execute", run.job, run.fence, "{\"run_id\":\"" + run.run_id + "\"}");
  if (st != RY_OK) {
    // The job is durable: another worker claims it when the lease expires.
    context_.live.remove(*live);
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

void start_route::throw_refusal(const work& w, const start_result& run) const {
  const std::string tier = ry::text(w.requester.tier->name);
  const std::string model = w.args.model.value_or(context_.config.default_model);
  start_refusal refused = refusal_of(run.outcome, {tier, model, w.args.max_threads, w.args.max_runs, run.detail});
  if (refused.http_status == 0)
    throw ry::internal("runs.start", "unexpected outcome " + std::string(name_of(run.outcome)));
  if (run.outcome == start_outcome::thread_limit) ry::account_limit(context_.ctx, "threads").add();
  if (run.outcome == start_outcome::run_limit) ry::account_limit(context_.ctx, "agent_runs").add();
  throw refusal(refused.http_status, std::move(refused.message), std::move(refused.detail_json));
}

}  // namespace runs
