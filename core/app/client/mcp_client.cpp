#include "core/app/client/mcp_client.hpp"

#include <curl/curl.h>

#include <algorithm>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <cstdio>
#include <memory>
#include <stdexcept>

#include "core/app/client/run_view.hpp"

namespace ry::app::client {

namespace json = boost::json;

namespace {

constexpr long patience_s = 60;

struct curl_deleter {
  void operator()(CURL* c) const { curl_easy_cleanup(c); }
  void operator()(curl_slist* l) const { curl_slist_free_all(l); }
};

std::size_t take(char* data, std::size_t size, std::size_t n, void* to) {
  static_cast<std::string*>(to)->append(data, size * n);
  return size * n;
}

std::string text_of(const json::object& o, const char* key) {
  const auto* v = o.if_contains(key);
  return v && v->is_string() ? std::string(v->get_string()) : std::string();
}

json::value parsed(const std::string& text) {
  boost::system::error_code ec;
  auto v = json::parse(text, ec);
  return ec ? json::value() : v;
}

std::string detail_of(const std::string& body) {
  const auto v = parsed(body);
  const auto* o = v.if_object();
  const auto* detail = o ? o->if_contains("detail") : nullptr;
  if (!detail) return printable(body.substr(0, 500));
  if (detail->is_string()) return printable(detail->get_string());
  if (const auto* d = detail->if_object(); d && !text_of(*d, "message").empty())
    return printable(text_of(*d, "message") + " (" + text_of(*d, "error_code") + ")");
  return printable(json::serialize(*detail));
}

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
    throw std::invalid_argument("name the address of an MCP server, or --command and a program");
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
        throw std::invalid_argument("--header wants \"Name: value\", not \"" + line + "\"");
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
    if (!arguments.is_object())
      throw std::invalid_argument("the arguments of the tool must be a JSON object");
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
      if (each.is_string()) out += "left out: " + printable(each.get_string()) + "\n";
  return out;
}

exit_code mcp(const mcp_request& request) {
  std::string body;
  try {
    body = mcp_body(request);
  } catch (const std::invalid_argument& e) {
    return fail(e.what(), exit_code::refused);
  }
  auto url = request.url;
  while (url.ends_with('/')) url.pop_back();
  url += request.tool.empty() ? "/admin/mcp/tools" : "/admin/mcp/call";
  const std::unique_ptr<CURL, curl_deleter> c(curl_easy_init());
  if (!c) return fail("out of memory");
  std::unique_ptr<curl_slist, curl_deleter> fields;
  const auto add = [&](const std::string& line) {
    auto* grown = curl_slist_append(fields.get(), line.c_str());
    if (!grown) throw std::bad_alloc();
    (void)fields.release();
    fields.reset(grown);
  };
  add("Authorization: Bearer " + request.token);
  add("Content-Type: application/json");
  add("Expect:");
  std::string answer;
  curl_easy_setopt(c.get(), CURLOPT_URL, url.c_str());
  curl_easy_setopt(c.get(), CURLOPT_HTTPHEADER, fields.get());
  curl_easy_setopt(c.get(), CURLOPT_POSTFIELDS, body.c_str());
  curl_easy_setopt(c.get(), CURLOPT_POSTFIELDSIZE, static_cast<long>(body.size()));
  curl_easy_setopt(c.get(), CURLOPT_WRITEFUNCTION, &take);
  curl_easy_setopt(c.get(), CURLOPT_WRITEDATA, &answer);
  curl_easy_setopt(c.get(), CURLOPT_TIMEOUT, patience_s);
  curl_easy_setopt(c.get(), CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(c.get(), CURLOPT_NOSIGNAL, 1L);
  const auto code = curl_easy_perform(c.get());
  if (code != CURLE_OK)
    return fail("the server " + request.url + " could not be asked: " + curl_easy_strerror(code));
  long status = 0;
  curl_easy_getinfo(c.get(), CURLINFO_RESPONSE_CODE, &status);
  if (status / 100 != 2) {
    if (request.as == output::json_lines) std::printf("%s\n", answer.c_str());
    const bool wrong = status / 100 == 4;
    return fail(detail_of(answer), wrong ? exit_code::refused : exit_code::failed);
  }
  const auto shown = request.as == output::json_lines ? answer + "\n" : mcp_text(request, answer);
  std::fwrite(shown.data(), 1, shown.size(), stdout);
  return says_failed(answer) ? exit_code::failed : exit_code::ok;
}

}  // namespace ry::app::client
