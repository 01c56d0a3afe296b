#include "core/module/description.hpp"

#include <gmock/gmock.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

namespace ry::module {
namespace {

using testing::HasSubstr;

registration with(std::vector<std::pair<std::string, std::string>> routes, std::vector<std::string> parts) {
  registration out;
  for (auto& [method, pattern] : routes) {
    route r;
    r.method = method;
    r.pattern = pattern;
    out.routes.push_back(std::move(r));
  }
  out.descriptions = std::move(parts);
  return out;
}

TEST(description, the_structure_of_a_part_is_checked_member_by_member) {
  EXPECT_EQ(description_fault("{}"), "");
  EXPECT_EQ(description_fault(R"({"paths":{"/a":{"get":{},"parameters":[]}},)"
                              R"("components":{"schemas":{"A":{},"B":true}},"tags":[{"name":"x"}]})"),
            "");
  EXPECT_THAT(description_fault("[]"), HasSubstr("is not a JSON object"));
  EXPECT_THAT(description_fault("{"), HasSubstr("is not a JSON object"));
  EXPECT_THAT(description_fault(R"({"info":{}})"), HasSubstr("has \"info\" in addition to"));
  EXPECT_THAT(description_fault(R"({"paths":[]})"), HasSubstr("\"paths\""));
  EXPECT_THAT(description_fault(R"({"paths":{"/a":1}})"), HasSubstr("a path \"/a\""));
  EXPECT_THAT(description_fault(R"({"paths":{"/a":{"GET":{}}}})"), HasSubstr("a member \"GET\""));
  EXPECT_THAT(description_fault(R"({"paths":{"/a":{"get":[]}}})"), HasSubstr("a member \"get\""));
  EXPECT_THAT(description_fault(R"({"components":{"securitySchemes":{}}})"),
              HasSubstr("\"securitySchemes\", which are unknown"));
  EXPECT_THAT(description_fault(R"({"components":{"schemas":{"host.Error":{}}}})"),
              HasSubstr("a component \"host.Error\""));
  EXPECT_THAT(description_fault(R"({"tags":["x"]})"), HasSubstr("\"tags\""));
  // Nested too deeply: rejected without a stack overflow.
  EXPECT_THAT(description_fault(std::string(100'000, '[')), HasSubstr("is not a JSON object"));
}

TEST(description, the_manifest_is_read_completely) {
  const std::set<std::string> host = {"schemas/host.Error"};
  const auto a = R"({"paths":{"/a/{id}/{rest}":{"get":{"x":{"$ref":"#/components/schemas/A"}}}}})";
  const auto b = R"({"components":{"schemas":{"A":{"$ref":"#/components/schemas/host.Error"}}}})";
  EXPECT_EQ(description_problem(with({{"GET", "/a/{id}/{rest...}"}}, {a, b}), host), "");
  EXPECT_THAT(description_problem(with({{"POST", "/a/{id}/{rest...}"}}, {a, b}), host),
              HasSubstr("the route GET /a/{id}/{rest}, which it does not register"));
  EXPECT_THAT(description_problem(with({{"GET", "/a/{id}/{rest...}"}}, {a}), host),
              HasSubstr("something by \"#/components/schemas/A\""));
  EXPECT_THAT(description_problem(with({}, {b}), {}), HasSubstr("schemas/host.Error"));
  EXPECT_THAT(description_problem(with({}, {b, b}), host), HasSubstr("schemas/A twice"));
  EXPECT_THAT(description_problem(with({{"GET", "/a/{id}/{rest...}"}}, {a, a, b}), host),
              HasSubstr("GET /a/{id}/{rest} twice"));
  EXPECT_THAT(description_problem(with({}, {R"({"components":{"schemas":{"A":{"$ref":"other.json#/A"}}}})"}), host),
              HasSubstr("other.json#/A"));
}

TEST(description, an_operation_given_with_its_route_counts_as_one) {
  auto r = with({{"GET", "/a"}}, {R"({"components":{"schemas":{"A":{}}}})"});
  r.routes[0].openapi_json = R"({"x":{"$ref":"#/components/schemas/A"}})";
  EXPECT_EQ(description_problem(r, {}), "");
  r.descriptions.push_back(R"({"paths":{"/a":{"get":{}}}})");
  EXPECT_THAT(description_problem(r, {}), HasSubstr("the route GET /a twice"));
  r.descriptions.clear();
  EXPECT_THAT(description_problem(r, {}), HasSubstr("#/components/schemas/A"));
}

TEST(description, references_can_be_rewritten) {
  auto v = boost::json::parse(R"([{"$ref":"a"},{"b":[{"$ref":"c"}],"$ref":{"$ref":"d"}}])");
  for_each_reference(v, [](std::string_view s) { return std::string(s) + "!"; });
  EXPECT_EQ(boost::json::serialize(v), R"([{"$ref":"a!"},{"b":[{"$ref":"c!"}],"$ref":{"$ref":"d!"}}])");
}

}  // namespace
}  // namespace ry::module
