#include "tool_source.hpp"

#include <algorithm>
#include <cstring>

#include "deadline.hpp"
#include "input_state.hpp"
#include "result.hpp"
#include "text.hpp"

namespace mcp {

namespace {

const changed_definition* change_of(const std::vector<changed_definition>& all, std::string_view tool) {
  for (const auto& each : all) {
    if (each.tool == tool) return &each;
  }
  return nullptr;
}

std::string parts_of(const changed_definition& change) {
  std::string out;
  for (const auto& part : change.parts) out += (out.empty() ? "" : ", ") + part;
  return out;
}

}  // namespace

agent_servers read_list(std::string custom_mcps_json) {
  agent_servers out;
  out.custom_mcps_json = std::move(custom_mcps_json);
  out.servers = read_configured(out.custom_mcps_json);
  std::vector<enabled_tools> enabled;
  for (const auto& s : out.servers) enabled.push_back({s.name, s.enabled});
  out.tools = name_tools(enabled);
  return out;
}

ry::task<agent_servers> read_agent(const ry::service<ry_agents_v1>& agents, std::string account_id,
                                   std::string agent_id, std::int32_t version) {
  struct stored_list {
    std::int32_t version = 0;
    std::string custom_mcps_json;
  };
  ry::result<stored_list> loaded = co_await ry::call<stored_list, const ry_agent_view*>(
      [&](ry_exec* exec, ry_agent_fn fn, void* ctx) {
        return agents->get(agents.self(), ry::str(account_id), ry::str(agent_id), version, exec, fn, ctx);
      },
      [](const ry_agent_view* v) {
        return stored_list{v->version, ry::text(v->custom_mcps_json)};
      });
  if (!loaded) throw loaded.error();
  auto out = read_list(std::move(loaded->custom_mcps_json));
  out.version = loaded->version;
  co_return out;
}

ry::task<agent_servers> tool_source::servers_of(const scope& caller) const {
  if (of_operator_) co_return *of_operator_;
  co_return co_await read_agent(agents_, caller.account, caller.agent, caller.version);
}

server_ptr tool_source::server_of(const configured& c, const scope& caller) const {
  if (!of_operator_) return service_.servers().for_agent(c, caller.account, caller.agent);
  return service_.servers().ad_hoc(c.name, c.type, c.custom_type, c.config, caller.account, RY_MCP_OPERATOR);
}

void tool_source::check_servers() const {
  for (std::size_t i = 0; of_operator_ && i < of_operator_->servers.size(); ++i) {
    const auto& each = of_operator_->servers[i];
    try {
      if (canonical_type(each.type) == "prebuilt")
        throw ry::bad_request("mcp.refused",
                              "the type prebuilt is not possible here, because profiles belong to accounts");
      if (each.on_tool_change != configured::tool_change::log)
        throw ry::bad_request("mcp.refused",
                              "config.on_tool_change must be \"log\" here, because no account can approve a change");
      service_.servers().check(*server_of(each, scope()));
    } catch (const ry::error& e) {
      throw ry::bad_request("mcp.refused", "[" + std::to_string(i) + "]: " + std::string(without_name(e.message())));
    }
  }
}

ry::task<void> tool_source::refresh(server_ptr s, std::shared_ptr<ry::signal> done) {
  try {
    (void)co_await service_.discover(s, cache_policy::refresh);
  } catch (const ry::error& e) {
    ctx_.warn("the tools of an MCP server could not be listed",
              {{"server", s->name}, {"reason", e.reason()}, {"error", e.message()}});
  }
  done->set();
}

// Refreshes a list that was already served. Single-flight: one refresh at a time per server.
ry::task<void> tool_source::refresh_in_background(server_ptr s) {
  {
    std::lock_guard lock(mutex_);
    if (!refreshing_.insert(s->key).second) co_return;
  }
  struct refreshing_mark {
    tool_source* source;
    std::string key;
    ~refreshing_mark() {
      std::lock_guard lock(source->mutex_);
      source->refreshing_.erase(key);
    }
  } const mark{this, s->key};
  co_await refresh(std::move(s), std::make_shared<ry::signal>());
}

// The cached list, or one that arrives after a short wait; nullptr: none.
ry::task<tool_list_ptr> tool_source::available_tools(server_ptr s) {
  s = co_await service_.servers().resolve(s);
  const auto cached = service_.cache().look_up(s->key, ctx_.now_unix_us());
  if (cached.fresh || cached.failed_recently) co_return cached.tools;
  ry_exec* exec = co_await ry::this_exec();
  if (cached.tools) {
    (void)ctx_.spawn(refresh_in_background(s), exec);
    co_return cached.tools;
  }
  // Discovery has its own time limit and continues after the wait has ended.
  auto done = std::make_shared<ry::signal>();
  if (!ctx_.spawn(refresh(s, done), exec)) co_return cached.tools;
  const auto wait = [](std::shared_ptr<ry::signal> d) -> ry::task<void> { (co_await d->wait()).value(); };
  try {
    co_await within(ctx_, settings_.list_wait_ms, ry::error(RY_DEADLINE_EXCEEDED, "mcp.wait", ""), wait(done));
  } catch (const ry::error& e) {
    if (!e.is("mcp.wait")) throw;
  }
  co_return service_.cache().look_up(s->key, ctx_.now_unix_us()).tools;
}

std::string tool_source::shown_instructions(const tool_list& list) const {
  const auto included = truncated(list.instructions, settings_.max_instructions_bytes);
  const auto omitted = list.instructions.size() - included.size();
  return std::string(included) +
         (omitted == 0 || included.empty() ? "" : "\n[cut: " + std::to_string(omitted) + " more bytes]");
}

ry::task<std::vector<changed_definition>> tool_source::changed_tools(configured c, server_ptr s, tool_list_ptr list) {
  if (c.on_tool_change != configured::tool_change::log) co_return co_await definitions_.changes(c, s->account_id, list);
  ry_exec* exec = co_await ry::this_exec();
  (void)ctx_.spawn(definitions_.log_changes(std::move(c), std::move(s), std::move(list)), exec);
  co_return std::vector<changed_definition>();
}

ry::task<void> tool_source::check_definition(configured c, server_ptr s, std::string tool) {
  if (c.on_tool_change == configured::tool_change::log) co_return;
  auto resolved = co_await service_.servers().resolve(s);
  auto list = service_.cache().look_up(resolved->key, ctx_.now_unix_us()).tools;
  if (!list) list = co_await service_.discover(s, cache_policy::allow_cached);
  if (list->find(tool) == nullptr) {
    throw server_error(*s, RY_FAILED_PRECONDITION, "mcp.tool_changed",
                       "the tool " + tool + " is no longer in the server's list");
  }
  const bool blocks = c.on_tool_change == configured::tool_change::block;
  const auto all = co_await definitions_.changes(c, s->account_id, list);
  const auto* change = change_of(all, tool);
  if (change == nullptr) co_return;
  throw server_error(*s, RY_FAILED_PRECONDITION, "mcp.tool_changed",
                     "the definition of the tool " + tool + " has changed (" + parts_of(*change) + "); it " +
                         (blocks ? "is blocked" : "is not called") + " until the user has approved the change");
}

ry::task<std::string> tool_source::describe(scope caller) {
  if (!settings_.enabled) co_return "[]";
  const auto agent = co_await servers_of(caller);
  std::vector<ry::task<tool_list_ptr>> lookups;
  std::vector<server_ptr> servers(agent.servers.size());
  std::vector<std::size_t> lookup_of(agent.servers.size(), SIZE_MAX);  // index in lookups
  for (std::size_t i = 0; i < agent.servers.size(); ++i) {
    if (!agent.servers[i].is_used()) continue;
    try {
      auto s = server_factory::with_caller(server_of(agent.servers[i], caller), "run_id", caller.run);
      servers[i] = s;
      lookup_of[i] = lookups.size();
      lookups.push_back(available_tools(std::move(s)));
    } catch (...) {
      ctx_.log_error("an MCP server of an agent is not usable", ry::current_error());
    }
  }
  const auto results = co_await ry::when_all(std::move(lookups));
  json::array out;
  std::vector<std::vector<changed_definition>> changed(agent.servers.size());
  for (std::size_t i = 0; i < agent.servers.size(); ++i) {
    if (lookup_of[i] == SIZE_MAX) continue;
    const auto& result = results[lookup_of[i]];
    if (result.ok() && *result) changed[i] = co_await changed_tools(agent.servers[i], servers[i], *result);
  }
  std::vector<bool> introduced(agent.servers.size());  // by server: its instructions have been added
  for (const auto& t : agent.tools) {
    if (lookup_of[t.server] == SIZE_MAX) continue;
    const auto& result = results[lookup_of[t.server]];
    const auto& configuration = agent.servers[t.server];
    json::object o;
    o["name"] = t.name;
    o["source"] = "mcp:" + configuration.name;
    const tool_list_ptr list = result.ok() ? *result : nullptr;
    const tool* described = list ? list->find(t.tool) : nullptr;
    if (list && described == nullptr) continue;  // the server no longer has it
    const auto* change = change_of(changed[t.server], t.tool);
    if (change != nullptr && configuration.on_tool_change == configured::tool_change::block) continue;
    if (change != nullptr) {
      // A definition that no user has approved is not shown to the model.
      o["description"] = "The definition of this tool has changed (" + parts_of(*change) +
                         "). It can be called once the user has approved the change.";
      o["parameters"] = json::object{{"type", "object"}};
    } else if (described != nullptr) {
      o["description"] = described->description;
      o["parameters"] = described->parameters;
      o["read_only"] = described->read_only;
      o["idempotent"] = described->idempotent;
    } else {
      o["description"] = "The tool " + t.tool + " of " + configuration.name + ".";
      o["parameters"] = json::object{{"type", "object"}};
    }
    if (list && configuration.instructions && !introduced[t.server]) {
      introduced[t.server] = true;
      o["source_instructions"] = shown_instructions(*list);
    }
    out.push_back(std::move(o));
  }
  std::vector<std::string> with_resources;
  for (std::size_t i = 0; i < agent.servers.size(); ++i) {
    if (lookup_of[i] == SIZE_MAX || !agent.servers[i].reads_resources()) continue;
    const auto& result = results[lookup_of[i]];
    if (result.ok() && *result && (*result)->has_resources) with_resources.push_back(agent.servers[i].name);
  }
  for (auto& tool : resource_tools(with_resources)) out.push_back(std::move(tool));
  // Servers may be configured to take hours per call (timeout_seconds, max_call_timeout_seconds).
  for (auto& tool : out) tool.as_object()["own_time_limit"] = true;
  co_return json::serialize(out);
}

ry::task<void> tool_source::list(scope caller, ry_tools_list_fn fn, void* ctx) {
  std::string text;
  ry::error failure(RY_OK);
  try {
    text = co_await describe(std::move(caller));
  } catch (...) {
    failure = ry::current_error();
  }
  if (failure.status() == RY_OK) {
    fn(ctx, RY_OK, ry::str(text), nullptr);
  } else {
    const auto v = failure.view();
    fn(ctx, failure.status(), ry_str{}, &v);
  }
}

namespace {

// The server of a list_resources or read_resource call. Throws errors that the model can correct.
std::size_t server_with_resources(const std::vector<configured>& servers, const std::vector<std::size_t>& choices,
                                  operation kind, const json::object& arguments) {
  constexpr std::size_t max_uri = 8192;
  if (kind == operation::read_resource) {
    const auto uri = text_of(arguments, "uri");
    if (uri.empty()) throw ry::bad_request("mcp.arguments", "the argument \"uri\" is missing");
    if (uri.size() > max_uri) throw ry::bad_request("mcp.arguments", "the argument \"uri\" is too long");
  }
  const auto requested = text_of(arguments, "server");
  if (requested.empty() && choices.size() == 1) return choices.front();
  std::string names;
  for (const auto i : choices) {
    if (servers[i].name == requested) return i;
    names += (names.empty() ? "" : ", ") + servers[i].name;
  }
  if (names.empty()) throw ry::bad_request("mcp.arguments", "no MCP server of this agent has resources");
  throw ry::bad_request("mcp.arguments",
                        "the argument \"server\" " +
                            std::string(requested.empty() ? "is missing; it must be one of: " : "must be one of: ") +
                            names);
}

}  // namespace

// Servers without a cached list are included: the run may have started on another node.
ry::task<std::vector<std::size_t>> tool_source::servers_with_resources(const std::vector<configured>& servers,
                                                                       const scope& caller) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < servers.size(); ++i) {
    if (!servers[i].reads_resources()) continue;
    tool_list_ptr list;
    try {
      const auto s = co_await service_.servers().resolve(server_of(servers[i], caller));
      list = service_.cache().look_up(s->key, ctx_.now_unix_us()).tools;
    } catch (const ry::error& e) {
      if (e.status() == RY_CANCELLED) throw;
      continue;  // unusable; a call of one of its tools reports why
    }
    if (!list || list->has_resources) out.push_back(i);
  }
  co_return out;
}

ry::task<std::string> tool_source::invoke(tool_call call, call_handle* h) {
  const auto& caller = call.caller;
  const auto agent = co_await servers_of(caller);
  const named_tool* named = nullptr;
  for (const auto& t : agent.tools) {
    if (t.name == call.name) named = &t;
  }
  auto kind = operation::call_tool;
  if (named == nullptr && call.name == list_resources_tool) kind = operation::list_resources;
  if (named == nullptr && call.name == read_resource_tool) kind = operation::read_resource;
  if ((named == nullptr && kind == operation::call_tool) || !settings_.enabled) {
    throw ry::not_found("mcp.no_such_tool", "there is no tool " + call.name);
  }
  json::value arguments = parse(call.arguments.empty() ? "{}" : call.arguments);
  if (!arguments.is_object()) throw ry::bad_request("mcp.arguments", "the arguments are not an object");
  std::size_t server_index = 0;
  if (named != nullptr) {
    server_index = named->server;
  } else {
    const auto choices = co_await servers_with_resources(agent.servers, caller);
    server_index = server_with_resources(agent.servers, choices, kind, arguments.get_object());
  }
  const auto& configuration = agent.servers[server_index];
  auto s = server_factory::with_caller(server_of(configuration, caller), "run_id", caller.run);
  if (named != nullptr) co_await check_definition(configuration, s, named->tool);
  s = server_factory::with_session(std::move(s), caller.run, caller.thread, caller.resumed);
  mcp_service::call_request request;
  request.kind = kind;
  request.tool = named != nullptr ? named->tool : call.name;
  request.id = {caller.run, call.id, hash_of_call(request.tool, arguments)};
  request.arguments = std::move(arguments.get_object());
  if (caller.asks && kind == operation::call_tool) {
    s = server_factory::with_elicitation(std::move(s));
    request.input = h->input;
    if (h->sink.on_input != nullptr) {
      request.on_input = [h](const json::array& requests) {
        h->sink.on_input(h->ctx, ry::str(json::serialize(requests)));
      };
    }
  }
  if (!caller.input.empty()) {
    auto params = continued_params(ctx_, request.id, caller.input);
    if (!params)
      co_return error_json("The call was not made: the user did not agree to open the page that the server requires.");
    request.continued = std::move(*params);
  }
  request.on_progress_line = [h](std::string_view line) {
    if (h->sink.on_output != nullptr) h->sink.on_output(h->ctx, ry::str(line));
  };
  if (call.resumed) co_return co_await service_.resume(std::move(s), std::move(request));
  co_return co_await service_.call(std::move(s), std::move(request));
}

ry::task<void> tool_source::run(tool_call call, call_handle* h) {
  const std::unique_ptr<call_handle> owned(h);
  const auto run_id = call.caller.run;
  const bool resumed = call.resumed;
  std::string result;
  ry::error failure(RY_OK);
  try {
    result = co_await invoke(std::move(call), h);
  } catch (...) {
    failure = ry::current_error();
  }
  if (failure.status() == RY_OK) {
    h->sink.on_result(h->ctx, RY_OK, ry::str(result), nullptr);
    co_return;
  }
  // If its task is lost, the call was already executed. For a resumed call, the run decides how to proceed.
  const bool not_executed = failure.status() == RY_NOT_FOUND && (resumed || !failure.is("mcp.task_lost"));
  if (failure.status() == RY_CANCELLED || not_executed) {
    const auto v = failure.view();
    h->sink.on_result(h->ctx, failure.status(), ry_str{}, &v);
    co_return;
  }
  // The model can react to a failed server, so the error becomes the result of the call.
  ctx_.warn("a tool of an MCP server failed",
            {{"run_id", run_id}, {"reason", failure.reason()}, {"error", failure.message()}});
  (void)ry::guard([&] { result = error_json(failure.message()); });
  h->sink.on_result(h->ctx, RY_OK, ry::str(result), nullptr);
}

ry_status tool_source::begin(tool_call call, ry_exec* exec, const ry_tool_sink& sink, void* ctx, void** handle) {
  auto h = std::make_unique<call_handle>(call_handle{this, {}, ctx, ry::cancel_source(ctx_.tasks().token()), nullptr});
  std::memcpy(&h->sink, &sink, std::min<std::size_t>(sink.struct_size, sizeof h->sink));
  if (call.caller.asks) h->input = std::make_shared<input_channel>(ctx_);
  const auto token = h->cancel.token();
  *handle = h.get();
  auto work = run(std::move(call), h.get());
  // Posting ensures that the completion is not called from within this call.
  struct start {
    tool_source* s;
    ry_exec* exec;
    ry::task<void> work;
    call_handle* h;
    ry::cancel_token token;
  };
  auto later = std::make_shared<start>(start{this, exec, std::move(work), h.get(), token});
  ctx_.post(exec, [later] {
    if (later->s->ctx_.spawn(std::move(later->work), later->exec, later->token)) return;
    const std::unique_ptr<call_handle> owned(later->h);
    owned->sink.on_result(owned->ctx, RY_UNAVAILABLE, ry_str{}, nullptr);
  });
  h.release();
  return RY_OK;
}

const ry_agent_tools_v1* tool_source::table() noexcept {
  static constexpr ry_agent_tools_v1 t{
      sizeof(ry_agent_tools_v1),
      0,
      [](void* self, const ry_tools_scope* of, ry_exec* exec, ry_tools_list_fn fn, void* ctx) noexcept {
        auto* s = static_cast<tool_source*>(self);
        return ry::guard([&] {
          // Posting ensures that the completion is not called from within this call.
          struct start {
            tool_source* s;
            ry_exec* exec;
            ry::task<void> work;
            ry_tools_list_fn fn;
            void* ctx;
          };
          auto later = std::make_shared<start>(start{s, exec, s->list(scope(of), fn, ctx), fn, ctx});
          s->ctx_.post(exec, [later] {
            if (later->s->ctx_.spawn(std::move(later->work), later->exec)) return;
            later->fn(later->ctx, RY_UNAVAILABLE, ry_str{}, nullptr);
          });
          return RY_OK;
        });
      },
      [](void* self, const ry_tools_scope* of, ry_str id, ry_str name, ry_str arguments, ry_exec* exec,
         const ry_tool_sink* sink, void* ctx, void** call) noexcept {
        return ry::guard([&] {
          return static_cast<tool_source*>(self)->begin({scope(of), ry::text(id), ry::text(name), ry::text(arguments)},
                                                        exec, *sink, ctx, call);
        });
      },
      [](void*, void* call) noexcept { static_cast<call_handle*>(call)->cancel.cancel(RY_REASON_USER); },
      [](void* self, const ry_tools_scope* of, ry_str id, ry_str name, ry_str arguments, ry_exec* exec,
         const ry_tool_sink* sink, void* ctx, void** call) noexcept {
        return ry::guard([&] {
          return static_cast<tool_source*>(self)->begin(
              {scope(of), ry::text(id), ry::text(name), ry::text(arguments), true}, exec, *sink, ctx, call);
        });
      },
      [](void* self, const ry_tools_scope* of, std::int32_t finished) noexcept {
        (void)ry::guard(
            [&] { static_cast<tool_source*>(self)->service_.end_run(ry::text(of->run_id), finished != 0); });
      },
      [](void*, void* call, ry_str answers) noexcept {
        auto* h = static_cast<call_handle*>(call);
        (void)ry::guard([&] {
          const auto v = parse(ry::view(answers));
          if (h->input && v.is_array()) h->input->answer(v.get_array());
        });
      }};
  return &t;
}

}  // namespace mcp
