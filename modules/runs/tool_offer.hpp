// The tools of one request: all of the catalogue, or a part of it together with find_tools.
#pragma once
#include <boost/json/object.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "parts.hpp"
#include "tool_search.hpp"
#include "tool_catalog.hpp"

namespace runs {

struct tool_offer {
  std::string json;  // array of the neutral form
  // broken_off: the run was interrupted while the thread was read.
  enum class end { ready, broken_off } how = end::ready;
};
// What `model` of the provider gets. Tells the run's readers once that not all tools fit. On the run's executor.
ry::task<tool_offer> offer_tools(parts& p, std::shared_ptr<live_run> run, catalog_ptr catalog, std::string model,
                                 provider_set::handle provider, std::string provider_model, std::string chosen);

// Makes a call of find_tools. Never throws.
ry::task<tool_outcome> run_find_tools(parts& p, catalog_ptr catalog, tool_call call);

// The description of find_tools for a request. Pure, as is the next.
std::string find_tools_json(const tool_catalog& catalog);
tool_outcome find_tools(const tool_catalog& catalog, const boost::json::object& arguments);

}  // namespace runs
