#include "agent/tools/tool_offer.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <map>
#include <ry/cpp/utf8.hpp>

#include "agent/checkpoint.hpp"
#include "agent/history.hpp"
#include "agent/loop_turn.hpp"
#include "agent/pictures.hpp"
#include "json/exact.hpp"
#include "json/members.hpp"
#include "text.hpp"

namespace runs {

namespace json = boost::json;

namespace {

constexpr std::size_t max_found = 10;  // per query
constexpr std::size_t max_names = 20;  // in one call
constexpr std::size_t max_query_bytes = 1000;
constexpr std::size_t max_description_bytes = 400;  // of one tool, in a result
constexpr std::size_t max_parameters = 12;  // of one tool, in a result
constexpr std::size_t max_sources = 30;  // in the description of find_tools

searchable_tool searchable(const tool_catalog& catalog, const tool_catalog::tool& tool) {
  searchable_tool out;
  out.name = tool.name;
  boost::system::error_code bad;
  const json::value v = module_json::parse_exactly(catalog.text_of(tool), body_options().max_depth, bad);
  if (bad || !v.is_object()) return out;
  out.description = module_json::text_of(v.as_object(), "description");
  const json::value* schema = v.as_object().if_contains("parameters");
  const json::value* properties =
      schema != nullptr && schema->is_object() ? schema->as_object().if_contains("properties") : nullptr;
  if (properties == nullptr || !properties->is_object()) return out;
  for (const auto& property : properties->as_object()) out.parameters.emplace_back(property.key());
  return out;
}

tool_index index_of(const tool_catalog& catalog) {
  std::vector<searchable_tool> tools;
  tools.reserve(catalog.tools.size());
  for (const tool_catalog::tool& t : catalog.tools) tools.push_back(searchable(catalog, t));
  return tool_index(std::move(tools));
}

std::string tool_line(const searchable_tool& tool) {
  std::string out = tool.name + "(";
  for (std::size_t i = 0; i < std::min(tool.parameters.size(), max_parameters); ++i)
    out.append(i == 0 ? "" : ", ").append(tool.parameters[i]);
  if (tool.parameters.size() > max_parameters) out += ", ...";
  out += ")";
  std::string description = shorten(tool.description, max_description_bytes);
  std::replace(description.begin(), description.end(), '\n', ' ');
  if (!is_blank(description)) out += ": " + description;
  return out;
}

// "github (120), jira (176)": the sources of tools that a request may omit, with their number of tools.
std::string sources_of(const tool_catalog& catalog) {
  constexpr std::string_view mcp = "mcp:";
  std::map<std::string, std::size_t> counts;
  for (std::size_t i = catalog.built_in; i < catalog.tools.size(); ++i) {
    std::string_view source = catalog.tools[i].source;
    if (source.starts_with(mcp)) source.remove_prefix(mcp.size());
    if (!source.empty()) ++counts[std::string(source)];
  }
  std::string out;
  std::size_t listed = 0;
  for (const auto& [source, count] : counts) {
    if (listed++ == max_sources) {
      out += " and " + std::to_string(counts.size() - max_sources) + " more";
      break;
    }
    out += (out.empty() ? "" : ", ") + source + " (" + std::to_string(count) + ")";
  }
  return out;
}

std::string tools_array(const tool_catalog& catalog, const std::vector<std::size_t>& indices) {
  std::string out = "[" + find_tools_json(catalog);
  for (const std::size_t i : indices) out.append(",").append(catalog.text_of(catalog.tools[i]));
  return out + "]";
}

std::size_t limit_for(const settings& config, const std::string& model, const provider_set::provider& provider,
                      std::string_view provider_model) {
  const std::size_t configured = config.max_tools_of(model), of_provider = provider.limits(provider_model).tools;
  if (configured == 0 || of_provider == 0) return std::max(configured, of_provider);
  return std::min(configured, of_provider);
}

// Notifies clients and the log, once per run and worker.
void report_search(const ry::context& ctx, event_log_writers& writers, const std::shared_ptr<live_run>& run,
                   std::size_t all, std::size_t shown) {
  if (run->progress.tool_search_reported) return;
  run->progress.tool_search_reported = true;
  const std::string message = "The agent has " + std::to_string(all) + " tools. The model gets " +
                              std::to_string(shown) + " of them, and find_tools to find the others.";
  ctx.info("a model request contains only some of the agent's tools",
           {{"run", run->who.run.to_string()}, {"code", "tool_search"}, {"message", message}});
  append_notice(*run, "tool_search", message);
  run->events.deliver_soon();
  writers.of(run->exec).touch(run);
}

}  // namespace

std::string find_tools_json(const tool_catalog& catalog) {
  const std::string sources = sources_of(catalog);
  const std::string description = "Finds tools and makes them available from the next step on. You have " +
                                  std::to_string(catalog.tools.size()) +
                                  " tools, but only some of them are listed here." +
                                  (sources.empty() ? std::string() : " There are tools from: " + sources + ".") +
                                  " Use this before you say that something cannot be done.";
  return json::serialize(
      json::object{{"name", catalog.search.name},
                   {"description", description},
                   {"parameters",
                    {{"type", "object"},
                     {"properties",
                      {{"query", {{"type", "string"}, {"description", "What the tool should do, in a few words"}}},
                       {"names",
                        {{"type", "array"},
                         {"items", {{"type", "string"}}},
                         {"description", "Names of known tools, instead of a query or in addition"}}}}}}}});
}

tool_outcome find_tools(const tool_catalog& catalog, const json::object& arguments) {
  std::string query = module_json::text_of(arguments, "query");
  query.resize(ry::whole_characters(std::string_view(query).substr(0, max_query_bytes)));
  std::vector<std::string> names;
  if (const json::value* given = arguments.if_contains("names"); given != nullptr && given->is_array())
    for (const json::value& name : given->as_array())
      if (name.is_string() && names.size() < max_names) names.emplace_back(name.as_string());
  if (is_blank(query) && names.empty()) return {"the argument \"query\" is missing", true, {}};

  const tool_index index = index_of(catalog);
  std::vector<std::size_t> found;
  std::string unknown;
  const auto add = [&found](std::size_t i) {
    if (std::find(found.begin(), found.end(), i) == found.end()) found.push_back(i);
  };
  for (const std::string& name : names) {
    if (const auto i = index.find(name))
      add(*i);
    else
      unknown += (unknown.empty() ? "" : ", ") + shorten(name, 200);
  }
  for (const std::size_t i : index.search(query, max_found)) add(i);

  tool_outcome out;
  if (!unknown.empty()) out.content = "There is no tool with this name: " + unknown + ".\n";
  if (found.empty()) {
    const std::string sources = sources_of(catalog);
    out.content += "None of the " + std::to_string(index.size()) + " tools matches. Try other words" +
                   (sources.empty() ? "." : "; there are tools from: " + sources + ".");
    return out;
  }
  out.content += std::to_string(found.size()) + " of " + std::to_string(index.size()) +
                 " tools, available from the next step on:\n";
  for (const std::size_t i : found) {
    out.content += "\n" + tool_line(index.at(i));
    out.loaded_tools.push_back(index.at(i).name);
  }
  return out;
}

ry::task<tool_offer> offer_tools(const ry::context& ctx, const settings& config, const repository& repo,
                                 event_log_writers& writers, std::shared_ptr<live_run> run, catalog_ptr catalog,
                                 std::string model, provider_set::handle provider, std::string provider_model,
                                 std::string chosen) {
  tool_offer out;
  tool_selection s;
  s.tools = catalog->tools.size();
  s.built_in = catalog->built_in;
  s.limit = limit_for(config, model, *provider, provider_model);
  s.search_from = static_cast<std::size_t>(config.tool_search_from);
  // The search covers only tools of sources.
  if (s.built_in == s.tools || !needs_tool_search(s.tools, s.limit, s.search_from)) {
    out.json = catalog->json;
    co_return out;
  }
  const loaded history = co_await load_history(ctx, repo, run);
  if (history == loaded::interrupted) {
    out.result = tool_offer::end::interrupted;
    co_return out;
  }
  std::map<std::string_view, std::size_t> index_by_name;
  for (std::size_t i = 0; i < catalog->tools.size(); ++i) index_by_name.emplace(catalog->tools[i].name, i);
  for (const std::string& name : tools_in_use(run->progress.messages))
    if (const auto found = index_by_name.find(name); found != index_by_name.end() && found->second >= s.built_in)
      s.in_use.push_back(found->second);
  if (const auto found = index_by_name.find(chosen); found != index_by_name.end()) s.chosen = found->second;
  const std::vector<std::size_t> selected = select_tools(s);
  out.json = tools_array(*catalog, selected);
  report_search(ctx, writers, run, s.tools, selected.size());
  co_return out;
}

ry::task<tool_outcome> run_find_tools(const ry::context& ctx, catalog_ptr catalog, tool_call call) {
  boost::system::error_code bad;
  const json::value arguments = json::parse(call.arguments, bad);
  if (bad || !arguments.is_object()) co_return tool_outcome{"the arguments are not a JSON object", true, {}};
  const auto find = [&] { return find_tools(*catalog, arguments.as_object()); };
  if (catalog->json.size() <= max_bytes_per_loop_turn) co_return find();
  co_return co_await ctx.run_blocking(find);
}

}  // namespace runs
