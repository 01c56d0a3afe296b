#include "core/app/client/mcp_client.hpp"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <stdexcept>

namespace ry::app::client {
namespace {

namespace json = boost::json;

TEST(mcp_client, builds_the_request_body) {
  mcp_request r;
  r.server = "https://h/mcp";
  r.headers = {"Authorization: Bearer x", "X-Empty:"};
  EXPECT_EQ(json::parse(mcp_body(r)), json::parse(R"({"type":"http","config":{"url":"https://h/mcp",
                "headers":{"Authorization":"Bearer x","X-Empty":""}}})"));
  r.tool = "echo";
  r.arguments = R"({"message":"hi"})";
  EXPECT_EQ(json::parse(mcp_body(r)).at("arguments").at("message"), "hi");
  mcp_request local;
  local.command = {"npx", "-y", "server"};
  EXPECT_EQ(json::parse(mcp_body(local)),
            json::parse(R"({"type":"json","config":{"command":"npx","args":["-y","server"]}})"));
}

TEST(mcp_client, refuses_an_incomplete_request) {
  mcp_request r;
  EXPECT_THROW(mcp_body(r), std::invalid_argument);
  r.server = "http://h";
  r.headers = {"no colon"};
  EXPECT_THROW(mcp_body(r), std::invalid_argument);
  r.headers = {};
  r.tool = "t";
  r.arguments = "[1]";
  EXPECT_THROW(mcp_body(r), std::invalid_argument);
  r.arguments = "{";
  EXPECT_THROW(mcp_body(r), std::invalid_argument);
}

TEST(mcp_client, shows_tools_and_results_without_control_characters) {
  mcp_request r;
  EXPECT_EQ(mcp_text(r, R"({"tools":[{"name":"a","description":"First\nsecond"},{"name":"b"}],"left_out":["c: bad"]})"),
            "a  First\nb\nomitted: c: bad\n");
  r.tool = "a";
  const auto shown = mcp_text(r, R"({"content":"x\u001b[2Jy"})");
  EXPECT_EQ(shown.find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace ry::app::client
