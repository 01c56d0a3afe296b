// The service runs/1 in C++.
//
//   ry::runs::client runs(ctx);                        // from start() on; needs("runs/1")
//   ry::runs::start_request start(account);
//   start.field("prompt", "Hello").key("order-17");
//   ry::runs::started run = co_await runs.start(std::move(start));
//   ry::runs::reader events = runs.follow(account, run.run_id);
//   while (const ry::runs::batch* b = co_await events.next())   // nullptr: the run has ended
//     for (const ry::runs::event& e : b->events) use(e.sequence, e.json);
//
// All functions throw the error of the service. A route may return it to its client unchanged.
#pragma once

#include <ry/svc/runs.h>

#include <cstddef>
#include <memory>
#include <ry/cpp/db.hpp>
#include <ry/cpp/op.hpp>
#include <ry/cpp/services.hpp>
#include <string>
#include <utility>
#include <vector>

namespace ry::runs {

using fields = std::vector<std::pair<std::string, std::string>>;

// A start. Owns its data.
class start_request {
 public:
  explicit start_request(const uuid& account) : account_(account) {}
  start_request& field(std::string name, std::string value) {
    fields_.emplace_back(std::move(name), std::move(value));
    return *this;
  }
  start_request& file(std::string name, std::string media_type, std::string content) {
    files_.push_back({std::move(name), std::move(media_type), std::move(content)});
    return *this;
  }
  // The idempotency key.
  start_request& key(std::string text) {
    key_ = std::move(text);
    return *this;
  }

 private:
  friend class client;
  struct upload {
    std::string name, media_type, content;
  };
  uuid account_;
  fields fields_;
  std::vector<upload> files_;
  std::string key_;
};

struct started {
  std::string run_id, thread_id, project_id;
  bool replayed = false;  // an earlier start with this key created the run
  std::int64_t queue_position = 0;  // 0: the run does not wait
  std::string message_id;  // empty: the start began the run; otherwise see ry_run_started
};

struct follow_options {
  std::uint64_t after = 0;  // number of the last event that the caller has; 0: none
  std::uint64_t merge_ms = 0;  // see ry_run_follow
  std::uint32_t flags = 0;  // RY_RUN_BACKGROUND, RY_RUN_SNAPSHOT
};

struct event {
  std::uint64_t sequence = 0;
  std::string_view json;
};

// Events that were available together; valid until the next call of reader::next().
struct batch {
  std::vector<event> events;
};

// Reads the events of a run in batches; the next ones are requested only by next(). Thread: the executor on which next()
// was called first. Destroying it ends the follower.
class reader {
 public:
  reader(const ry_runs_v1* table, void* self, const ry_run_follow& what)
      : state_(std::make_unique<state>(table, self, what)) {}
  reader(reader&&) = default;
  reader& operator=(reader&&) = default;
  ~reader() = default;

  // nullptr: the terminal event has already been delivered. Throws RY_CANCELLED if the module that provides the service
  // stops: the client then sends another request to continue after the last event.
  task<const batch*> next() {
    state& s = *state_;
    if (s.handle == nullptr) {
      ry_exec* exec = co_await this_exec();
      static constexpr ry_run_sink sink{sizeof(ry_run_sink), 0, &state::on_events, &state::on_end};
      check(s.table->follow(s.self, &s.what, exec, &sink, &s, &s.handle), "runs.follow");
    } else if (s.delivered) {
      s.delivered = false;
      s.current.events.clear();
      s.texts.clear();
      if (!s.ended) s.table->resume(s.self, s.handle);
    }
    while (s.current.events.empty() && !s.ended) {
      result<void> woken = co_await s.changed.wait();
      woken.value();
    }
    if (s.current.events.empty()) {
      if (s.failure.status() != RY_OK) throw s.failure;
      co_return nullptr;
    }
    s.delivered = true;
    co_return &s.current;
  }

 private:
  struct state {
    const ry_runs_v1* table;
    void* self;
    ry_run_follow what;
    void* handle = nullptr;
    batch current{};
    std::string texts{};
    bool delivered = false, ended = false;
    error failure{RY_OK};
    signal changed{};

    state(const ry_runs_v1* table, void* self, const ry_run_follow& what) : table(table), self(self), what(what) {}
    state(const state&) = delete;
    ~state() {
      if (handle != nullptr) table->close(self, handle);
    }
    static ry_status on_events(void* ctx, const ry_run_event* events, std::size_t n, std::size_t stride) noexcept {
      auto* s = static_cast<state*>(ctx);
      return guard([&] {
               const auto* at = reinterpret_cast<const char*>(events);
               std::size_t size = 0;
               for (std::size_t i = 0; i < n; ++i)
                 size += reinterpret_cast<const ry_run_event*>(at + i * stride)->json.len;
               s->texts.reserve(size);
               for (std::size_t i = 0; i < n; ++i) {
                 const auto* e = reinterpret_cast<const ry_run_event*>(at + i * stride);
                 const std::size_t begin = s->texts.size();
                 s->texts.append(e->json.ptr, e->json.len);
                 s->current.events.push_back({e->sequence, std::string_view(s->texts).substr(begin)});
               }
               s->changed.set();
             }) == RY_OK
                 ? RY_RESOURCE_EXHAUSTED
                 : RY_INTERNAL;
    }
    static void on_end(void* ctx, ry_status st, const ry_error_view* err) noexcept {
      auto* s = static_cast<state*>(ctx);
      s->ended = true;
      s->failure = error::from(st, err);
      s->changed.set();
    }
  };
  std::unique_ptr<state> state_;
};

// What the operator's policy requires for a call of a tool.
enum class tool_action { run, ask, deny };

// Lifetime: that of the module; reader objects must end before it.
class client {
 public:
  client() = default;
  explicit client(const context& ctx) : service_(acquire(ctx)) {}

  // Whether the service can decide about calls of tools outside of runs.
  bool has_tool_action() const noexcept { return RY_HAS(service_.operator->(), ry_runs_v1, tool_action); }
  // For a call with these arguments, a JSON object. Without has_tool_action(), each call is denied.
  ry::runs::tool_action tool_action(std::string_view name, std::string_view arguments_json) const noexcept {
    return action_for(0, name, arguments_json);
  }
  // The mildest action that any call of the tool can get.
  ry::runs::tool_action mildest_tool_action(std::string_view name) const noexcept {
    return action_for(RY_RUN_TOOL_ANY_CALL, name, {});
  }

  // in: the transaction of the start; call wake() after its commit. nullptr: the start commits itself.
  task<started> start(start_request request, tx* in = nullptr) const {
    std::vector<ry_run_field> c_fields;
    for (const auto& [name, value] : request.fields_) c_fields.push_back({str(name), str(value)});
    std::vector<ry_run_file> c_files;
    for (const auto& f : request.files_) {
      ry_run_file c{};
      c.struct_size = sizeof c;
      c.name = str(f.name);
      c.media_type = str(f.media_type);
      c.content = raw(f.content);
      c_files.push_back(c);
    }
    ry_run_start c{};
    c.struct_size = sizeof c;
    c.account_id = request.account_;
    c.fields = c_fields.data();
    c.n_fields = c_fields.size();
    c.files = c_files.data();
    c.n_files = c_files.size();
    c.file_stride = sizeof(ry_run_file);
    c.idempotency_key = str(request.key_);
    c.tx = in != nullptr ? in->handle() : nullptr;
    result<started> out = co_await call<started, const ry_run_started*>(
        [this, &c](ry_exec* exec, ry_run_started_fn fn, void* ctx) {
          return service_->start(service_.self(), &c, exec, fn, ctx);
        },
        [](const ry_run_started* s) {
          return started{
              text(s->run_id),     text(s->thread_id),
              text(s->project_id), s->replayed != 0,
              s->queue_position,   RY_HAS(s, ry_run_started, message_id) ? text(s->message_id) : std::string()};
        });
    co_return std::move(out).value();
  }
  void wake() const { service_->wake(service_.self()); }

  reader follow(const uuid& account, std::string_view run, const follow_options& options = {}) const {
    const std::optional<uuid> id = uuid::parse(run);
    if (!id) throw not_found("runs.not_found", "Run not found");
    ry_run_follow what{};
    what.struct_size = sizeof what;
    what.flags = options.flags;
    what.account_id = account;
    what.run_id = *id;
    what.after = options.after;
    what.merge_ms = options.merge_ms;
    return reader(service_.operator->(), service_.self(), what);
  }

  // The following return the JSON of the route, see ry_runs_v1.
  task<std::string> stop(uuid account, uuid run) const {
    return json([this, account, run](ry_exec* exec, ry_run_json_fn fn, void* ctx) {
      return service_->stop(service_.self(), &account, &run, exec, fn, ctx);
    });
  }
  task<std::string> get(uuid account, uuid run) const {
    return json([this, account, run](ry_exec* exec, ry_run_json_fn fn, void* ctx) {
      return service_->get(service_.self(), &account, &run, exec, fn, ctx);
    });
  }
  task<std::string> list(uuid account, fields query) const {
    return json([this, account, query = std::move(query)](ry_exec* exec, ry_run_json_fn fn, void* ctx) {
      const std::vector<ry_run_field> c = c_fields(query);
      return service_->list(service_.self(), &account, c.data(), c.size(), exec, fn, ctx);
    });
  }
  task<std::string> messages(uuid account, uuid thread, fields query) const {
    return json([this, account, thread, query = std::move(query)](ry_exec* exec, ry_run_json_fn fn, void* ctx) {
      const std::vector<ry_run_field> c = c_fields(query);
      return service_->messages(service_.self(), &account, &thread, c.data(), c.size(), exec, fn, ctx);
    });
  }
  task<void> delete_thread(uuid account, uuid thread) const {
    (void)co_await json([this, account, thread](ry_exec* exec, ry_run_json_fn fn, void* ctx) {
      return service_->delete_thread(service_.self(), &account, &thread, exec, fn, ctx);
    });
  }
  task<std::string> approvals(uuid account, fields query) const {
    return json([this, account, query = std::move(query)](ry_exec* exec, ry_run_json_fn fn, void* ctx) {
      const std::vector<ry_run_field> c = c_fields(query);
      return service_->approvals(service_.self(), &account, c.data(), c.size(), exec, fn, ctx);
    });
  }
  task<std::string> decide(uuid account, uuid approval, std::string decision) const {
    return json([this, account, approval, decision = std::move(decision)](ry_exec* exec, ry_run_json_fn fn, void* ctx) {
      return service_->decide(service_.self(), &account, &approval, str(decision), exec, fn, ctx);
    });
  }
  task<std::string> tool_results(uuid account, uuid run, std::string body) const {
    return json([this, account, run, body = std::move(body)](ry_exec* exec, ry_run_json_fn fn, void* ctx) {
      return service_->tool_results(service_.self(), &account, &run, str(body), exec, fn, ctx);
    });
  }
  task<std::string> models(uuid account) const {
    return json([this, account](ry_exec* exec, ry_run_json_fn fn, void* ctx) {
      return service_->models(service_.self(), &account, exec, fn, ctx);
    });
  }

 private:
  // Also accepts a service without tool_action.
  static service<ry_runs_v1> acquire(const context& ctx) {
    const auto& services = ctx.interface<ry_services_v1>();
    const void* table = nullptr;
    void* self = nullptr;
    ry_lease* lease = nullptr;
    check(services.acquire(ctx.host(), str(RY_SVC_RUNS_1), offsetof(ry_runs_v1, tool_action), &table, &self, &lease),
          "runs.acquire");
    return service<ry_runs_v1>(&services, static_cast<const ry_runs_v1*>(table), self, lease);
  }
  ry::runs::tool_action action_for(std::uint32_t flags, std::string_view name,
                                   std::string_view arguments) const noexcept {
    if (!has_tool_action()) return ry::runs::tool_action::deny;
    ry_run_tool_call call{};
    call.struct_size = sizeof call;
    call.flags = flags;
    call.name = str(name);
    call.arguments_json = str(arguments);
    const std::int32_t action = service_->tool_action(service_.self(), &call);
    return action == RY_RUN_TOOL_RUN   ? ry::runs::tool_action::run
           : action == RY_RUN_TOOL_ASK ? ry::runs::tool_action::ask
                                       : ry::runs::tool_action::deny;
  }
  static std::vector<ry_run_field> c_fields(const fields& all) {
    std::vector<ry_run_field> out;
    for (const auto& [name, value] : all) out.push_back({str(name), str(value)});
    return out;
  }
  template <class Start>
  static task<std::string> json(Start start) {
    result<std::string> out = co_await call<std::string, ry_str>(std::move(start), [](ry_str s) { return text(s); });
    co_return std::move(out).value();
  }

  service<ry_runs_v1> service_;
};

}  // namespace ry::runs
