// The client's requests for resources.
#include "client.hpp"
#include "resources.hpp"
#include "text.hpp"

namespace mcp {

ry::task<void> client::collect_resources(resource_collector& collector, resource_collector::list which) {
  const std::string method =
      which == resource_collector::list::templates ? "resources/templates/list" : "resources/list";
  std::optional<std::string> cursor;
  do {
    json::object params;
    if (cursor) params["cursor"] = *cursor;
    reply r = co_await request(method, std::move(params), {}, {}, 0);
    // Many servers implement only one of the two lists.
    if (r.answered && r.failed && code_of(r.body) == method_not_found && !cursor) co_return;
    const auto page = result_of(std::move(r), method);
    try {
      cursor = collector.add_page(page, which);
    } catch (const ry::error& e) {
      throw server_error(*target_, RY_DATA_LOSS, "mcp.protocol_error", e.message());
    }
  } while (cursor);
}

ry::task<json::value> client::list_resources(resource_query query) {
  co_await connect();
  resource_collector pages;
  co_await collect_resources(pages, resource_collector::list::resources);
  co_await collect_resources(pages, resource_collector::list::templates);
  const bool incomplete = pages.incomplete();
  json::object text{{"type", "text"}, {"text", jv(resources_text(pages.take(), query, incomplete))}};
  json::array content;
  content.push_back(std::move(text));
  co_return json::object{{"content", std::move(content)}};
}

ry::task<json::value> client::read_resource(std::string uri) {
  co_await connect();
  json::object params;
  params["uri"] = uri;
  reply r = co_await request("resources/read", std::move(params), uri, {}, 0);
  const auto read = result_of(std::move(r), "reading the resource " + std::string(truncated(uri, 200)), true);
  try {
    co_return contents_as_result(read);
  } catch (const ry::error& e) {
    throw server_error(*target_, RY_DATA_LOSS, "mcp.protocol_error", e.message());
  }
}

}  // namespace mcp
