#include "core/app/client/mcp_client.hpp"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <cstdio>
#include <stdexcept>

#include "core/app/client/api_call.hpp"
#include "core/app/client/run_view.hpp"
#include "core/app/config/json_output.hpp"

namespace ry::app::client {

namespace json = boost::json;

namespace {

exit_code fail(const std::string& why, exit_code code = exit_code::failed) {
  std::fprintf(stderr, "runyard: %s\n", why.c_str());
  return code;
}

bool says_failed(const std::string& body) {
  const auto v = parsed(body);
  const auto* o = v.if_object();
  const auto* flag = o ? o->if_contains("is_error") : nullptr;
  return flag && flag->is_bool() && flag->get_bool();
}

}  // namespace

std::string mcp_body(const mcp_request& request) {
  if (request.server.empty() == request.command.empty())
    throw std::invalid_argument("specify the URL of an MCP server, or --command with a program");
  json::object config;
  if (!request.command.empty()) {
    config["command"] = request.command.front();
    config["args"] = json::array(request.command.begin() + 1, request.command.end());
  } else {
    config["url"] = request.server;
    json::object headers;
    for (const auto& line : request.headers) {
      const auto colon = line.find(':');
      if (colon == 0 || colon == std::string::npos)
        throw std::invalid_argument("--header must be \"Name: value\", not \"" + line + "\"");
      const auto value = line.find_first_not_of(" \t", colon + 1);
      headers[line.substr(0, colon)] = value == std::string::npos ? "" : line.substr(value);
    }
    config["headers"] = std::move(headers);
  }
  json::object body;
  body["type"] = request.command.empty() ? request.type : "json";
  body["config"] = std::move(config);
  if (!request.tool.empty()) {
    body["tool"] = request.tool;
    auto arguments = parsed(request.arguments);
    if (!arguments.is_object()) throw std::invalid_argument("the arguments of the tool must be a JSON object");
    body["arguments"] = std::move(arguments);
  }
  return json::serialize(body);
}

std::string mcp_text(const mcp_request& request, const std::string& body) {
  const auto v = parsed(body);
  const auto* o = v.if_object();
  if (!o) return printable(body) + "\n";
  if (!request.tool.empty()) return printable(text_of(*o, "content")) + "\n";
  std::string out;
  const auto* tools = o->if_contains("tools");
  if (tools && tools->is_array()) {
    for (const auto& each : tools->get_array()) {
      const auto* tool = each.if_object();
      if (!tool) continue;
      auto about = text_of(*tool, "description");
      about = about.substr(0, about.find('\n'));
      out += printable(text_of(*tool, "name")) + (about.empty() ? "" : "  " + printable(about)) + "\n";
    }
  }
  if (const auto* left = o->if_contains("left_out"); left && left->is_array())
    for (const auto& each : left->get_array())
      if (each.is_string()) out += "omitted: " + printable(each.get_string()) + "\n";
  return out;
}

exit_code mcp(const mcp_request& request) {
  std::string body;
  try {
    body = mcp_body(request);
  } catch (const std::invalid_argument& e) {
    return fail(e.what(), exit_code::refused);
  }
  api_call call;
  call.url = request.url;
  call.path = request.tool.empty() ? "/admin/mcp/tools" : "/admin/mcp/call";
  call.token = request.token;
  call.trust = request.trust;
  call.body = std::move(body);
  const auto answer = post(call);
  if (!answer.ok()) {
    if (request.as == output::json_lines && answer.status != 0) print_json(answer.body);
    return fail(answer.reason());
  }
  if (request.as == output::json_lines) {
    print_json(answer.body);
  } else {
    const auto shown = mcp_text(request, answer.body);
    std::fwrite(shown.data(), 1, shown.size(), stdout);
  }
  return says_failed(answer.body) ? exit_code::failed : exit_code::ok;
}

}  // namespace ry::app::client
