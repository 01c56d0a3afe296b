#include "agent/tools/tool_source_text.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <optional>
#include <ry/cpp/utf8.hpp>

#include "agent/model_call.hpp"
#include "json/exact.hpp"
#include "json/members.hpp"
#include "text.hpp"

namespace runs {

namespace json = boost::json;

namespace {

// Depth limit for the JSON of sources. MCP servers may send 128 levels, and agent.tools/1 adds some.
constexpr std::size_t max_source_depth = 160;
constexpr std::size_t max_request_key = 200, max_state_bytes = 512 << 10;

std::size_t depth_of(const json::value& v) {
  std::size_t max_depth = 0;
  if (const json::array* items = v.if_array())
    for (const json::value& item : *items) max_depth = std::max(max_depth, depth_of(item));
  else if (const json::object* members = v.if_object())
    for (const auto& member : *members) max_depth = std::max(max_depth, depth_of(member.value()));
  else
    return 0;
  return max_depth + 1;
}

// The elements of an array as text, so that an invalid one does not affect the others.
std::optional<std::vector<std::string_view>> elements_of(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  const std::size_t first = text.find_first_not_of(blanks), last = text.find_last_not_of(blanks);
  if (first == last || text[first] != '[' || text[last] != ']') return std::nullopt;
  text = text.substr(first + 1, last - first - 1);
  std::vector<std::string_view> out;
  if (text.find_first_not_of(blanks) == std::string_view::npos) return out;
  std::size_t begin = 0, depth = 0;
  bool quoted = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (quoted) {
      if (c == '\\') ++at;
      if (c == '"') quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '[' || c == '{') {
      ++depth;
    } else if (c == ']' || c == '}') {
      if (depth-- == 0) return std::nullopt;
    } else if (c == ',' && depth == 0) {
      out.push_back(text.substr(begin, at - begin));
      begin = at + 1;
    }
  }
  if (quoted || depth != 0) return std::nullopt;
  out.push_back(text.substr(begin));
  return out;
}

// Adds the instructions of a tool's source, which any of its tools may carry.
void add_instructions(const json::object& tool, std::vector<tool_instructions>& to) {
  std::string text = module_json::text_of(tool, "source_instructions");
  if (text.empty()) return;
  std::string source = module_json::text_of(tool, "source");
  for (const tool_instructions& known : to)
    if (known.source == source) return;
  to.push_back({std::move(source), std::move(text)});
}

}  // namespace

std::optional<tool_listing> read_listing(std::string_view text) {
  const auto elements = elements_of(text);
  if (!elements) return std::nullopt;
  // A request nests a tool two levels deep, and the provider's driver must be able to parse it.
  const std::size_t max_depth = body_options().max_depth - 2;
  tool_listing out;
  std::size_t number = 0;
  for (const std::string_view element : *elements) {
    ++number;
    boost::system::error_code bad;
    const json::value v = module_json::parse_exactly(element, max_source_depth, bad);
    const json::object* o = v.if_object();
    std::string name = o != nullptr ? module_json::text_of(*o, "name") : std::string();
    if (o != nullptr) add_instructions(*o, out.instructions);
    if (name.empty() || depth_of(v) > max_depth) {
      out.skipped.push_back(name.empty() ? "#" + std::to_string(number) : std::move(name));
      continue;
    }
    tool_listing::tool& tool = out.tools.emplace_back();
    tool.name = std::move(name);
    tool.source = module_json::text_of(*o, "source");
    tool.repeatable = module_json::flag_at(*o, "read_only") || module_json::flag_at(*o, "idempotent");
    tool.own_time_limit = module_json::flag_at(*o, "own_time_limit");
    for (const char* key : {"name", "description", "parameters"})
      if (const json::value* part = o->if_contains(key)) tool.for_model.emplace(key, *part);
  }
  return out;
}

namespace {

json::value parse_source(std::string_view text) {
  json::parse_options options;
  options.max_depth = max_source_depth;
  boost::system::error_code bad;
  json::value v = json::parse(text, bad, {}, options);
  return bad ? json::value() : v;
}

// Reads the requests of a source; false: they are malformed.
bool read_requests(const json::array& list, requested_input& out) {
  if (list.empty() || list.size() > max_questions_at_once) return false;
  for (const json::value& item : list) {
    const json::object* o = item.if_object();
    requested_input::request request;
    if (o != nullptr) request.key = module_json::text_of(*o, "key");
    if (request.key.empty() || request.key.size() > max_request_key || request.key.find('\0') != std::string::npos)
      return false;
    for (const requested_input::request& other : out.requests)
      if (other.key == request.key) return false;
    request.problem = read_input_request(*o, request.asked);
    out.requests.push_back(std::move(request));
  }
  return true;
}

}  // namespace

std::shared_ptr<const requested_input> read_open_requests(std::string_view text) {
  const json::value v = parse_source(text);
  auto out = std::make_shared<requested_input>();
  if (!v.is_array() || !read_requests(v.get_array(), *out)) return nullptr;
  return out;
}

tool_outcome read_result(std::string_view text, std::vector<result_file>* files) {
  const json::value v = parse_source(text);
  if (!v.is_object()) return {"the tool's answer was malformed", true, {}};
  tool_outcome out;
  if (const json::object* required = module_json::object_at(v.as_object(), "input_required")) {
    auto input = std::make_shared<requested_input>();
    input->state = module_json::text_of(*required, "state");
    const json::array* requests = module_json::array_at(*required, "requests");
    const bool is_state = input->state.size() <= max_state_bytes && ry::is_utf8(input->state) &&
                          input->state.find('\0') == std::string::npos;
    if (requests == nullptr || !is_state || !read_requests(*requests, *input))
      return {"the tool's request for input was malformed", true};
    out.input = std::move(input);
    return out;
  }
  std::string content = module_json::text_of(v.as_object(), "content");
  out.content = shorten(content, max_result_bytes);
  out.is_error = module_json::flag_at(v.as_object(), "is_error");
  std::vector<result_file> result_files = files_of_result(v.as_object(), out.images);
  if (files == nullptr) return out;
  *files = std::move(result_files);
  if (content.size() > max_result_bytes)
    files->push_back({"result.txt", "text/plain", std::move(content), result_file::form::plain});
  return out;
}

}  // namespace runs
