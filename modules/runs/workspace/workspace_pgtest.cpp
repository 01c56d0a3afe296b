// Tests of the size limits of an account's workspaces, and of how long the workspace of a deleted thread counts.
#include <string>

#include "store/runs_sql_test.hpp"

using namespace testing_runs;

namespace {

const std::string node = "77777777-7777-4777-8777-777777777771", other_node = "77777777-7777-4777-8777-777777777772";

class workspace_sql : public runs_sql {
 protected:
  // A project with one thread and no unfinished run.
  std::string make_project() {
    EXPECT_EQ(start({.max_runs = 50}), "ok");
    EXPECT_EQ(sql("select runs.force_stop(" + q(last_run()) + ")"), "stopped");
    return sql("select project_id from runs.runs where id = " + q(last_run()));
  }
  // Stores a file that has a size but no chunks.
  std::string keep(const std::string& project, const std::string& path, int size, const std::string& limits) {
    return sql("select outcome || ' ' || coalesce(detail, '') from runs.keep_workspace(" + q(project) +
               ", null, null, '{}', "
               "array[" +
               q(path) + "], '{1}', '{420}', array[" + std::to_string(size) +
               "], '{0}', '{\"\"}', '{\"\"}', '{}', '{}', "
               "'', 1000000, 1000, " +
               limits + ")");
  }
  std::string sums() {
    return sql("select bytes || ' ' || files from runs.account_workspaces where account_id = " + q(ann));
  }
  std::string threads() { return sql("select threads from runs.account_usage where account_id = " + q(ann)); }
  std::string remove(const std::string& project) {
    return sql("select outcome from runs.delete_thread(" + q(ann) +
               ", (select id from runs.threads where project_id = " + q(project) + "))");
  }
};

TEST_F(workspace_sql, all_projects_of_an_account_share_its_limits) {
  const std::string one = make_project(), two = make_project();
  EXPECT_EQ(keep(one, "a", 600, "1000, 10"), "ok ");
  EXPECT_EQ(keep(two, "a", 401, "1000, 10"), "account_bytes 1001");
  EXPECT_EQ(keep(two, "a", 400, "1000, 10"), "ok ");
  EXPECT_EQ(sums(), "1000 2");
  EXPECT_EQ(keep(two, "b", 0, "1000, 2"), "account_files 3");
  EXPECT_EQ(keep(two, "a", 300, "10, 1"), "ok ") << "a change that reduces the size is accepted above the limit";
  EXPECT_EQ(keep(two, "a", 301, "10, 1"), "account_bytes 901");
  EXPECT_EQ(keep(two, "c", 5000, "null, null"), "ok ") << "no limit";
  EXPECT_EQ(sums(), "5900 3");
  EXPECT_EQ(remove(two), "ok");
  EXPECT_EQ(sums(), "600 1") << "no node has a copy";
  EXPECT_EQ(threads(), "1");
}

TEST_F(workspace_sql, chunks_without_a_file_are_limited_and_removed_after_a_refused_start) {
  const auto put = [&](const std::string& project, const std::string& digest, int size, int max_bytes) {
    return sql("select runs.put_chunks(" + q(ann) + ", " + q(project) + ", array[" + q(digest) + "], array[" +
               std::to_string(size) + "], convert_to(repeat('x', " + std::to_string(size) + "), 'UTF8'), " +
               std::to_string(max_bytes) + ")");
  };
  const std::string chunks = "select count(*) from runs.workspace_chunks";
  const std::string project = make_project(), refused = "88888888-8888-4888-8888-888888888888";
  EXPECT_EQ(put(project, "d1", 600, 1000), "t");
  EXPECT_EQ(put(refused, "d2", 400, 1000), "t");
  EXPECT_EQ(put(refused, "d3", 1, 1000), "f") << "the limit applies to all projects of the account together";
  EXPECT_EQ(sql(chunks), "2");
  sql("select runs.drop_chunks(" + q(ann) + ", " + q(project) + ")");
  EXPECT_EQ(sql(chunks), "2") << "another start of the project may still refer to them";
  sql("select runs.drop_chunks(" + q(ann) + ", " + q(refused) + ")");
  EXPECT_EQ(sql(chunks), "1");
  sql("update runs.workspace_chunks set refs = 1");
  EXPECT_EQ(put(project, "d4", 1000, 1000), "t") << "bytes of files count towards a different limit";
}

TEST_F(workspace_sql, a_deleted_project_counts_until_no_node_has_a_copy) {
  const std::string project = make_project();
  EXPECT_EQ(keep(project, "a", 600, "1000, 10"), "ok ");
  for (const std::string& n : {node, other_node}) sql("select runs.note_copy(" + q(project) + ", " + q(n) + ")");
  EXPECT_EQ(remove(project), "ok");
  EXPECT_EQ(threads(), "1");
  EXPECT_EQ(sums(), "600 1");
  EXPECT_EQ(sql("select runs.copy_removed(" + q(project) + ", " + q(node) + ")"), "f");
  EXPECT_EQ(threads(), "1");
  EXPECT_EQ(sql("select runs.copy_removed(" + q(project) + ", " + q(other_node) + ")"), "t");
  EXPECT_EQ(threads(), "0");
  EXPECT_EQ(sums(), "0 0");
  EXPECT_EQ(sql("select runs.copy_removed(" + q(project) + ", " + q(other_node) + ")"), "t");
  EXPECT_EQ(threads(), "0") << "a repeated removal has no effect";
}

TEST_F(workspace_sql, copies_on_lost_nodes_stop_counting_after_a_day) {
  const std::string project = make_project();
  for (const std::string& n : {node, other_node}) {
    sql("select runs.note_copy(" + q(project) + ", " + q(n) + ")");
    sql("insert into runs.workspace_nodes (node) values (" + q(n) + ")");
  }
  EXPECT_EQ(remove(project), "ok");
  sql("select runs.forget_lost_copies()");
  EXPECT_EQ(threads(), "1");
  sql("update runs.workspace_nodes set seen_at = now() - interval '25 hours'");
  sql("select runs.forget_lost_copies()");
  EXPECT_EQ(threads(), "0");
  EXPECT_EQ(sql("select count(*) from runs.workspace_copies"), "0");
}

TEST_F(workspace_sql, a_copy_may_use_the_space_that_other_copies_do_not_use) {
  const std::string one = make_project(), two = make_project();
  for (const std::string& p : {one, two}) sql("select runs.note_copy(" + q(p) + ", " + q(node) + ")");
  sql("update runs.workspace_copies set bytes = 700, files = 7 where project_id = " + q(one));
  const auto usage = [&](const std::string& project, const std::string& at) {
    return sql("select other_bytes || ' ' || other_files from runs.workspace_usage(" + q(ann) + ", " + q(project) +
               ", " + q(at) + ")");
  };
  EXPECT_EQ(usage(two, node), "700 7");
  EXPECT_EQ(usage(one, node), "0 0");
  EXPECT_EQ(usage(two, other_node), "0 0");
  const auto take = [&](int size) {
    return sql("select runs.take_space(" + q(ann) + ", " + q(two) + ", " + q(node) + ", " + std::to_string(size) +
               ", 1000, 9)");
  };
  EXPECT_EQ(take(301), "f");
  EXPECT_EQ(take(100), "t");
  EXPECT_EQ(take(100), "t");
  EXPECT_EQ(take(1), "f") << "the limit of files is reached";
  EXPECT_EQ(usage(one, node), "200 2");
}

}  // namespace
