// The tools of one model request: the complete catalogue, or a part of it and find_tools.
#pragma once
#include <boost/json/object.hpp>
#include <memory>
#include <ry/ry.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "agent/tools/tool_catalog.hpp"
#include "agent/tools/tool_search.hpp"
#include "models/providers.hpp"
#include "run/event_log_writer.hpp"
#include "run/live_run.hpp"
#include "settings/settings.hpp"
#include "store/repository.hpp"

namespace runs {

struct tool_offer {
  std::string json;  // array in the neutral form
  // interrupted: the run was interrupted while its thread was read.
  enum class end { ready, interrupted } result = end::ready;
};
// The tools for a request to `model`. Notifies the run's clients once if not all tools fit. Thread: the run's executor.
ry::task<tool_offer> offer_tools(const ry::context& ctx, const settings& config, const repository& repo,
                                 event_log_writers& writers, std::shared_ptr<live_run> run, catalog_ptr catalog,
                                 std::string model, provider_set::handle provider, std::string provider_model,
                                 std::string chosen);

// Executes a call of find_tools. Never throws.
ry::task<tool_outcome> run_find_tools(const ry::context& ctx, catalog_ptr catalog, tool_call call);

// The description of find_tools for a request. Pure, like the next function.
std::string find_tools_json(const tool_catalog& catalog);
tool_outcome find_tools(const tool_catalog& catalog, const boost::json::object& arguments);

}  // namespace runs
