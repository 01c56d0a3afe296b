#include <gtest/gtest.h>
#include <ry/testing.hpp>

#include <thread>

#include "../../tests/support/schema.hpp"
#include "migrations.hpp"
#include "repository.hpp"

namespace {

const std::string ann = "'11111111-1111-4111-8111-111111111111'";
const std::string bob = "'22222222-2222-4222-8222-222222222222'";

class agents_sql : public testing_sql::database_test {
 protected:
  void SetUp() override {
    database_test::SetUp();
    if (!IsSkipped()) migrate("agents", ry_migrations::all);
  }
  std::string state_of(const std::string& text) {
    try {
      sql(text);
    } catch (const testing_sql::sql_error& e) {
      return e.state;
    }
    return "";
  }
  std::string default_of(const std::string& account) {
    return "'" + sql("select agent_id from agents.resolve(" + account + ", null)") + "'";
  }
  static std::string revise(const std::string& account, const std::string& agent, int expected,
                            const std::string& values) {
    return "select agents.revise(" + account + ", " + agent + ", " + std::to_string(expected) +
           ", " + values + ")";
  }
};

}  // namespace

TEST_F(agents_sql, resolve_makes_the_default_agent_once) {
  const auto id = default_of(ann);
  EXPECT_EQ(id.size(), 38u);
  EXPECT_EQ(default_of(ann), id);
  EXPECT_NE(default_of(bob), id);
  EXPECT_EQ("'" + sql("select agents.ensure_default(" + ann + ")") + "'", id);
  EXPECT_EQ(sql("select version::text || coalesce(model_name, '-') from agents.resolve(" + ann +
                ", " + id + ")"),
            "1-");
  EXPECT_EQ(sql("select count(*) from agents.resolve(" + bob + ", " + id + ")"), "0") << "foreign";
  EXPECT_EQ(sql("select count(*) from agents.resolve(" + ann + ", gen_random_uuid())"), "0");
}

TEST_F(agents_sql, many_first_runs_at_once_share_one_default_agent) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      const auto db = connect();
      EXPECT_NE(db("select agent_id from agents.resolve(" + ann + ", null)"), "");
    });
  }
  for (auto& t : threads) t.join();
  EXPECT_EQ(sql("select count(*) from agents.agent"), "1");
  EXPECT_EQ(sql("select count(*) from agents.agent_version"), "1");
}

TEST_F(agents_sql, a_change_makes_a_version_and_no_change_makes_none) {
  const auto id = default_of(ann);
  const std::string mcps = R"('[{"name":"a","type":"http"}]')";
  EXPECT_EQ(sql(revise(ann, id, 0, "null, null, null, null, " + mcps)), "2");
  EXPECT_EQ(
      sql(revise(ann, id, 0, "null, null, null, null, '[{\"type\": \"http\", \"name\":\"a\"}]'")),
      "2");
  EXPECT_EQ(sql(revise(ann, id, 2, "'New', 'd', 'p', 'runyard/power', null")), "3");
  EXPECT_EQ(sql("select name || model_name || version from agents.agent"), "Newrunyard/power3");
  EXPECT_EQ(sql("select string_agg(name || jsonb_array_length(custom_mcps), ',' order by version)"
                "  from agents.agent_version"),
            "Assistant0,Assistant1,New1");
  EXPECT_EQ(sql(revise(ann, id, 0, "null, null, null, '', null")), "4")
      << "back to the default model";
  EXPECT_EQ(sql("select count(*) from agents.agent where model_name is null"), "1");
  EXPECT_EQ(sql("select agents.mcp_count(" + ann + ", null)"), "1");
  EXPECT_EQ(sql("select agents.mcp_count(" + ann + ", " + id + ")"), "0");
  EXPECT_EQ(state_of("update agents.agent_version set name = 'x'"), "23001");
  EXPECT_EQ(state_of(revise(ann, id, 0, "null, null, null, null, '{}'")), "23514");
}

TEST_F(agents_sql, revise_tells_conflicts_and_foreign_agents) {
  const auto id = default_of(ann);
  EXPECT_EQ(sql(revise(ann, id, 1, "'A', null, null, null, null")), "2");
  EXPECT_EQ(state_of(revise(ann, id, 1, "'B', null, null, null, null")), "RY409");
  EXPECT_EQ(state_of(revise(bob, id, 0, "'B', null, null, null, null")), "RY404");
  EXPECT_EQ(state_of(revise(ann, "gen_random_uuid()", 0, "'B', null, null, null, null")), "RY404");
}

TEST_F(agents_sql, of_parallel_changes_on_one_version_one_wins) {
  const auto id = default_of(ann);
  std::atomic<int> won{0}, lost{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      const auto db = connect();
      try {
        db(revise(ann, id, 1, "'N" + std::to_string(i) + "', null, null, null, null"));
        ++won;
      } catch (const testing_sql::sql_error& e) {
        EXPECT_EQ(e.state, "RY409");
        ++lost;
      }
    });
  }
  for (auto& t : threads) t.join();
  EXPECT_EQ(won, 1);
  EXPECT_EQ(lost, 7);
  EXPECT_EQ(sql("select count(*) from agents.agent_version"), "2");
}

TEST_F(agents_sql, the_default_agent_stays) {
  const auto id = default_of(ann);
  EXPECT_EQ(state_of("select agents.remove(" + ann + ", " + id + ")"), "RY409");
  sql("insert into agents.agent (id, account_id, name) values (agents.new_id(), " + ann +
      ", 'second')");
  sql("insert into agents.agent_version (agent_id, version, name)"
      " select id, 1, name from agents.agent where not is_default");
  const auto second = "'" + sql("select id from agents.agent where not is_default") + "'";
  EXPECT_EQ(state_of("select agents.remove(" + bob + ", " + second + ")"), "RY404");
  EXPECT_EQ(state_of("select agents.remove(" + ann + ", " + second + ")"), "");
  EXPECT_EQ(state_of("select agents.remove(" + ann + ", " + second + ")"), "RY404");
  EXPECT_EQ(sql("select count(*) from agents.agent_version"), "1");
}

// The texts of the repository against the real schema: each must prepare.
TEST_F(agents_sql, every_statement_of_the_repository_prepares) {
  ry::testing::fake_host host;
  host.db.on("", {});
  const agents::repository repo(host.ctx());
  const ry::uuid id;
  const auto call = [&](auto task) {
    try {
      host.await(std::move(task));
    } catch (const ry::error&) {
      // The fake answers without rows; only the text counts here.
    }
  };
  agents::revision change;
  change.name = "A";
  call(repo.ensure_default(id));
  call(repo.get(id, id, 0));
  call(repo.list(id, std::nullopt, 10));
  call(repo.list(id, id, 10));
  call(repo.versions(id, id, 0, 10));
  call(repo.create(id, id, change));
  call(repo.revise(id, id, change));
  call(repo.remove(id, id));
  call(repo.mcp_count(id, id));
  EXPECT_EQ(host.db.calls.size(), 12u);
  int n = 0;
  for (const auto& c : host.db.calls) {
    EXPECT_EQ(state_of("prepare s" + std::to_string(++n) + " as " + c.sql), "") << c.sql;
  }
}
