#include <gtest/gtest.h>
#include <ry/testing.hpp>

#include <atomic>
#include <thread>
#include <vector>

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
  std::string default_of(const std::string& account) {
    return "'" + sql("select agent_id from agents.resolve(" + account + ", null)") + "'";
  }
  static std::string revise(const std::string& account, const std::string& agent, int expected,
                            const std::string& values) {
    return "select agents.change_agent(" + account + ", " + agent + ", " + std::to_string(expected) + ", " + values +
           ", null, null, 100, 'free', 100, 1000000)";
  }
  // Returns the id in SQL quotes.
  std::string add(const std::string& account, const std::string& mcps, const std::string& is_default, int max_servers) {
    const auto id = "'" + sql("select agents.new_id()") + "'";
    sql("select agents.create_agent(" + account + ", " + id + ", 'n', '', '', '', '" + mcps + "', " + is_default +
        ", '[]', " + std::to_string(max_servers) + ", 'free', 100)");
    return id;
  }
  static std::string set_default(const std::string& account, const std::string& agent, const std::string& is_default) {
    return "select agents.change_agent(" + account + ", " + agent + ", 0, null, null, null, null, null, " + is_default +
           ", null, 100, 'free', 100, 1000000)";
  }
  // Runs f(connection, number) in n concurrent threads, each with its own connection.
  template <class F>
  void run_concurrently(std::size_t n, const F& f) {
    std::vector<std::thread> threads;
    std::atomic<std::size_t> ready{0};
    for (std::size_t i = 0; i < n; ++i) {
      threads.emplace_back([&, i] {
        const auto db = connect();
        ++ready;
        while (ready < n) std::this_thread::yield();
        try {
          f(db, i);
        } catch (const testing_sql::sql_error& e) {
          ADD_FAILURE() << e.what();
        }
      });
    }
    for (auto& t : threads) t.join();
  }
};

}  // namespace

TEST_F(agents_sql, resolve_creates_the_default_agent_once) {
  const auto id = default_of(ann);
  EXPECT_EQ(id.size(), 38u);
  EXPECT_EQ(default_of(ann), id);
  EXPECT_NE(default_of(bob), id);
  EXPECT_EQ("'" + sql("select agents.ensure_default(" + ann + ")") + "'", id);
  EXPECT_EQ(sql("select version::text || coalesce(model_name, '-') from agents.resolve(" + ann + ", " + id + ")"),
            "1-");
  EXPECT_EQ(sql("select count(*) from agents.resolve(" + bob + ", " + id + ")"), "0") << "belongs to another account";
  EXPECT_EQ(sql("select count(*) from agents.resolve(" + ann + ", gen_random_uuid())"), "0");
}

TEST_F(agents_sql, concurrent_first_runs_share_one_default_agent) {
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

TEST_F(agents_sql, only_an_actual_change_creates_a_version) {
  const auto id = default_of(ann);
  const std::string mcps = R"('[{"name":"a","type":"http"}]')";
  EXPECT_EQ(sql(revise(ann, id, 0, "null, null, null, null, " + mcps)), "2");
  EXPECT_EQ(sql(revise(ann, id, 0, "null, null, null, null, '[{\"type\": \"http\", \"name\":\"a\"}]'")), "2");
  EXPECT_EQ(sql(revise(ann, id, 2, "'New', 'd', 'p', 'runyard/power', null")), "3");
  EXPECT_EQ(sql("select name || model_name || version from agents.agent"), "Newrunyard/power3");
  EXPECT_EQ(sql("select string_agg(name || jsonb_array_length(custom_mcps), ',' order by version)"
                "  from agents.agent_version"),
            "Assistant0,Assistant1,New1");
  EXPECT_EQ(sql(revise(ann, id, 0, "null, null, null, '', null")), "4") << "back to the default model";
  EXPECT_EQ(sql("select count(*) from agents.agent where model_name is null"), "1");
  EXPECT_EQ(sql("select agents.mcp_count(" + ann + ", null)"), "1");
  EXPECT_EQ(sql("select agents.mcp_count(" + ann + ", " + id + ")"), "0");
  EXPECT_EQ(state_of("update agents.agent_version set name = 'x'"), "23001");
  EXPECT_EQ(state_of(revise(ann, id, 0, "null, null, null, null, '{}'")), "22023");
}

TEST_F(agents_sql, revise_reports_conflicts_and_agents_of_other_accounts) {
  const auto id = default_of(ann);
  EXPECT_EQ(sql(revise(ann, id, 1, "'A', null, null, null, null")), "2");
  EXPECT_EQ(state_of(revise(ann, id, 1, "'B', null, null, null, null")), "RY409");
  EXPECT_EQ(state_of(revise(bob, id, 0, "'B', null, null, null, null")), "RY404");
  EXPECT_EQ(state_of(revise(ann, "gen_random_uuid()", 0, "'B', null, null, null, null")), "RY404");
}

TEST_F(agents_sql, only_one_of_concurrent_changes_to_a_version_succeeds) {
  const auto id = default_of(ann);
  std::atomic<int> succeeded{0}, lost{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      const auto db = connect();
      try {
        db(revise(ann, id, 1, "'N" + std::to_string(i) + "', null, null, null, null"));
        ++succeeded;
      } catch (const testing_sql::sql_error& e) {
        EXPECT_EQ(e.state, "RY409");
        ++lost;
      }
    });
  }
  for (auto& t : threads) t.join();
  EXPECT_EQ(succeeded, 1);
  EXPECT_EQ(lost, 7);
  EXPECT_EQ(sql("select count(*) from agents.agent_version"), "2");
}

TEST_F(agents_sql, the_default_agent_cannot_be_removed) {
  const auto id = default_of(ann);
  EXPECT_EQ(state_of("select agents.remove(" + ann + ", " + id + ")"), "RY409");
  sql("insert into agents.agent (id, account_id, name) values (agents.new_id(), " + ann + ", 'second')");
  sql("insert into agents.agent_version (agent_id, version, name)"
      " select id, 1, name from agents.agent where not is_default");
  const auto second = "'" + sql("select id from agents.agent where not is_default") + "'";
  EXPECT_EQ(state_of("select agents.remove(" + bob + ", " + second + ")"), "RY404");
  EXPECT_EQ(state_of("select agents.remove(" + ann + ", " + second + ")"), "");
  EXPECT_EQ(state_of("select agents.remove(" + ann + ", " + second + ")"), "RY404");
  EXPECT_EQ(sql("select count(*) from agents.agent_version"), "1");
}

TEST_F(agents_sql, another_agent_becomes_the_default) {
  const auto first = default_of(ann);
  const auto second = add(ann, "[]", "false", 1);
  EXPECT_EQ(default_of(ann), first);
  EXPECT_EQ(sql(set_default(ann, second, "true")), "1") << "creates no version";
  EXPECT_EQ(default_of(ann), second);
  EXPECT_EQ(sql(set_default(ann, second, "true")), "1");
  EXPECT_EQ(sql(set_default(ann, first, "false")), "1") << "has no effect on an agent that is not the default";
  EXPECT_EQ(state_of(set_default(ann, second, "false")), "RY422");
  EXPECT_EQ(state_of(set_default(bob, second, "true")), "RY404");
  EXPECT_EQ(default_of(ann), second);
  EXPECT_EQ(state_of("select agents.remove(" + ann + ", " + first + ")"), "");
  const auto third = add(ann, "[]", "true", 1);
  EXPECT_EQ(default_of(ann), third);
  EXPECT_EQ(sql("select count(*) from agents.agent where is_default"), "1");
}

TEST_F(agents_sql, concurrent_default_changes_leave_one_default_agent) {
  default_of(ann);
  std::vector<std::string> ids;
  for (int i = 0; i < 8; ++i) ids.push_back(add(ann, "[]", "false", 1));
  run_concurrently(8, [&](const auto& db, std::size_t i) {
    for (int round = 0; round < 5; ++round) {
      db(set_default(ann, ids[i], "true"));
      EXPECT_NE(db("select agent_id from agents.resolve(" + ann + ", null)"), "");
    }
    db("select agents.create_agent(" + ann + ", agents.new_id(), 'n', '', '', '', '[]', true, '[]', 1, 'free', 100)");
  });
  EXPECT_EQ(sql("select count(*) from agents.agent where is_default"), "1");
  EXPECT_EQ(sql("select count(*) from agents.agent"), "17");
}

TEST_F(agents_sql, the_server_limit_holds_for_concurrent_writers) {
  std::vector<std::string> ids;
  for (int i = 0; i < 8; ++i) ids.push_back(add(ann, "[]", "false", 3));
  std::atomic<int> succeeded{0}, refused{0};
  run_concurrently(8, [&](const auto& db, std::size_t i) {
    for (const std::string& text : {"select agents.change_agent(" + ann + ", " + ids[i] +
                                        ", 0, null, null, null, null, '[{}]', null, null, 3, 'pro', 100, 1000000)",
                                    "select agents.create_agent(" + ann +
                                        ", agents.new_id(), 'n', '', '', '', '[{}]', false, '[]', 3, 'pro', 100)"}) {
      try {
        db(text);
        ++succeeded;
      } catch (const testing_sql::sql_error& e) {
        EXPECT_EQ(e.state, "RY402") << e.what();
        ++refused;
      }
    }
  });
  EXPECT_EQ(succeeded, 3);
  EXPECT_EQ(refused, 13);
  EXPECT_EQ(sql("select agents.mcp_count(" + ann + ", null)"), "3");
}

TEST_F(agents_sql, after_a_downgrade_servers_cannot_be_added) {
  const auto a = add(ann, "[{},{},{}]", "false", 3);
  const auto revise_to = [&](const std::string& list) {
    return "select agents.change_agent(" + ann + ", " + a + ", 0, null, null, null, null, '" + list +
           "', null, null, 1, 'free', 100, 1000000)";
  };
  EXPECT_EQ(state_of(revise_to("[{},{},{\"a\":1}]")), "") << "as many as before";
  EXPECT_EQ(state_of(revise_to("[{},{},{},{}]")), "RY402");
  EXPECT_EQ(state_of(revise_to("[{},{}]")), "");
  EXPECT_EQ(state_of(revise_to("[{},{},{}]")), "RY402");
}

TEST_F(agents_sql, concurrently_created_agents_stay_within_the_limit) {
  sql("select agents.ensure_default(" + ann + ")");
  std::vector<std::thread> threads;
  std::atomic<int> refused{0};
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      const auto db = connect();
      try {
        db("select agents.create_agent(" + ann +
           ", gen_random_uuid(), 'n', '', '', '', '[]', false, '[]', 9, 'free', 4)");
      } catch (const testing_sql::sql_error& e) {
        if (e.state == "RY402") ++refused;
      }
    });
  }
  for (auto& t : threads) t.join();
  EXPECT_EQ(sql("select count(*) from agents.agent where account_id = " + ann), "4") << "including the default agent";
  EXPECT_EQ(refused, 5);
}

TEST_F(agents_sql, the_newest_versions_are_kept) {
  const auto id = sql("select agents.ensure_default(" + ann + ")");
  for (int i = 0; i < 9; ++i) {
    sql("select agents.change_agent(" + ann + ", '" + id + "', 0, 'name " + std::to_string(i) +
        "', null, null, null, null, null, null, 9, 'free', 3, 1000000)");
  }
  EXPECT_EQ(sql("select string_agg(version::text, ',' order by version) from agents.agent_version where agent_id = '" +
                id + "'"),
            "8,9,10");
}

TEST_F(agents_sql, old_versions_are_deleted_by_size_as_well) {
  const auto id = sql("select agents.ensure_default(" + ann + ")");
  const auto prompt = [&](int n) {
    sql("select agents.change_agent(" + ann + ", '" + id + "', 0, null, null, repeat('" + std::to_string(n) +
        "', 1000), null, null, null, null, 9, 'free', 100, 2500)");
  };
  for (int i = 0; i < 5; ++i) prompt(i);
  const std::string kept =
      "select string_agg(version::text, ',' order by version) from agents.agent_version"
      " where agent_id = '" +
      id + "'";
  EXPECT_EQ(sql(kept), "5,6") << "a third one would exceed 2500 bytes";
  sql("select agents.change_agent(" + ann + ", '" + id +
      "', 0, null, null, repeat('x', 9000), null, null, null, null, 9, 'free', 100, 2500)");
  EXPECT_EQ(sql(kept), "7") << "the current version is always kept";
  // Versions of earlier releases have no size.
  sql("alter table agents.agent_version disable trigger user");
  sql("update agents.agent_version set bytes = null");
  sql("alter table agents.agent_version enable trigger user");
  prompt(1);
  EXPECT_EQ(sql(kept), "8");
}

TEST_F(agents_sql, the_tool_policy_belongs_to_the_version) {
  const auto id = add(ann, "[]", "false", 1);
  const std::string rules = R"([{"match":"a\u0000","action":"ask"}])";
  const auto set = [&](const std::string& policy) {
    return sql("select agents.change_agent(" + ann + ", " + id + ", 0, null, null, null, null, null, null, " + policy +
               ", 1, 'free', 100, 1000000)");
  };
  const auto policies = [&] {
    return sql("select string_agg(tool_policy, ' ' order by version) from agents.agent_version where agent_id = " + id);
  };
  EXPECT_EQ(set("'" + rules + "'"), "2");
  EXPECT_EQ(set("'" + rules + "'"), "2") << "no change, no version";
  EXPECT_EQ(policies(), "[] " + rules);
  // Nodes of an earlier release do not pass the policy.
  sql("select agents.revise(" + ann + ", " + id +
      ", 0, 'other', null, null, null, null, null, 1, 'free', 100, 1000000)");
  EXPECT_EQ(policies(), "[] " + rules + " " + rules);
  EXPECT_EQ(set("'[]'"), "4");
  sql("select agents.add_agent(" + ann + ", gen_random_uuid(), 'older', '', '', '', '[]', false, 1, 'free', 100)");
  EXPECT_EQ(sql("select tool_policy from agents.agent_version where name = 'older'"), "[]");
}

// Prepares each statement of the repository against the real schema.
TEST_F(agents_sql, every_statement_of_the_repository_prepares) {
  ry::testing::fake_host host;
  host.db.on("", {});
  const agents::repository repo(host.ctx(), agents::read_limits(""));
  const ry::uuid id;
  const auto call = [&](auto task) {
    try {
      host.await(std::move(task));
    } catch (const ry::error&) {
      // The fake database returns no rows; the test needs only the statements.
    }
  };
  agents::revision change;
  change.name = "A";
  call(repo.ensure_default(id));
  call(repo.get(id, id, 0));
  call(repo.list(id, std::nullopt, 10));
  call(repo.list(id, id, 10));
  call(repo.versions(id, id, 0, 10));
  call(repo.create(id, id, change, {"free", 1}));
  call(repo.revise(id, id, change, {"free", 1}));
  call(repo.remove(id, id));
  EXPECT_EQ(host.db.calls.size(), 10u);
  int n = 0;
  for (const auto& c : host.db.calls) {
    EXPECT_EQ(state_of("prepare s" + std::to_string(++n) + " as " + c.sql), "") << c.sql;
  }
}
