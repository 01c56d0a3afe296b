#include "agent/tools/tool_catalog.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "agent/checkpoint.hpp"
#include "agent/history.hpp"
#include "agent/tools/tool_scope.hpp"
#include "agent/tools/tool_source_text.hpp"
#include "json/members.hpp"
#include "run/waiting.hpp"
#include "store/transient_error.hpp"
#include "text.hpp"

namespace runs {

namespace json = boost::json;

namespace {

constexpr std::uint64_t first_list_delay_ms = 100, max_list_delay_ms = 400;

constexpr std::string_view sandbox_tools = R"json([
{"name":"shell","description":"Runs a command with /bin/sh in the sandbox. The working directory is /workspace, which keeps its files between calls. There is no network. Returns the output and the exit code.","parameters":{"type":"object","properties":{"command":{"type":"string","description":"The command line"},"timeout_seconds":{"type":"integer","minimum":1,"description":"Ends the command after this time; default 120"}},"required":["command"]}},
{"name":"read_file","description":"Reads a text file of the workspace. Uploaded files are under uploads/.","parameters":{"type":"object","properties":{"path":{"type":"string","description":"Relative to /workspace"},"offset":{"type":"integer","minimum":0,"description":"First byte"},"limit":{"type":"integer","minimum":1,"description":"Maximum number of bytes"}},"required":["path"]}},
{"name":"write_file","description":"Writes a file of the workspace as a whole; missing directories are created.","parameters":{"type":"object","properties":{"path":{"type":"string","description":"Relative to /workspace"},"content":{"type":"string"}},"required":["path","content"]}},
{"name":"list_files","description":"Lists a directory of the workspace.","parameters":{"type":"object","properties":{"path":{"type":"string","description":"Relative to /workspace; default: the workspace itself"}}}}
])json";

constexpr std::string_view ask_user_tool = R"json(
{"name":"ask_user","description":"Asks the user a question and returns the answer, as a JSON object. Use it only if the task cannot be continued without information or a decision of the user. The user may decline to answer. Never ask for passwords or other secrets.","parameters":{"type":"object","properties":{"question":{"type":"string","description":"The question, with everything that the user needs to know to answer it"},"choices":{"type":"array","items":{"type":"string"},"description":"Possible answers, of which the user selects one; default: any text"},"form":{"type":"object","description":"For several values at once, instead of choices: a JSON Schema of the type object whose properties have the type string (also with enum), number, integer or boolean, or are arrays of strings with an enum"}},"required":["question"]}}
)json";

}  // namespace

namespace {

std::optional<bool> given_by_start(const live_run& run) {
  return run.who.options ? run.who.options->questions : std::nullopt;
}

}  // namespace

bool may_ask_user(const settings& config, const live_run& run) {
  return run.who.mode != run_mode::chat && given_by_start(run).value_or(config.ask_user);
}

bool may_request_input(const settings& config, const live_run& run) {
  return given_by_start(run).value_or(config.elicitation);
}

const tool_catalog::tool* tool_catalog::find(std::string_view name) const {
  for (const tool& t : tools)
    if (t.name == name) return &t;
  return tools.size() > built_in && search.name == name ? &search : nullptr;
}

void tool_catalog::add(tool t, std::string_view text) {
  json.pop_back();  // the closing bracket
  if (json.size() > 1) json += ',';
  t.begin = json.size();
  t.length = text.size();
  json.append(text).append("]");
  tools.push_back(std::move(t));
}

ry::task<toolbox::workspace_use> toolbox::check_workspace_use(std::shared_ptr<live_run> run) const {
  if (run->who.mode == run_mode::chat) co_return workspace_use::withheld;
  if (run->who.memory) co_return workspace_use::allowed;
  ry::result<bool> shared = co_await repo_.is_shared(run->who.project);
  if (!shared.value()) co_return workspace_use::allowed;
  if (!std::exchange(run->progress.workspace_withheld_reported, true)) {
    append_notice(
        *run, "workspace_withheld",
        "The run has no access to the workspace: memory_enabled is false, and another thread has used the workspace");
    run->events.deliver_soon();
    writers_.of(run->exec).touch(run);
  }
  co_return workspace_use::withheld;
}

catalog_ptr toolbox::built_in(workspace_use use, bool asks) {
  const bool has_sandbox = use == workspace_use::allowed && sandboxes_.in_use() != nullptr;
  std::lock_guard lock(mutex_);
  catalog_ptr& without_questions = has_sandbox ? with_sandbox_ : empty_;
  catalog_ptr& slot = asks ? (has_sandbox ? with_both_ : with_questions_) : without_questions;
  if (slot) return slot;
  auto created = std::make_shared<tool_catalog>();
  created->json = "[]";
  const json::array list = has_sandbox ? json::parse(sandbox_tools).as_array() : json::array();
  for (const json::value& tool : list) {
    std::string name = module_json::text_of(tool.as_object(), "name");
    // A file is always written completely, so writing is idempotent.
    const bool repeatable = name != "shell";
    tool_catalog::tool t{std::move(name), "sandbox", repeatable};
    t.read_only = t.name == "read_file" || t.name == "list_files";
    created->add(std::move(t), json::serialize(tool));
  }
  if (asks) {
    tool_catalog::tool t{"ask_user", "builtin", true};
    t.read_only = t.asks_person = true;
    created->add(std::move(t), json::serialize(json::parse(ask_user_tool)));
  }
  created->built_in = created->tools.size();
  slot = created;
  return slot;
}

namespace {

// Lists the tools of a source. Briefly retries transient failures, because an answer without the tools would be worse.
ry::task<ry::result<tool_listing>> list_tools_of(const ry::context& ctx, std::shared_ptr<live_run> run,
                                                 ry::drivers<ry_agent_tools_v1>::entry source) {
  const scope_texts scope(*run);
  for (std::uint64_t delay_ms = first_list_delay_ms;; delay_ms *= 4) {
    ry::result<std::string> listed = co_await ry::call<std::string, ry_str>(
        [&](ry_exec* exec, ry_tools_list_fn fn, void* ctx) {
          return source->table->list(source->self, &scope.scope, exec, fn, ctx);
        },
        [](ry_str text) { return ry::text(text); });
    if (listed) {
      std::optional<tool_listing> offered = read_listing(*listed);
      if (offered) co_return std::move(*offered);
      co_return ry::error(RY_DATA_LOSS, "runs.tool_list", "the list of tools is not an array");
    }
    if (listed.status() == RY_NOT_FOUND) co_return tool_listing{};
    if (!is_transient(listed.error()) || delay_ms > max_list_delay_ms || run->stop.must_break())
      co_return listed.error();
    co_await interruptible_sleep(ctx, run, delay_ms);
  }
}

// Tells clients that the run continues without a source's tools; again only if the tools were available in between.
void report_missing(const ry::context& ctx, event_log_writers& writers, const std::shared_ptr<live_run>& run,
                    const std::string& source, const ry::error& error) {
  if (std::find(run->progress.sources_missing.begin(), run->progress.sources_missing.end(), source) !=
      run->progress.sources_missing.end())
    return;
  run->progress.sources_missing.push_back(source);
  ctx.log_error("the tools of " + source + " could not be listed", error);
  run->events.buffer.append("error")
      .text("message", "The tools of " + source + " could not be listed; the run continues without them")
      .text("error_code", "TOOLS_UNAVAILABLE")
      .boolean("recoverable", true);
  run->events.deliver_soon();
  writers.of(run->exec).touch(run);
}

}  // namespace

namespace {

// A tool of the client replaces a built-in one of the same name.
catalog_ptr with_client_tools(const tool_catalog& built_in, const std::string& client_tools) {
  auto out = std::make_shared<tool_catalog>();
  out->json = "[]";
  const json::value tools = json::parse(client_tools);
  for (const json::value& tool : tools.as_array()) {
    tool_catalog::tool t{module_json::text_of(tool.as_object(), "name"), "client"};
    t.of_client = true;
    out->add(std::move(t), one_line(tool));
  }
  for (const tool_catalog::tool& t : built_in.tools)
    if (out->find(t.name) == nullptr) out->add(t, built_in.text_of(t));
  out->built_in = out->tools.size();
  return out;
}

}  // namespace

ry::task<catalog_ptr> toolbox::catalog(std::shared_ptr<live_run> run) {
  const workspace_use use = co_await check_workspace_use(run);
  catalog_ptr base = built_in(use, may_ask_user(config_, *run));
  if (run->who.options && !run->who.options->client_tools.empty())
    base = with_client_tools(*base, run->who.options->client_tools);
  const auto sources = sources_.all();
  if (sources.empty() || run->who.mode == run_mode::chat) co_return base;
  auto out = std::make_shared<tool_catalog>(*base);
  std::set<std::string, std::less<>> names;
  for (const tool_catalog::tool& t : base->tools) names.insert(t.name);
  for (const auto& source : sources) {
    ry::result<tool_listing> offered = co_await list_tools_of(ctx_, run, source);
    if (!offered) {
      if (!run->stop.must_break()) report_missing(ctx_, writers_, run, source->name, offered.error());
      continue;
    }
    std::erase(run->progress.sources_missing, source->name);
    for (const std::string& name : offered->skipped)
      ctx_.warn("a tool is omitted: its description is unreadable or nested too deeply",
                {{"tool", name}, {"driver", source->name}});
    std::move(offered->instructions.begin(), offered->instructions.end(), std::back_inserter(out->instructions));
    for (tool_listing::tool& t : offered->tools) {
      if (!names.insert(t.name).second) continue;
      out->add({std::move(t.name), std::move(t.source), t.repeatable, t.own_time_limit, source},
               one_line(std::move(t.for_model)));
    }
  }
  for (int n = 2; names.contains(out->search.name); ++n) out->search.name = "find_tools_" + std::to_string(n);
  co_return catalog_ptr(std::move(out));
}

}  // namespace runs
