#include "agent/tools/tools.hpp"

#include <boost/json.hpp>
#include <string_view>
#include <utility>

#include "agent/tools/tool_offer.hpp"
#include "agent/tools/tool_shell.hpp"
#include "agent/tools/tool_workspace.hpp"
#include "module_context.hpp"

namespace runs {

namespace json = boost::json;

namespace {

ry::task<tool_outcome> make_call(module_context& p, std::shared_ptr<live_run> run, catalog_ptr catalog,
                                 const tool_catalog::tool* tool, tool_call call, call_kind kind) {
  try {
    if (tool == nullptr) co_return tool_outcome{"there is no tool named \"" + call.name + "\"", true};
    if (tool->driver) {
      bool unknown = false;
      tool_outcome out =
          co_await call_source_tool(p.ctx, p.config, p.repo, p.writers, p.files, run, *tool, call, kind, unknown);
      if (!unknown || !tool_catalog::may_repeat(tool, call)) co_return out;
      tool_outcome again = co_await call_source_tool(p.ctx, p.config, p.repo, p.writers, p.files, run, *tool, call,
                                                     call_kind::first, unknown);
      co_return again;
    }
    if (tool == &catalog->search) co_return co_await run_find_tools(p.ctx, catalog, std::move(call));
    ry::result<void> ready = co_await p.files.ensure(run);
    if (!ready) co_return tool_outcome{"the sandbox is not available: " + std::string(ready.error().message()), true};
    const auto driver = p.sandboxes.in_use();
    if (!driver) co_return tool_outcome{"the sandbox is not available", true};
    json::object arguments = json::parse(call.arguments).as_object();
    const bool reads = call.name == "read_file" || call.name == "list_files";
    tool_outcome out;
    if (call.name == "read_file")
      out = co_await run_read(run, driver, std::move(arguments));
    else if (call.name == "list_files")
      out = co_await run_list(run, driver, std::move(arguments));
    else if (call.name == "shell")
      out = co_await run_shell(p, run, driver, call.id, std::move(arguments));
    else
      out = co_await run_write(p.sandboxes, p.files, run, std::move(arguments));
    if (reads && !out.is_error) co_return out;
    // Stores the files before the result is committed, so that a worker that continues from it finds them. After a
    // failed read, this detects that the workspace was removed.
    std::string note;
    co_await p.files.keep(run, note);
    if (!note.empty()) out.content += "\n" + note;
    co_return out;
  } catch (...) {
    const ry::error e = ry::current_error();
    p.ctx.log_error("a tool call failed", e);
    co_return tool_outcome{"the tool failed", true};
  }
}

}  // namespace

ry::task<tool_outcome> run_tool(module_context& p, std::shared_ptr<live_run> run, catalog_ptr catalog, tool_call call,
                                call_kind kind) {
  const tool_catalog::tool* tool = catalog->find(call.name);
  const std::int64_t started_us = p.ctx.mono_us();
  tool_outcome out = co_await make_call(p, run, catalog, tool, std::move(call), kind);
  const std::string_view driver = tool == nullptr ? "none"
                                  : tool->driver  ? std::string_view(tool->driver->name)
                                                  : std::string_view(tool->source);
  const char* result = run->stop.must_break() ? "interrupted" : out.is_error ? "error" : "ok";
  p.metrics.tool_call(driver, result, static_cast<double>(p.ctx.mono_us() - started_us) / 1e6);
  co_return out;
}

}  // namespace runs
