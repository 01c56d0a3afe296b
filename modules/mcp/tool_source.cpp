#include "tool_source.hpp"

#include "deadline.hpp"
#include "result.hpp"

namespace mcp {

ry::task<agent_servers> read_agent(const ry::service<ry_agents_v1>& agents, std::string account_id,
                                   std::string agent_id, std::int32_t version) {
  ry::result<agent_servers> got = co_await ry::call<agent_servers, const ry_agent_view*>(
      [&](ry_exec* exec, ry_agent_fn fn, void* ctx) {
        return agents->get(agents.self(), ry::str(account_id), ry::str(agent_id), version, exec, fn,
                           ctx);
      },
      [](const ry_agent_view* v) {
        agent_servers a;
        a.version = v->version;
        a.custom_mcps_json = ry::text(v->custom_mcps_json);
        return a;
      });
  auto out = std::move(got).value();
  out.servers = read_configured(out.custom_mcps_json);
  std::vector<enabled_tools> enabled;
  for (const auto& s : out.servers) enabled.push_back({s.name, s.enabled});
  out.tools = name_tools(enabled);
  co_return out;
}

ry::task<void> tool_source::refresh(server_ptr s, std::shared_ptr<ry::signal> done) {
  try {
    (void)co_await broker_.discover(s, freshness::asked_now);
  } catch (const ry::error& e) {
    ctx_.warn("the tools of an MCP server could not be listed",
              {{"server", s->name}, {"reason", e.reason()}, {"error", e.message()}});
  }
  done->set();
}

// The same for a list that was served already, once at a time for each server.
ry::task<void> tool_source::refresh_behind(server_ptr s) {
  {
    std::lock_guard lock(mutex_);
    if (!refreshing_.insert(s->key).second) co_return;
  }
  struct entry {
    tool_source* of;
    std::string key;
    ~entry() {
      std::lock_guard lock(of->mutex_);
      of->refreshing_.erase(key);
    }
  } const mine{this, s->key};
  co_await refresh(std::move(s), std::make_shared<ry::signal>());
}

// What is remembered, or known after a short wait; an empty pointer: nothing.
ry::task<tool_list_ptr> tool_source::known_tools(server_ptr s) {
  s = co_await broker_.servers().resolve(s);
  const auto known = broker_.memory().look_up(s->key, ctx_.now_unix_us());
  if (known.fresh || known.failed_lately) co_return known.tools;
  ry_exec* exec = co_await ry::this_exec();
  if (known.tools) {
    (void)ctx_.spawn(refresh_behind(s), exec);
    co_return known.tools;
  }
  // The discovery has its own limit and goes on when nobody waits any more.
  auto done = std::make_shared<ry::signal>();
  if (!ctx_.spawn(refresh(s, done), exec)) co_return known.tools;
  const auto wait = [](std::shared_ptr<ry::signal> d) -> ry::task<void> { (co_await d->wait()).value(); };
  try {
    co_await within(ctx_, settings_.list_wait_ms, ry::error(RY_DEADLINE_EXCEEDED, "mcp.wait", ""),
                    wait(done));
  } catch (const ry::error& e) {
    if (!e.is("mcp.wait")) throw;
  }
  co_return broker_.memory().look_up(s->key, ctx_.now_unix_us()).tools;
}

ry::task<std::string> tool_source::describe(scope of) {
  if (!settings_.enabled) co_return "[]";
  const auto agent = co_await read_agent(agents_, of.account, of.agent, of.version);
  std::vector<ry::task<tool_list_ptr>> asked;
  std::vector<std::size_t> place(agent.servers.size(), SIZE_MAX);
  for (std::size_t i = 0; i < agent.servers.size(); ++i) {
    if (agent.servers[i].enabled.empty()) continue;
    try {
      auto s = broker_.servers().of_agent(agent.servers[i], of.account, of.agent);
      place[i] = asked.size();
      asked.push_back(known_tools(std::move(s)));
    } catch (...) {
      ctx_.complain("an MCP server of an agent is not usable", ry::current_error());
    }
  }
  const auto known = co_await ry::when_all(std::move(asked));
  json::array out;
  for (const auto& t : agent.tools) {
    if (place[t.server] == SIZE_MAX) continue;
    const auto& got = known[place[t.server]];
    const auto& configuration = agent.servers[t.server];
    json::object o;
    o["name"] = t.name;
    o["source"] = "mcp:" + configuration.name;
    const tool_list_ptr list = got.ok() ? *got : nullptr;
    const tool* described = list ? list->find(t.tool) : nullptr;
    if (list && described == nullptr) continue;  // the server has it no more
    if (described != nullptr) {
      o["description"] = described->description;
      o["parameters"] = described->parameters;
      o["read_only"] = described->read_only;
      o["idempotent"] = described->idempotent;
    } else {
      o["description"] = "The tool " + t.tool + " of " + configuration.name + ".";
      o["parameters"] = json::object{{"type", "object"}};
    }
    out.push_back(std::move(o));
  }
  co_return json::serialize(out);
}

ry::task<void> tool_source::list(scope of, ry_tools_list_fn fn, void* ctx) {
  std::string text;
  ry::error why(RY_OK);
  try {
    text = co_await describe(std::move(of));
  } catch (...) {
    why = ry::current_error();
  }
  if (why.status() == RY_OK) {
    fn(ctx, RY_OK, ry::str(text), nullptr);
  } else {
    const auto v = why.view();
    fn(ctx, why.status(), ry_str{}, &v);
  }
}

ry::task<std::string> tool_source::invoke(scope of, std::string name, std::string arguments,
                                          call_handle* h) {
  const auto agent = co_await read_agent(agents_, of.account, of.agent, of.version);
  const named_tool* wanted = nullptr;
  for (const auto& t : agent.tools) {
    if (t.name == name) wanted = &t;
  }
  if (wanted == nullptr || !settings_.enabled) {
    throw ry::not_found("mcp.no_such_tool", "there is no tool " + name);
  }
  json::value given = parse(arguments.empty() ? "{}" : arguments);
  if (!given.is_object()) throw ry::bad_request("mcp.arguments", "the arguments are no object");
  auto s = broker_.servers().of_agent(agent.servers[wanted->server], of.account, of.agent);
  s = server_maker::in_session(std::move(s), of.run, of.thread);
  const broker::told_fn told = [h](std::string_view line) {
    if (h->sink.on_output != nullptr) h->sink.on_output(h->ctx, ry::str(line));
  };
  co_return co_await broker_.call(std::move(s), wanted->tool, std::move(given.get_object()), told);
}

ry::task<void> tool_source::run(scope of, std::string name, std::string arguments, call_handle* h) {
  const std::unique_ptr<call_handle> own(h);
  std::string result;
  ry::error why(RY_OK);
  try {
    result = co_await invoke(std::move(of), std::move(name), std::move(arguments), h);
  } catch (...) {
    why = ry::current_error();
  }
  if (why.status() == RY_OK) {
    h->sink.on_result(h->ctx, RY_OK, ry::str(result), nullptr);
    co_return;
  }
  if (why.status() == RY_CANCELLED || why.status() == RY_NOT_FOUND) {
    const auto v = why.view();
    h->sink.on_result(h->ctx, why.status(), ry_str{}, &v);
    co_return;
  }
  // A server that fails is something the model can reckon with.
  ctx_.warn("a tool of an MCP server failed", {{"reason", why.reason()}, {"error", why.message()}});
  (void)ry::guard([&] { result = error_json(why.message()); });
  h->sink.on_result(h->ctx, RY_OK, ry::str(result), nullptr);
}

const ry_agent_tools_v1* tool_source::table() noexcept {
  static constexpr ry_agent_tools_v1 t{
      sizeof(ry_agent_tools_v1), 0,
      [](void* self, const ry_tools_scope* of, ry_exec* exec, ry_tools_list_fn fn,
         void* ctx) noexcept {
        auto* s = static_cast<tool_source*>(self);
        return ry::guard([&] {
          // By a post, so that the completion never comes inside this call.
          struct start {
            tool_source* s;
            ry_exec* exec;
            ry::task<void> work;
            ry_tools_list_fn fn;
            void* ctx;
          };
          auto later = std::make_shared<start>(start{s, exec, s->list(scope(*of), fn, ctx), fn, ctx});
          s->ctx_.post(exec, [later] {
            if (later->s->ctx_.spawn(std::move(later->work), later->exec)) return;
            later->fn(later->ctx, RY_UNAVAILABLE, ry_str{}, nullptr);
          });
          return RY_OK;
        });
      },
      [](void* self, const ry_tools_scope* of, ry_str, ry_str name, ry_str arguments, ry_exec* exec,
         const ry_tool_sink* sink, void* ctx, void** call) noexcept {
        auto* s = static_cast<tool_source*>(self);
        return ry::guard([&]() -> ry_status {
          auto h = std::make_unique<call_handle>(
              call_handle{s, *sink, ctx, ry::cancel_source(s->ctx_.tasks().token())});
          const auto token = h->source.token();
          *call = h.get();
          auto work = s->run(scope(*of), ry::text(name), ry::text(arguments), h.get());
          // By a post, so that the completion never comes inside this call.
          struct start {
            tool_source* s;
            ry_exec* exec;
            ry::task<void> work;
            call_handle* h;
            ry::cancel_token token;
          };
          auto later = std::make_shared<start>(start{s, exec, std::move(work), h.get(), token});
          s->ctx_.post(exec, [later] {
            if (later->s->ctx_.spawn(std::move(later->work), later->exec, later->token)) return;
            const std::unique_ptr<call_handle> gone(later->h);
            gone->sink.on_result(gone->ctx, RY_UNAVAILABLE, ry_str{}, nullptr);
          });
          h.release();
          return RY_OK;
        });
      },
      [](void*, void* call) noexcept { static_cast<call_handle*>(call)->source.cancel(RY_WHY_USER); }};
  return &t;
}

}  // namespace mcp
