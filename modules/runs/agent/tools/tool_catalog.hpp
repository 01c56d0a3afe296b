// The tools that a run offers to its model: built-in tools of the sandbox, and tools of the agent.tools/1 sources.
#pragma once
#include <memory>
#include <mutex>
#include <ry/ry.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "agent/tools/tool_instructions.hpp"
#include "run/event_log_writer.hpp"
#include "run/live_run.hpp"
#include "ry/ext/agent_tools.h"
#include "settings/settings.hpp"
#include "store/repository.hpp"
#include "workspace/sandbox_drivers.hpp"

namespace runs {

// The tools that a model may call. Immutable after construction; all runs share the catalogue without tools of sources.
struct tool_catalog {
  struct tool {
    std::string name, source;  // source: "sandbox", "builtin", "mcp:<server>", "client"
    bool repeatable = false;  // read-only or idempotent
    bool own_time_limit = false;  // its source limits the time of each call
    ry::drivers<ry_agent_tools_v1>::entry driver = nullptr;  // empty: a sandbox tool, ask_user or find_tools
    std::size_t begin = 0, length = 0;  // of its element in `json`
    bool of_client = false;  // the client executes its calls
    bool asks_person = false;  // ask_user: a person answers its calls
    bool read_only = false;  // known to change nothing
  };
  std::vector<tool> tools;  // the client's tools and built-in tools come first
  std::size_t built_in = 0;  // their number
  std::string json;  // array for model requests
  std::vector<tool_instructions> instructions;  // of the sources
  // find_tools, under a name that no other tool has. It is called like other tools; tool_offer.hpp decides which
  // requests carry it.
  tool search = search_tool();

  static tool search_tool() {
    tool out{"find_tools", "builtin", true};
    out.read_only = true;
    return out;
  }
  const tool* find(std::string_view name) const;
  // Whether a call whose outcome is unknown may be made again. The annotations of a source do not suffice for a call
  // that a person has approved once, because they may be wrong.
  static bool may_repeat(const tool* t, const tool_call& call) {
    return t != nullptr && t->repeatable && !(call.approved && t->driver);
  }
  // The tool's element of the request's array.
  std::string_view text_of(const tool& t) const { return std::string_view(json).substr(t.begin, t.length); }
  // `text` is the tool's element. The name must be new.
  void add(tool t, std::string_view text);
};
// Whether the agent of the run gets ask_user, and whether its tools can request input from the person.
bool may_ask_user(const settings& config, const live_run& run);
bool may_request_input(const settings& config, const live_run& run);
using catalog_ptr = std::shared_ptr<const tool_catalog>;

class toolbox {
 public:
  toolbox(const ry::context& ctx, const repository& repo, const ry::drivers<ry_agent_tools_v1>& sources,
          const sandbox_drivers& sandboxes, event_log_writers& writers, const settings& config)
      : ctx_(ctx), repo_(repo), sources_(sources), sandboxes_(sandboxes), writers_(writers), config_(config) {}
  // The built-in tools and those of the sources. A source that fails is skipped and reported in an event. Chat mode has no
  // tools. Without memory, workspace tools are withheld if another thread has used the workspace.
  ry::task<catalog_ptr> catalog(std::shared_ptr<live_run> run);

 private:
  enum class workspace_use { allowed, withheld };
  ry::task<workspace_use> check_workspace_use(std::shared_ptr<live_run> run) const;
  catalog_ptr built_in(workspace_use use, bool asks);

  const ry::context& ctx_;
  const repository& repo_;
  const ry::drivers<ry_agent_tools_v1>& sources_;
  const sandbox_drivers& sandboxes_;
  event_log_writers& writers_;
  const settings& config_;
  std::mutex mutex_;
  catalog_ptr with_sandbox_, empty_, with_questions_, with_both_;
};

}  // namespace runs
