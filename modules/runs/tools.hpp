// The tools of a run: those of the sandbox, built in, and those of the agent.tools/1 sources.
#pragma once
#include <boost/json/value.hpp>
#include <memory>
#include <optional>
#include <ry/ry.hpp>
#include <string>
#include <vector>

#include "conversation.hpp"
#include "live_run.hpp"
#include "parts.hpp"
#include "tool_files.hpp"
#include "tool_instructions.hpp"

namespace runs {

// What a model may call. Immutable once made; the one without foreign tools is shared by all runs.
struct tool_catalog {
  struct tool {
    std::string name, source;  // source: "sandbox", "mcp:<server>"
    bool repeatable = false;   // read-only or idempotent
    bool own_time_limit = false;  // its source ends each call
    ry::drivers<ry_agent_tools_v1>::entry driver = nullptr;  // empty: the sandbox, or find_tools
    std::size_t begin = 0, length = 0;  // of its element in `json`
  };
  std::vector<tool> tools;   // those built in come first
  std::size_t built_in = 0;  // how many
  std::string json;          // for the request, array
  std::vector<tool_instructions> instructions;  // of the sources
  // find_tools, under a name that no other tool has. It is called like the others; requests carry it where
  // tool_offer.hpp says so.
  tool search{"find_tools", "builtin", true};

  const tool* find(std::string_view name) const;
  // The element of the request's array.
  std::string_view text_of(const tool& t) const { return std::string_view(json).substr(t.begin, t.length); }
  // `text`: the tool's element. The name is a new one.
  void add(tool t, std::string_view text);
};
using catalog_ptr = std::shared_ptr<const tool_catalog>;

inline constexpr std::size_t most_result_bytes = 48 * 1024;  // of one result, for the model

// What an agent.tools/1 source offers.
struct tool_listing {
  struct tool {
    std::string name, source;
    bool repeatable = false, own_time_limit = false;
    boost::json::object for_model;  // name, description, parameters
  };
  std::vector<tool> tools;
  std::vector<tool_instructions> instructions;  // one text for each source
  std::vector<std::string> left_out;  // names, "#2" for want of one: unreadable, or too deep for a request
};
// Of the text that `list` gave; empty when that is no array.
std::optional<tool_listing> read_listing(std::string_view text);
// Of the result_json of agent.tools/1. files: gets what may have to be stored, a text that is too long for the model included.
tool_outcome read_result(std::string_view text, std::vector<result_file>* files = nullptr);

class toolbox {
 public:
  explicit toolbox(parts& p) : parts_(p) {}
  // The sandbox's tools and those of the sources. A source that fails is left out, of which the stream informs. In chat
  // mode there are none; without memory, none of a workspace that another thread has used.
  ry::task<catalog_ptr> catalog(std::shared_ptr<live_run> run);

 private:
  enum class workspace_use { allowed, withheld };
  ry::task<workspace_use> use_of_workspace(std::shared_ptr<live_run> run) const;
  catalog_ptr built_in(workspace_use use);

  parts& parts_;
  std::mutex mutex_;
  catalog_ptr with_sandbox_, empty_;
};

// What the model is told of a call whose worker went away before the result was stored.
inline constexpr std::string_view unknown_outcome =
    "The outcome of this call is unknown: the server that ran it went away. It may or may not have taken effect.";
// resumed: another worker made the call, which is not made again; its source may know what became of it.
enum class call_kind { first, resumed };
// Whether the source of the tool can take up calls of another worker.
bool resumes_calls(const tool_catalog::tool& tool);
// This worker has no more to do with the run.
void tell_sources_of_end(parts& p, const live_run& run, bool finished);

// Runs one call to its end; its output goes to the run's feed as it comes. Never throws: what goes wrong
// is an outcome for the model. On the run's executor; ends soon after an interruption.
ry::task<tool_outcome> run_tool(parts& p, std::shared_ptr<live_run> run, catalog_ptr catalog,
                                tool_call call, call_kind how = call_kind::first);

// Makes the project's workspace if needed, brings this node's copy to the database's version, and notes
// the use in the database; once per live run.
ry::task<ry::result<void>> ensure_workspace(parts& p, std::shared_ptr<live_run> run);
// Puts what changed in the run's workspace into the database, again and again while that is not there; an
// interruption of the run ends that. `note`: for the agent, what could not be kept.
ry::task<void> keep_files(parts& p, std::shared_ptr<live_run> run, std::string& note);

}  // namespace runs
