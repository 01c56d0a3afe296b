#include "api/runs_service.hpp"

#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "api/run_reader.hpp"
#include "api/service_start.hpp"
#include "api/spooled_files.hpp"
#include "error_response.hpp"
#include "module_context.hpp"
#include "settings/model_choice.hpp"
#include "text.hpp"
#include "workspace/upload_parser.hpp"

namespace runs {
namespace {

void fail(ry_run_json_fn fn, void* ctx, const ry::error& e) {
  const ry_error_view v = e.view();
  fn(ctx, e.status() == RY_OK ? RY_INTERNAL : e.status(), ry_str{}, &v);
}

std::string text_of(const ry_uuid& id) {
  return ry::uuid(id).to_string();
}

query_values values_of(const ry_run_field* fields, std::size_t n) {
  query_values out;
  for (std::size_t i = 0; i < n; ++i) out.emplace_back(ry::text(fields[i].name), ry::text(fields[i].value));
  return out;
}

}  // namespace

// A start in progress: owns copies of the caller's data.
struct runs_service::start_call {
  struct file {
    std::string name, media_type, content;
  };
  ry::uuid account;
  query_values fields;
  std::vector<file> files;
  std::string key;
  ry_tx* tx = nullptr;
  ry_exec* exec = nullptr;
  ry_run_started_fn fn = nullptr;
  void* ctx = nullptr;

  void fail(const ry::error& e) const {
    const ry_error_view v = e.view();
    fn(ctx, e.status() == RY_OK ? RY_INTERNAL : e.status(), nullptr, &v);
  }
};

void runs_service::check_files(const start_call& call, const ry_tier_view& tier) {
  if (static_cast<std::int64_t>(call.files.size()) > tier.upload_files)
    refuse_upload(tier.upload_files,
                  "Too many files: your plan allows " + std::to_string(tier.upload_files) + " per start");
  for (const start_call::file& f : call.files)
    if (static_cast<std::int64_t>(f.content.size()) > tier.upload_file_bytes)
      refuse_upload(tier.upload_file_bytes, "A file is larger than your plan allows (" +
                                                size_text(static_cast<std::uint64_t>(tier.upload_file_bytes)) + ")");
}

ry::task<void> runs_service::start(std::unique_ptr<start_call> call) {
  std::optional<ry::error> failure;
  run_starter::started started;
  std::optional<ry::tx> in;
  spooled_files spooled(std::string(context_.ctx.fact("data_dir")));
  std::vector<std::string> paths;  // of the files
  if (call->tx != nullptr) in.emplace(context_.ctx.db().borrow(call->tx, call->exec));
  try {
    run_starter::order order;
    order.requester = co_await find_account(call->account);
    order.exec = call->exec;
    if (in) order.in = &*in;
    if (!call->key.empty()) order.key = call->key;
    for (const auto& [name, value] : call->fields) order.fields.push_back({name, value});
    auto parsed = parse_service_start(order.fields);
    if (auto* refused = std::get_if<form_refusal>(&parsed)) throw refusal(refused->http_status, refused->detail);
    order.form = std::move(std::get<start_request>(parsed));
    check_files(*call, *order.requester.tier);
    if (!in) co_await starter_.check_room(order.requester, order.key);
    if (!call->files.empty()) {
      paths = co_await context_.ctx.run_blocking([&call, &spooled] {
        std::vector<std::string> out;
        for (const start_call::file& f : call->files) out.push_back(spooled.add(f.content));
        return out;
      });
      for (std::size_t i = 0; i < paths.size(); ++i) {
        const start_call::file& f = call->files[i];
        order.files.push_back({true, "files", f.name, f.media_type, {}, paths[i], f.content.size()});
      }
    }
    started = co_await starter_.start(std::move(order));
  } catch (...) {
    failure = ry::current_error();
  }
  if (in) in->release();
  co_await context_.ctx.switch_to(call->exec);
  if (failure) {
    call->fail(*failure);
    co_return;
  }
  const start_result& run = started.run;
  ry_run_started out{};
  out.struct_size = sizeof out;
  out.replayed = run.outcome == start_outcome::replay ? 1 : 0;
  out.queue_position = parse_int(started.queue_position).value_or(0);
  out.run_id = ry::str(run.run_id);
  out.thread_id = ry::str(run.thread_id);
  out.project_id = ry::str(run.project_id);
  out.message_id = ry::str(run.message_id);
  call->fn(call->ctx, RY_OK, &out, nullptr);
}

ry::task<caller> runs_service::find_account(ry::uuid account) {
  ry::result<caller> owner = co_await ry::call<caller, const ry_account_view*>(
      [this, &account](ry_exec* exec, ry_account_fn fn, void* ctx) {
        return context_.accounts->find(context_.accounts.self(), &account, exec, fn, ctx);
      },
      [](const ry_account_view* a) {
        return caller{ry::text(a->account_id_text), a->account_id, a->role, a->tier};
      });
  co_return std::move(owner).value();
}

ry::task<std::string> runs_service::models(ry::uuid account) {
  const caller owner = co_await find_account(account);
  const std::string standard = default_model(context_.config, *owner.tier).model;
  std::string out;
  for (const std::string& model : allowed_models(context_.config, *owner.tier)) {
    if (!out.empty()) out += ',';
    out += "{\"id\":" + json_string(model) + ",\"default\":" + (model == standard ? "true" : "false") +
           ",\"context_tokens\":" + std::to_string(context_.config.window_of(model)) +
           ",\"vision\":" + (context_.config.sees(model) ? "true" : "false") + "}";
  }
  co_return "{\"models\":[" + out + "]}";
}

ry::task<std::string> runs_service::stop(std::string account, std::string run) {
  const std::string status = co_await ry::shield(stopper_.stop_run(account, run));
  co_return "{\"status\":" + json_string(status) + "}";
}

ry::task<std::string> runs_service::list(std::string account, query_values query) {
  const std::optional<std::string> thread = value_of(query, "thread_id");
  if (!thread) co_return co_await runs_.list_json(std::move(account), std::move(query));
  co_return co_await runs_.thread_list_json(std::move(account), uuid_param(*thread), std::move(query));
}

ry::task<std::string> runs_service::approvals(std::string account, query_values query) {
  std::optional<std::string> run = value_of(query, "run_id");
  if (run) run = uuid_param(*run);
  co_return co_await approvals_.list_json(std::move(account), std::move(run), std::move(query));
}

ry::task<std::string> runs_service::delete_thread(std::string account, std::string thread) {
  // Not inside `switch`: g++ 12 miscompiles an await there.
  const thread_routes::erasure done = co_await threads_.erase(std::move(account), std::move(thread));
  switch (done) {
    case thread_routes::erasure::not_found:
      throw refusal(404, "Thread not found");
    case thread_routes::erasure::busy:
      throw refusal(409, "The thread has a run in progress");
    case thread_routes::erasure::done:
      break;
  }
  co_return "{}";
}

ry_status runs_service::answer(ry::task<std::string> work, ry_exec* exec, ry_run_json_fn fn, void* ctx) {
  const auto body = [](const ry::context& host, ry::task<std::string> work, ry_exec* exec, ry_run_json_fn fn,
                       void* ctx) -> ry::task<void> {
    std::string json;
    std::optional<ry::error> failure;
    try {
      json = co_await std::move(work);
    } catch (...) {
      failure = ry::current_error();
    }
    co_await host.switch_to(exec);
    if (failure)
      fail(fn, ctx, *failure);
    else
      fn(ctx, RY_OK, ry::str(json), nullptr);
  };
  // Posted, because the completion must not be called inside the starting call.
  context_.ctx.post(exec,
                    [this, exec, fn, ctx,
                     task = std::make_shared<ry::task<void>>(body(context_.ctx, std::move(work), exec, fn, ctx))] {
                      if (!context_.ctx.spawn(std::move(*task), exec)) fn(ctx, RY_CANCELLED, ry_str{}, nullptr);
                    });
  return RY_OK;
}

struct runs_service::c {
  static runs_service& of(void* self) { return *static_cast<runs_service*>(self); }

  static ry_status start(void* self, const ry_run_start* s, ry_exec* exec, ry_run_started_fn fn, void* ctx) noexcept {
    return ry::guard([&] {
      if (s->n_files != 0 && s->tx != nullptr)
        throw ry::bad_request("runs.files", "files cannot be part of the caller's transaction");
      auto call = std::make_shared<std::unique_ptr<start_call>>(std::make_unique<start_call>());
      start_call& to = **call;
      to.account = s->account_id;
      to.fields = values_of(s->fields, s->n_fields);
      const auto* at = reinterpret_cast<const char*>(s->files);
      for (std::size_t i = 0; i < s->n_files; ++i, at += s->file_stride) {
        const auto* f = reinterpret_cast<const ry_run_file*>(at);
        to.files.push_back({ry::text(f->name), ry::text(f->media_type), ry::text(f->content)});
      }
      to.key = ry::text(s->idempotency_key);
      to.tx = s->tx;
      to.exec = exec;
      to.fn = fn;
      to.ctx = ctx;
      runs_service* service = &of(self);
      service->context_.ctx.post(exec, [service, call, exec, fn, ctx] {
        if (!service->context_.ctx.spawn(service->start(std::move(*call)), exec))
          fn(ctx, RY_CANCELLED, nullptr, nullptr);
      });
    });
  }

  static void wake(void* self) noexcept {
    (void)ry::guard([&] { of(self).starter_.wake_queue(); });
  }

  using handle = std::shared_ptr<run_reader>;
  // The database counts with signed numbers.
  static constexpr std::uint64_t last_number = std::numeric_limits<std::int64_t>::max() - 1;

  static ry::task<void> read(runs_service& s, handle reader, ry_run_follow what) {
    std::optional<ry::error> failure;
    try {
      follow_options options;
      options.next = std::min(what.after, last_number) + 1;
      options.snapshot = (what.flags & RY_RUN_SNAPSHOT) != 0;
      options.merge_ms = std::min(what.merge_ms, max_merge_ms);
      event_follower::position at = co_await s.follower_.find(what.run_id, what.account_id, options.next);
      const auto viewer =
          (what.flags & RY_RUN_BACKGROUND) != 0 ? event_follower::viewer::no : event_follower::viewer::yes;
      if (at.has_all)
        reader->close(event_sink::ending::finished);
      else
        co_await s.follower_.follow(*reader, what.run_id, std::move(at), options, viewer);
    } catch (...) {
      failure = ry::current_error();
    }
    reader->finish(failure ? &*failure : nullptr);
  }

  static ry_status follow(void* self, const ry_run_follow* what, ry_exec* exec, const ry_run_sink* sink, void* ctx,
                          void** reader) noexcept {
    const ry_status st = ry::guard([&] {
      runs_service* service = &of(self);
      auto own = std::make_shared<run_reader>(service->context_.ctx, exec, *sink, ctx);
      auto out = std::make_unique<handle>(own);
      // Set before the post, because the sink may be called at once on another thread.
      *reader = out.get();
      service->context_.ctx.post(exec, [service, own, exec, what = *what] {
        if (!service->context_.ctx.spawn(read(*service, own, what), exec, own->cancel())) own->finish(nullptr);
      });
      (void)out.release();
    });
    if (st != RY_OK) *reader = nullptr;
    return st;
  }

  static void resume(void*, void* reader) noexcept {
    (void)ry::guard([&] { (*static_cast<handle*>(reader))->resume(); });
  }

  static void close(void*, void* reader) noexcept {
    const std::unique_ptr<handle> own(static_cast<handle*>(reader));
    (void)ry::guard([&] { (*own)->release(); });
  }

  static ry_status stop(void* self, const ry_uuid* account, const ry_uuid* run, ry_exec* exec, ry_run_json_fn fn,
                        void* ctx) noexcept {
    return ry::guard([&] { of(self).answer(of(self).stop(text_of(*account), text_of(*run)), exec, fn, ctx); });
  }

  static ry_status get(void* self, const ry_uuid* account, const ry_uuid* run, ry_exec* exec, ry_run_json_fn fn,
                       void* ctx) noexcept {
    return ry::guard(
        [&] { of(self).answer(of(self).runs_.get_json(text_of(*account), text_of(*run)), exec, fn, ctx); });
  }

  static ry_status list(void* self, const ry_uuid* account, const ry_run_field* query, std::size_t n, ry_exec* exec,
                        ry_run_json_fn fn, void* ctx) noexcept {
    return ry::guard([&] { of(self).answer(of(self).list(text_of(*account), values_of(query, n)), exec, fn, ctx); });
  }

  static ry_status messages(void* self, const ry_uuid* account, const ry_uuid* thread, const ry_run_field* query,
                            std::size_t n, ry_exec* exec, ry_run_json_fn fn, void* ctx) noexcept {
    return ry::guard([&] {
      of(self).answer(of(self).threads_.messages_json(text_of(*account), text_of(*thread), values_of(query, n)), exec,
                      fn, ctx);
    });
  }

  static ry_status delete_thread(void* self, const ry_uuid* account, const ry_uuid* thread, ry_exec* exec,
                                 ry_run_json_fn fn, void* ctx) noexcept {
    return ry::guard(
        [&] { of(self).answer(of(self).delete_thread(text_of(*account), text_of(*thread)), exec, fn, ctx); });
  }

  static ry_status approvals(void* self, const ry_uuid* account, const ry_run_field* query, std::size_t n,
                             ry_exec* exec, ry_run_json_fn fn, void* ctx) noexcept {
    return ry::guard(
        [&] { of(self).answer(of(self).approvals(text_of(*account), values_of(query, n)), exec, fn, ctx); });
  }

  static ry_status decide(void* self, const ry_uuid* account, const ry_uuid* approval, ry_str decision, ry_exec* exec,
                          ry_run_json_fn fn, void* ctx) noexcept {
    return ry::guard([&] {
      of(self).answer(of(self).approvals_.decide_json(text_of(*account), text_of(*approval), ry::text(decision)), exec,
                      fn, ctx);
    });
  }

  static ry_status tool_results(void* self, const ry_uuid* account, const ry_uuid* run, ry_str body, ry_exec* exec,
                                ry_run_json_fn fn, void* ctx) noexcept {
    return ry::guard([&] {
      of(self).answer(of(self).approvals_.tool_results_json(text_of(*account), text_of(*run), ry::text(body)), exec, fn,
                      ctx);
    });
  }

  static std::int32_t tool_action(void* self, const ry_run_tool_call* call) noexcept {
    std::int32_t out = RY_RUN_TOOL_DENY;  // also if the memory is exhausted
    (void)ry::guard([&] {
      const tool_policy& policy = of(self).context_.config.tools;
      const auto name = ry::view(call->name);
      const runs::tool_action action = (call->flags & RY_RUN_TOOL_ANY_CALL) != 0
                                           ? mildest_action_for(policy, name)
                                           : action_for(policy, {}, name, false, ry::view(call->arguments_json));
      out = action == runs::tool_action::run   ? RY_RUN_TOOL_RUN
            : action == runs::tool_action::ask ? RY_RUN_TOOL_ASK
                                               : RY_RUN_TOOL_DENY;
    });
    return out;
  }

  static ry_status models(void* self, const ry_uuid* account, ry_exec* exec, ry_run_json_fn fn, void* ctx) noexcept {
    return ry::guard([&] { of(self).answer(of(self).models(*account), exec, fn, ctx); });
  }
};

const ry_runs_v1* runs_service::table() {
  static constexpr ry_runs_v1 out{sizeof(ry_runs_v1),
                                  0,
                                  &c::start,
                                  &c::wake,
                                  &c::follow,
                                  &c::resume,
                                  &c::close,
                                  &c::stop,
                                  &c::get,
                                  &c::list,
                                  &c::messages,
                                  &c::delete_thread,
                                  &c::models,
                                  &c::approvals,
                                  &c::decide,
                                  &c::tool_results,
                                  &c::tool_action};
  return &out;
}

}  // namespace runs
