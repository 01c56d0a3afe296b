// ry/testing_runs.hpp - the service runs/1 for unit tests of modules, with scripted runs.
//
//   ry::testing::fake_runs runs;                                  // before the host, whose module uses it to its end
//   ry::testing::fake_host host;
//   runs.provide(host);
//   runs.on_start({.run_id = id});
//   runs.add_events(id, {R"({"type": "status", "sequence": 1, "status": "running"})"});
//   runs.end(id);
//   host.load(*ry_module_entry());
//   EXPECT_EQ(runs.starts.at(0).field("prompt"), "Hello");
//
// Follows the rules of the header: completions come on the executor and never inside the call, a paused reader gets no
// events, and a closed one gets no calls. Not thread-safe.
#pragma once

#include <ry/svc/runs.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <ry/testing.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace ry::testing {

class fake_runs {
 public:
  using fields = std::vector<std::pair<std::string, std::string>>;

  // The result of a start. Empty ids are replaced by new ones.
  struct run_reply {
    std::string run_id = {}, thread_id = {}, project_id = {};
    bool replayed = false;
    std::int64_t queue_position = 0;
  };
  struct start_record {
    uuid account;
    fields form;
    struct file {
      std::string name, media_type, content;
    };
    std::vector<file> files;
    std::string key;
    ry_tx* tx = nullptr;
    // The value of the first field with this name.
    std::optional<std::string> field(std::string_view name) const {
      for (const auto& [n, v] : form)
        if (n == name) return v;
      return std::nullopt;
    }
  };
  struct follow_record {
    uuid account, run;
    std::uint64_t after = 0, merge_ms = 0;
    std::uint32_t flags = 0;
  };
  // A call of another function, such as "get" or "list".
  struct call_record {
    std::string function;
    uuid account;
    uuid id;  // of the run, thread or approval
    fields query;
    std::string json;  // of decide and tool_results
  };

  fake_runs() = default;
  fake_runs(const fake_runs&) = delete;
  fake_runs& operator=(const fake_runs&) = delete;

  void provide(fake_host& host) {
    host_ = &host;
    host.services[RY_SVC_RUNS_1] = {table(), this};
  }

  // ---- scripting ----
  // Results of starts, in order; the last one is used repeatedly. Without any, each start creates a new run.
  void on_start(run_reply reply) { replies_.emplace_back(std::move(reply)); }
  void on_start(error e) { replies_.emplace_back(std::move(e)); }
  // Appends events to a run; the first one has the number 1. Its readers get them with the next batch.
  void add_events(const std::string& run, std::vector<std::string> json) {
    run_script& r = script_of(run);
    for (std::string& text : json) r.events.push_back(std::move(text));
    notify(run);
  }
  // Ends the events of a run: on_end follows the last event. RY_CANCELLED also ends paused readers, like a stop of the
  // providing module.
  void end(const std::string& run, error with = error(RY_OK)) {
    script_of(run).end = std::move(with);
    notify(run);
  }
  // Lets a run that ended with RY_CANCELLED continue for new readers.
  void reopen(const std::string& run) { script_of(run).end.reset(); }
  // Results of all other functions (stop, get, list, ...), like those of starts.
  void on(const std::string& function, std::string json) { results_[function].emplace_back(std::move(json)); }
  void fail(const std::string& function, error e) { results_[function].emplace_back(std::move(e)); }
  std::size_t max_batch = 100;  // events of one call of the sink
  // Actions (RY_RUN_TOOL_*) by the name of the tool; default: RY_RUN_TOOL_RUN.
  std::map<std::string, std::int32_t> tool_actions;

  // ---- records ----
  std::vector<start_record> starts;
  std::vector<follow_record> follows;
  std::vector<call_record> calls;
  int wakes = 0;
  std::vector<std::string> violations;  // of the rules for readers
  // Readers that are not closed.
  std::size_t open_readers() const { return readers_.size(); }
  // Open readers that wait for resume().
  std::size_t paused_readers() const {
    std::size_t n = 0;
    for (const auto& r : readers_) n += r->paused ? 1 : 0;
    return n;
  }

 private:
  struct run_script {
    std::optional<uuid> account;  // nullopt: any
    std::vector<std::string> events;
    std::optional<error> end;
  };
  struct reader {
    fake_runs* of;
    std::string run;
    uuid account;
    std::uint64_t next;  // the first event that was not delivered
    ry_run_sink sink;
    void* ctx;
    bool paused = false, closed = false, ended = false, scheduled = false;
  };
  using reader_ptr = std::shared_ptr<reader>;

  run_script& script_of(const std::string& run) {
    const std::optional<uuid> id = uuid::parse(run);
    if (!id) throw std::invalid_argument("fake_runs: the id of a run must be a UUID: " + run);
    return runs_[id->to_string()];
  }
  void post(std::function<void()> f) const { host_->ctx().post(host_->exec(), std::move(f)); }
  void notify(const std::string& run) {
    for (const reader_ptr& r : readers_)
      if (uuid::parse(run) == uuid::parse(r->run)) schedule(r);
  }
  void schedule(const reader_ptr& r) const {
    if (std::exchange(r->scheduled, true)) return;
    post([r] {
      r->scheduled = false;
      if (!r->closed && !r->ended) r->of->deliver(r);
    });
  }
  void deliver(const reader_ptr& r) {
    const auto found = runs_.find(r->run);
    if (found == runs_.end() || (found->second.account && !(*found->second.account == r->account)))
      return finish(r, not_found("runs.not_found", "Run not found").with_http(404));
    const run_script& run = found->second;
    const bool cancelled = run.end && run.end->status() == RY_CANCELLED;
    if (r->paused) {
      if (cancelled) finish(r, *run.end);
      return;
    }
    std::vector<std::string> texts;  // copies, because the sink may append events
    std::uint64_t sequence = r->next;
    while (r->next <= run.events.size() && texts.size() < max_batch) texts.push_back(run.events[r->next++ - 1]);
    if (texts.empty()) {
      if (run.end) finish(r, *run.end);
      return;
    }
    std::vector<ry_run_event> batch;
    for (const std::string& t : texts) batch.push_back({sequence++, str(t)});
    const ry_status st = r->sink.on_events(r->ctx, batch.data(), batch.size(), sizeof batch[0]);
    if (r->closed) return;
    if (st == RY_RESOURCE_EXHAUSTED)
      r->paused = true;
    else if (st != RY_OK)
      return finish(r, error(st));
    schedule(r);
  }
  static void finish(const reader_ptr& r, const error& e) {
    r->ended = true;
    r->paused = false;
    const ry_error_view v = e.view();
    r->sink.on_end(r->ctx, e.status(), e.status() == RY_OK ? nullptr : &v);
  }

  template <class T>
  static T next_of(std::vector<T>& scripted) {
    T out = scripted.front();
    if (scripted.size() > 1) scripted.erase(scripted.begin());
    return out;
  }
  std::string new_id() const { return host_->ctx().new_uuid().to_string(); }

  void complete_start(const uuid& account, ry_run_started_fn fn, void* ctx) {
    const result<run_reply> scripted = replies_.empty() ? result<run_reply>(run_reply()) : next_of(replies_);
    if (!scripted) {
      const ry_error_view v = scripted.error().view();
      return fn(ctx, scripted.status(), nullptr, &v);
    }
    run_reply run = *scripted;
    for (std::string* id : {&run.run_id, &run.thread_id, &run.project_id})
      if (id->empty()) *id = new_id();
    run_script& script = script_of(run.run_id);
    if (!script.account) script.account = account;
    ry_run_started out{};
    out.struct_size = sizeof out;
    out.replayed = run.replayed ? 1 : 0;
    out.queue_position = run.queue_position;
    out.run_id = str(run.run_id);
    out.thread_id = str(run.thread_id);
    out.project_id = str(run.project_id);
    fn(ctx, RY_OK, &out, nullptr);
  }
  void complete_call(const std::string& function, ry_run_json_fn fn, void* ctx) {
    const auto scripted = results_.find(function);
    if (scripted == results_.end()) throw std::logic_error("fake_runs: no result of " + function + " is scripted");
    const result<std::string> out = next_of(scripted->second);
    if (out) return fn(ctx, RY_OK, str(*out), nullptr);
    const ry_error_view v = out.error().view();
    fn(ctx, out.status(), ry_str{}, &v);
  }

  static fields own(const ry_run_field* f, std::size_t n) {
    fields out;
    for (std::size_t i = 0; i < n; ++i) out.emplace_back(text(f[i].name), text(f[i].value));
    return out;
  }
  static fake_runs& of(void* self) noexcept { return *static_cast<fake_runs*>(self); }
  static ry_status record(void* self, call_record call, ry_run_json_fn fn, void* ctx) {
    fake_runs* me = &of(self);
    std::string function = call.function;
    me->calls.push_back(std::move(call));
    me->post([me, function = std::move(function), fn, ctx] { me->complete_call(function, fn, ctx); });
    return RY_OK;
  }

  static ry_status start(void* self, const ry_run_start* s, ry_exec*, ry_run_started_fn fn, void* ctx) noexcept {
    return guard([&] {
      fake_runs* me = &of(self);
      start_record record{s->account_id, own(s->fields, s->n_fields), {}, text(s->idempotency_key), s->tx};
      const auto* at = reinterpret_cast<const char*>(s->files);
      for (std::size_t i = 0; i < s->n_files; ++i, at += s->file_stride) {
        const auto* f = reinterpret_cast<const ry_run_file*>(at);
        record.files.push_back({text(f->name), text(f->media_type), text(f->content)});
      }
      me->starts.push_back(std::move(record));
      me->post([me, account = uuid(s->account_id), fn, ctx] { me->complete_start(account, fn, ctx); });
    });
  }
  static ry_status follow(void* self, const ry_run_follow* what, ry_exec*, const ry_run_sink* sink, void* ctx,
                          void** out) noexcept {
    return guard([&] {
      fake_runs& me = of(self);
      me.follows.push_back({what->account_id, what->run_id, what->after, what->merge_ms, what->flags});
      auto r = std::make_shared<reader>(
          reader{&me, uuid(what->run_id).to_string(), what->account_id, what->after + 1, *sink, ctx});
      me.readers_.insert(r);
      *out = r.get();
      me.schedule(r);
    });
  }
  // nullptr if the reader is closed, which is recorded as a violation.
  reader_ptr find(void* handle, const char* call) {
    for (const reader_ptr& r : readers_)
      if (r.get() == handle) return r;
    violations.push_back(std::string(call) + " of a closed reader");
    return nullptr;
  }
  static const ry_runs_v1* table() {
    static constexpr ry_runs_v1 t{
        sizeof(ry_runs_v1),
        0,
        &start,
        [](void* self) noexcept { ++of(self).wakes; },
        &follow,
        [](void* self, void* handle) noexcept {
          (void)guard([&] {
            const reader_ptr r = of(self).find(handle, "resume");
            if (r && std::exchange(r->paused, false)) of(self).schedule(r);
          });
        },
        [](void* self, void* handle) noexcept {
          (void)guard([&] {
            const reader_ptr r = of(self).find(handle, "close");
            if (!r) return;
            r->closed = true;
            of(self).readers_.erase(r);
          });
        },
        [](void* self, const ry_uuid* account, const ry_uuid* run, ry_exec*, ry_run_json_fn fn, void* ctx) noexcept {
          return guard([&] { return record(self, {"stop", *account, *run, {}, {}}, fn, ctx); });
        },
        [](void* self, const ry_uuid* account, const ry_uuid* run, ry_exec*, ry_run_json_fn fn, void* ctx) noexcept {
          return guard([&] { return record(self, {"get", *account, *run, {}, {}}, fn, ctx); });
        },
        [](void* self, const ry_uuid* account, const ry_run_field* query, std::size_t n, ry_exec*, ry_run_json_fn fn,
           void* ctx) noexcept {
          return guard([&] { return record(self, {"list", *account, {}, own(query, n), {}}, fn, ctx); });
        },
        [](void* self, const ry_uuid* account, const ry_uuid* thread, const ry_run_field* query, std::size_t n,
           ry_exec*, ry_run_json_fn fn, void* ctx) noexcept {
          return guard([&] { return record(self, {"messages", *account, *thread, own(query, n), {}}, fn, ctx); });
        },
        [](void* self, const ry_uuid* account, const ry_uuid* thread, ry_exec*, ry_run_json_fn fn, void* ctx) noexcept {
          return guard([&] { return record(self, {"delete_thread", *account, *thread, {}, {}}, fn, ctx); });
        },
        [](void* self, const ry_uuid* account, ry_exec*, ry_run_json_fn fn, void* ctx) noexcept {
          return guard([&] { return record(self, {"models", *account, {}, {}, {}}, fn, ctx); });
        },
        [](void* self, const ry_uuid* account, const ry_run_field* query, std::size_t n, ry_exec*, ry_run_json_fn fn,
           void* ctx) noexcept {
          return guard([&] { return record(self, {"approvals", *account, {}, own(query, n), {}}, fn, ctx); });
        },
        [](void* self, const ry_uuid* account, const ry_uuid* approval, ry_str decision, ry_exec*, ry_run_json_fn fn,
           void* ctx) noexcept {
          return guard([&] { return record(self, {"decide", *account, *approval, {}, text(decision)}, fn, ctx); });
        },
        [](void* self, const ry_uuid* account, const ry_uuid* run, ry_str json, ry_exec*, ry_run_json_fn fn,
           void* ctx) noexcept {
          return guard([&] { return record(self, {"tool_results", *account, *run, {}, text(json)}, fn, ctx); });
        },
        [](void* self, const ry_run_tool_call* call) noexcept -> std::int32_t {
          std::int32_t out = RY_RUN_TOOL_DENY;
          (void)guard([&] {
            fake_runs& me = of(self);
            if ((call->flags & RY_RUN_TOOL_ANY_CALL) == 0)
              me.calls.push_back({"tool_action", {}, {}, {{"name", text(call->name)}}, text(call->arguments_json)});
            const auto found = me.tool_actions.find(text(call->name));
            out = found != me.tool_actions.end() ? found->second : RY_RUN_TOOL_RUN;
          });
          return out;
        }};
    return &t;
  }

  fake_host* host_ = nullptr;
  std::vector<result<run_reply>> replies_;
  std::map<std::string, std::vector<result<std::string>>> results_;
  std::map<std::string, run_script> runs_;
  std::set<reader_ptr> readers_;
};

}  // namespace ry::testing
