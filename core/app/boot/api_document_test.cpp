#include "core/app/boot/api_document.hpp"

#include <gmock/gmock.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

namespace ry::app {
namespace {

namespace json = boost::json;
using ::testing::Contains;

json::value document(const api_parts& parts) {
  return json::parse(api_text(parts));
}

std::string at(const json::value& v, std::string_view pointer) {
  boost::system::error_code ec;
  const auto* found = v.find_pointer(pointer, ec);
  if (!found) return "(none)";
  return found->is_string() ? std::string(found->get_string()) : json::serialize(*found);
}

TEST(api_document, names_of_components_and_operations_are_prefixed_with_their_module) {
  api_parts parts{"1.2.3", "", {}, {}};
  const auto text = R"({
    "tags": [{"name": "a", "description": "First"}],
    "paths": {"/x": {"get": {"operationId": "read", "responses": {
        "200": {"description": "ok", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/X"}}}},
        "404": {"$ref": "#/components/responses/host.NotFound"}}}}},
    "components": {"schemas": {"X": {"type": "array", "items": {"$ref": "#/components/schemas/X"}}}}})";
  parts.texts = {{"a", "1", {text}}, {"b", "1", {text}}};
  parts.routes = {{"a", "GET", "/x", "", 0}, {"b", "GET", "/y", "", 0}};
  const auto d = document(parts);
  EXPECT_EQ(at(d, "/openapi"), "3.1.1");
  EXPECT_EQ(at(d, "/info/version"), "1.2.3");
  EXPECT_EQ(at(d, "/tags/0/description"), "First");
  EXPECT_EQ(at(d, "/paths/~1x/get/operationId"), "a.read");
  EXPECT_EQ(at(d, "/paths/~1x/get/tags"), R"(["a"])");
  EXPECT_EQ(at(d, "/paths/~1x/get/responses/200/content/application~1json/schema/$ref"), "#/components/schemas/a.X");
  EXPECT_EQ(at(d, "/paths/~1x/get/responses/404/$ref"), "#/components/responses/host.NotFound");
  EXPECT_EQ(at(d, "/components/schemas/a.X/items/$ref"), "#/components/schemas/a.X");
  EXPECT_EQ(at(d, "/components/schemas/b.X/items/$ref"), "#/components/schemas/b.X");
}

TEST(api_document, a_route_without_a_description_is_listed_with_its_method_and_path) {
  api_parts parts{"1", "", {{"a", "POST", "/x/{id}/{rest...}", "", RY_ROUTE_ADMIN}}, {}};
  const auto d = document(parts);
  const std::string op = "/paths/~1x~1{id}~1{rest}/post";
  EXPECT_EQ(at(d, op + "/operationId"), "a.post_x_id_rest");
  EXPECT_EQ(at(d, op + "/summary"), "(none)");
  EXPECT_EQ(at(d, op + "/parameters/0/name"), "id");
  EXPECT_EQ(at(d, op + "/parameters/1/name"), "rest");
  EXPECT_EQ(at(d, op + "/parameters/1/required"), "true");
  EXPECT_EQ(at(d, op + "/security"), R"([{"host.bearer":[]}])");
  EXPECT_EQ(at(d, op + "/responses/401/$ref"), "#/components/responses/host.NotAuthenticated");
  EXPECT_EQ(at(d, op + "/responses/403/$ref"), "#/components/responses/host.Forbidden");
  EXPECT_EQ(at(d, op + "/responses/408/$ref"), "#/components/responses/host.BodyTooSlow");
  EXPECT_EQ(at(d, op + "/responses/413/$ref"), "#/components/responses/host.TooLarge");
  EXPECT_NE(at(d, op + "/responses/default/description"), "(none)");
}

TEST(api_document, given_descriptions_are_kept_and_route_flags_supply_missing_parts) {
  api_parts parts{"1", "", {}, {}};
  parts.texts = {{"a", "1", {R"({"paths": {"/x/{id}": {
    "parameters": [{"name": "id", "in": "path", "required": true, "schema": {"format": "uuid"}}],
    "get": {"responses": {"401": {"description": "own"}}, "tags": ["other"]}}}})"}}};
  parts.routes = {{"a", "GET", "/x/{id}", "", RY_ROUTE_LONG | RY_ROUTE_QUERY_TOKEN},
                  {"a", "GET", "/open", R"({"summary": "Given with its route"})", RY_ROUTE_PUBLIC}};
  const auto d = document(parts);
  EXPECT_EQ(at(d, "/paths/~1x~1{id}/get/parameters/0/schema/format"), "uuid");
  EXPECT_EQ(at(d, "/paths/~1x~1{id}/get/parameters/1"), "(none)");
  EXPECT_EQ(at(d, "/paths/~1x~1{id}/parameters"), "(none)");
  EXPECT_EQ(at(d, "/paths/~1x~1{id}/get/responses/401/description"), "own");
  EXPECT_EQ(at(d, "/paths/~1x~1{id}/get/responses/504"), "(none)");
  EXPECT_EQ(at(d, "/paths/~1x~1{id}/get/responses/413"), "(none)");
  EXPECT_EQ(at(d, "/paths/~1x~1{id}/get/tags"), R"(["other"])");
  EXPECT_EQ(at(d, "/paths/~1x~1{id}/get/security"), R"([{"host.bearer":[]},{"host.query_token":[]}])");
  EXPECT_EQ(at(d, "/paths/~1open/get/summary"), "Given with its route");
  EXPECT_EQ(at(d, "/paths/~1open/get/security"), "[]");
  EXPECT_EQ(at(d, "/paths/~1open/get/responses/401"), "(none)");
}

TEST(api_document, a_referenced_parameter_is_listed_once) {
  api_parts parts{"1", "", {{"a", "GET", "/x/{id}/{no}", "", 0}}, {}};
  parts.texts = {{"a", "1", {R"({"paths": {"/x/{id}/{no}": {"get": {
    "parameters": [{"$ref": "#/components/parameters/Id"}, {"$ref": "#/components/parameters/None"}]}}},
    "components": {"parameters": {"Id": {"name": "id", "in": "path", "required": true}}}})"}}};
  const auto d = document(parts);
  const std::string all = "/paths/~1x~1{id}~1{no}/get/parameters/";
  EXPECT_EQ(at(d, all + "0/$ref"), "#/components/parameters/a.Id");
  EXPECT_EQ(at(d, all + "2/name"), "no");
  EXPECT_EQ(at(d, all + "3"), "(none)");
}

TEST(api_document, the_base_path_is_the_server_url_of_prefixed_routes) {
  api_parts parts{"1", "/api", {{"a", "GET", "/x", "", 0}, {"host", "GET", "/z", "", RY_ROUTE_NO_PREFIX}}, {}};
  const auto d = document(parts);
  EXPECT_EQ(at(d, "/servers/0/url"), "/api");
  EXPECT_EQ(at(d, "/paths/~1x/get/servers"), "(none)");
  EXPECT_EQ(at(d, "/paths/~1z/get/servers/0/url"), "/");
  parts.base_path.clear();
  EXPECT_EQ(at(document(parts), "/servers/0/url"), "/");
  EXPECT_EQ(at(document(parts), "/paths/~1z/get/servers"), "(none)");
}

TEST(api_document, lists_responses_that_the_host_sends_without_calling_the_module) {
  api_parts parts{"1", "", {{"a", "GET", "/x", "", 0}, {"a", "PUT", "/x", "", 0}}, {}};
  const auto d = document(parts);
  EXPECT_EQ(at(d, "/paths/~1x/get/responses/403/$ref"), "#/components/responses/host.ForeignSite");
  EXPECT_EQ(at(d, "/paths/~1x/get/responses/408"), "(none)");
  EXPECT_EQ(at(d, "/paths/~1x/put/responses/403/$ref"), "#/components/responses/host.ForeignSite");
  EXPECT_EQ(at(d, "/paths/~1x/put/responses/408/$ref"), "#/components/responses/host.BodyTooSlow");
}

TEST(api_document, components_of_the_host_can_be_referred_to) {
  const auto all = host_components();
  EXPECT_THAT(all, Contains("schemas/host.Error"));
  for (const auto* name : {"BadRequest", "NotFound", "Conflict", "TooManyRequests", "NotAuthenticated", "Forbidden",
                           "ForeignSite", "TooLarge", "BodyTooSlow", "InternalError", "Unavailable", "TimedOut"})
    EXPECT_THAT(all, Contains(std::string("responses/host.") + name));
}

}  // namespace
}  // namespace ry::app
