#include "core/module/graph.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace ry::module {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const host_offer host = {{"ry.core/1", 100}, {"ry.db/1", 64}, {"ry.authenticator/1", 0}};

graph_node node(std::string name, std::vector<need_fact> needs, std::vector<std::string> provides) {
  return {name, name + ".so", graph_node::presence::enabled, std::move(needs), std::move(provides)};
}
need_fact need(std::string id) {
  return {std::move(id), false, 0};
}
need_fact optional_need(std::string id) {
  return {std::move(id), true, 0};
}

std::vector<std::string> names(const std::vector<graph_node>& nodes, const graph_result& r) {
  std::vector<std::string> out;
  for (auto i : r.order) out.push_back(nodes[i].name);
  return out;
}
std::string why(const std::vector<graph_node>& nodes, const graph_result& r, std::string name) {
  std::string out;
  for (const auto& x : r.refused)
    if (nodes[x.node].name == name) out += x.message;
  return out;
}

TEST(graph, providers_come_first_and_the_order_is_stable) {
  const std::vector<graph_node> nodes = {
      node("driver", {need("llm.provider/1"), need("ry.core/1")}, {}),
      node("runs", {need("accounts/1"), need("agents/1")}, {"llm.provider/1"}),
      node("agents", {need("accounts/1")}, {"agents/1"}),
      node("accounts", {need("ry.db/1"), need("ry.authenticator/1")}, {"accounts/1"}),
      node("alone", {}, {}),
  };
  const auto r = resolve(nodes, host);
  EXPECT_THAT(names(nodes, r), ElementsAre("accounts", "agents", "runs", "driver", "alone"));
  EXPECT_THAT(r.refused, IsEmpty());
  EXPECT_THAT(r.required.at(0), ElementsAre(1u));
  EXPECT_THAT(r.required.at(1), ElementsAre(2u, 3u));
  EXPECT_THAT(r.required.at(3), IsEmpty());
}

TEST(graph, a_missing_service_names_the_module_and_disables_its_dependents) {
  const std::vector<graph_node> nodes = {
      node("mcp", {need("agents/1")}, {"mcp/1"}),
      node("transport", {need("mcp/1")}, {}),
      node("other", {}, {}),
  };
  const auto r = resolve(nodes, host);
  EXPECT_THAT(names(nodes, r), ElementsAre("other"));
  EXPECT_EQ(why(nodes, r, "mcp"), "module \"mcp\" needs agents/1, which no available module provides.");
  EXPECT_THAT(why(nodes, r, "transport"),
              HasSubstr("needs mcp/1, which module \"mcp\" would provide, but it is refused"));
}

TEST(graph, a_disabled_provider_is_named_with_the_remedy) {
  std::vector<graph_node> nodes = {node("mcp", {need("agents/1")}, {}), node("agents", {}, {"agents/1"})};
  nodes[1].present = graph_node::presence::disabled;
  const auto r = resolve(nodes, host);
  EXPECT_THAT(r.order, IsEmpty());
  EXPECT_EQ(why(nodes, r, "mcp"),
            "module \"mcp\" needs agents/1, which module \"agents\" provides, but it is disabled; "
            "set modules.agents.enabled = true.");
  EXPECT_EQ(r.refused.size(), 1u);
}

TEST(graph, a_refused_provider_is_not_called_disabled) {
  std::vector<graph_node> nodes = {node("mcp", {need("agents/1")}, {}), node("agents", {}, {"agents/1"})};
  nodes[1].present = graph_node::presence::refused;
  const auto r = resolve(nodes, host);
  EXPECT_EQ(why(nodes, r, "mcp"),
            "module \"mcp\" needs agents/1, which module \"agents\" would provide, but it is "
            "refused.");
  EXPECT_EQ(r.refused.size(), 1u);
}

TEST(graph, other_major_versions_and_short_tables_are_explained) {
  const std::vector<graph_node> nodes = {node("a", {need("b/2")}, {}), node("b", {}, {"b/1"}),
                                         node("c", {{"ry.db/1", false, 65}}, {}), node("d", {need("ry.fd/1")}, {}),
                                         node("e", {{"ry.db/1", false, 64}}, {})};
  const auto r = resolve(nodes, host);
  EXPECT_THAT(names(nodes, r), ElementsAre("b", "e"));
  EXPECT_THAT(why(nodes, r, "a"), HasSubstr("module \"b\" provides b/1"));
  EXPECT_THAT(why(nodes, r, "c"), HasSubstr("at least 65 bytes; this host's has 64"));
  EXPECT_THAT(why(nodes, r, "d"), HasSubstr("Upgrade the host"));
}

TEST(graph, cycles_are_printed_and_disable_their_dependents) {
  const std::vector<graph_node> nodes = {
      node("user", {need("b/1")}, {}),   node("b", {need("c/1")}, {"b/1"}),          node("c", {need("d/1")}, {"c/1"}),
      node("d", {need("b/1")}, {"d/1"}), node("self", {need("self/1")}, {"self/1"}), node("free", {}, {})};
  const auto r = resolve(nodes, host);
  EXPECT_THAT(names(nodes, r), ElementsAre("free"));
  for (const char* member : {"b", "c", "d"}) EXPECT_THAT(why(nodes, r, member), HasSubstr("b -> c -> d -> b"));
  EXPECT_THAT(why(nodes, r, "self"), HasSubstr("self -> self"));
  EXPECT_THAT(why(nodes, r, "user"), HasSubstr("needs b/1"));
  EXPECT_EQ(r.refused.size(), 5u);
}

TEST(graph, optional_needs_affect_only_the_start_order) {
  std::vector<graph_node> nodes = {node("runs", {optional_need("mcp/1"), optional_need("absent/1")}, {"runs/1"}),
                                   node("mcp", {}, {"mcp/1"})};
  auto r = resolve(nodes, host);
  EXPECT_THAT(names(nodes, r), ElementsAre("mcp", "runs"));
  EXPECT_THAT(r.required.at(0), IsEmpty());
  EXPECT_THAT(r.notes, IsEmpty());

  nodes[1].needs.push_back(need("runs/1"));  // mcp requires runs, so the optional need yields
  r = resolve(nodes, host);
  EXPECT_THAT(names(nodes, r), ElementsAre("runs", "mcp"));
  EXPECT_EQ(r.notes.size(), 1u);

  nodes[1].needs = {optional_need("runs/1")};  // both needs are optional: one module starts first
  r = resolve(nodes, host);
  EXPECT_EQ(r.order.size(), 2u);
  EXPECT_THAT(r.refused, IsEmpty());
}

TEST(graph, conflicts_name_both_owners) {
  std::vector<graph_node> nodes = {node("a", {}, {"x/1"}), node("b", {}, {"x/1"}), node("a", {}, {}),
                                   node("thief", {}, {"ry.db/1"})};
  nodes[2].file = "copy.so";
  auto r = resolve(nodes, host);
  EXPECT_THAT(names(nodes, r), ElementsAre("a"));
  EXPECT_THAT(why(nodes, r, "b"), HasSubstr("module \"b\" and module \"a\" both provide x/1"));
  EXPECT_THAT(why(nodes, r, "a"), HasSubstr("a.so and in copy.so"));
  EXPECT_THAT(why(nodes, r, "thief"), HasSubstr("host's own"));
  nodes[0].present = graph_node::presence::disabled;
  r = resolve(nodes, host);
  EXPECT_THAT(names(nodes, r), ElementsAre("b", "a"));
}

TEST(graph, a_long_chain_is_resolved) {
  std::vector<graph_node> nodes;
  for (int i = 0; i < 300; ++i)
    nodes.push_back(
        node("m" + std::to_string(i), {need("s" + std::to_string(i + 1) + "/1")}, {"s" + std::to_string(i) + "/1"}));
  nodes.push_back(node("end", {}, {"s300/1"}));
  const auto r = resolve(nodes, host);
  ASSERT_EQ(r.order.size(), 301u);
  EXPECT_EQ(nodes[r.order.front()].name, "end");
  EXPECT_EQ(nodes[r.order.back()].name, "m0");
}

}  // namespace
}  // namespace ry::module
