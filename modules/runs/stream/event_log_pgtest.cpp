// Tests of the event log's partitions: created in advance, removed by age, and pruned to one by the planner.
#include <gtest/gtest.h>

#include <sstream>

#include "store/runs_sql_test.hpp"
#include "stream/event_codec.hpp"
#include "stream/event_text.hpp"

namespace {

using namespace testing_runs;
using runs::event_text;
using runs::log_rows;

TEST_F(runs_sql, the_default_partition_is_trimmed_by_age_and_keeps_running_runs) {
  start({.run = "01000000-0000-7000-8000-000000000001", .max_runs = 9});
  start({.run = "01000000-0000-7000-8000-000000000002", .max_runs = 9});
  start({.run = "0f000000-0000-7000-8000-000000000003", .max_runs = 9});
  EXPECT_EQ(sql("select count(distinct run_id) from runs.events_default"), "3")
      << "without partitions, rows go to the default partition";
  sql("select runs.force_stop(id) from runs.runs where id <> '01000000-0000-7000-8000-000000000002'");
  const std::string bound = "core.uuid_time('02000000-0000-0000-0000-000000000000')";
  EXPECT_EQ(sql("select runs.trim_log(" + bound + ", 1)"), "rows");
  EXPECT_EQ(sql("select runs.trim_log(" + bound + ", 1)"), "none");
  EXPECT_EQ(sql("select string_agg(distinct right(run_id::text, 1), ',') from runs.event"), "2,3");
  sql("select runs.force_stop('01000000-0000-7000-8000-000000000002')");
  EXPECT_EQ(sql("select runs.trim_log(" + bound + ", 10)"), "rows");
  EXPECT_EQ(sql("select string_agg(distinct right(run_id::text, 1), ',') from runs.event"), "3")
      << "the run that was still running during the first trim is trimmed now";
}

TEST_F(runs_sql, the_event_view_separates_merged_text_chunks) {
  const std::string run = "01000000-0000-7000-8000-000000000001";
  start({.run = run});
  std::string wire;
  event_text(wire, 2, "llm_response_start").integer("step", 1);
  event_text(wire, 3, "reasoning_chunk").text("content", "[\"so\"]\n\nid: 3\ndata: ");
  event_text(wire, 4, "llm_response_chunk").text("content", "say \\ \x01 \xc3\xa4, ");
  event_text(wire, 5, "llm_response_chunk").text("content", "");
  event_text(wire, 6, "llm_response_end").integer("step", 1);
  log_rows rows;
  rows.add(wire, 2, 6);
  ASSERT_EQ(rows.size(), 1u);
  ASSERT_NE(rows.texts[0], wire);
  sql("insert into runs.events (run_id, seq, last_seq, wire) values (" + q(run) + ", 2, 6, " + q(rows.texts[0]) + ")");
  std::string stored =
      sql("select string_agg(runs.event_wire(seq, payload), '' order by seq) from runs.event where seq > 1");
  EXPECT_EQ(stored, wire);
  EXPECT_EQ(sql("select count(*) || ' ' || min(seq) || ' ' || max(seq) from runs.event"), "6 1 6");
}

// The start of the first partition. run_of() returns the id of a run that began this many days and hours later.
constexpr char week_ago[] = "(select date_trunc('day', now()) - interval '7 days')";
class log_partitions : public runs_sql {
 protected:
  void SetUp() override {
    runs_sql::SetUp();
    if (IsSkipped()) return;
    for (int day = 0; day < 3; ++day) {
      const std::string part = "runs.events_day" + std::to_string(day);
      sql("create table " + part +
          " (like runs.events including defaults including storage including compression including indexes)");
      sql("do $$ begin execute format('alter table runs.events attach partition " + part +
          " for values from (%L) to (%L)', core.uuid_floor(" + week_ago + " + interval '" + std::to_string(day) +
          " days'), core.uuid_floor(" + week_ago + " + interval '" + std::to_string(day + 1) + " days')); end $$");
    }
  }
  std::string run_of(int day, int hour) const {
    return sql("select overlay(core.uuid_floor(" + std::string(week_ago) + " + interval '" +
               std::to_string(day * 24 + hour) + " hours')::text placing '7000-8000-00000000000" + std::to_string(day) +
               "' from 15)");
  }
  std::string partition_of(const std::string& run) const {
    return sql("select string_agg(distinct tableoid::regclass::text, ',') from runs.events where run_id = " + q(run));
  }
  std::string trim(const std::string& before) const { return sql("select runs.trim_log(" + before + ", 10)"); }
  std::string partitions() const {
    return sql("select string_agg(part::text, ',' order by lower_at) from core.partitions_of('runs.events')");
  }
  static std::string days(int n) { return std::string(week_ago) + " + interval '" + std::to_string(n) + " days'"; }
};

TEST_F(log_partitions, finished_runs_are_dropped_with_their_partition_and_a_live_run_keeps_its_partition) {
  const std::string first = run_of(0, 3), second = run_of(1, 3), third = run_of(2, 3);
  for (const std::string& run : {first, second, third}) start({.run = run, .max_runs = 9});
  EXPECT_EQ(partition_of(first), "runs.events_day0");
  EXPECT_EQ(partition_of(second), "runs.events_day1");
  for (const std::string& run : {first, third}) persist(run, 2, 9, end_step("completed"));
  sql(append_sql(second, log_row(2, 4, "word"), "'{}', '{}', '{}'"));
  EXPECT_EQ(trim(days(0) + " + interval '23 hours'"), "none") << "the partition contains newer rows";
  EXPECT_EQ(trim(days(2) + " + interval '1 hour'"), "partition");
  EXPECT_EQ(trim(days(2) + " + interval '1 hour'"), "none");
  EXPECT_EQ(partitions(), "runs.events_day1,runs.events_day2");
  EXPECT_EQ(sql("select count(*) from runs.event where run_id = " + q(second)), "4") << "the run is still running";
  EXPECT_EQ(sql("select count(*) from runs.event where run_id = " + q(first)), "0");
  sql(append_sql(second, log_row(5, 6, "more"), "'{}', '{}', '{}'"));
  EXPECT_EQ(partition_of(second), "runs.events_day1");
  EXPECT_EQ(sql("select runs.force_stop(" + q(second) + ")"), "stopped");
  EXPECT_EQ(trim(days(3)), "partition");
  EXPECT_EQ(trim(days(3)), "partition");
  EXPECT_EQ(trim(days(3)), "none");
  EXPECT_EQ(sql("select count(*) from runs.events"), "0");
  EXPECT_EQ(counts(), "3 3 3 3 0 0") << "runs and messages are kept";
}

// The event has the same text as the one that the worker, or the request that ended the run, wrote to the log.
TEST_F(log_partitions, the_terminal_event_is_available_after_the_log_is_trimmed) {
  const std::string run = run_of(0, 1), failed = run_of(1, 1);
  start({.run = run, .max_runs = 9});
  EXPECT_EQ(sql("select count(*) from runs.terminal_wire(" + q(run) + ")"), "0") << "the run is still running";
  sql("select runs.force_stop(" + q(run) + ")");
  const std::string stored =
      sql("select wire from runs.events where run_id = " + q(run) + " order by seq desc limit 1");
  EXPECT_NE(stored.find("\"status\": \"stopped\""), std::string::npos) << stored;
  EXPECT_EQ(sql("select * from runs.terminal_wire(" + q(run) + ")"), stored);
  start({.run = failed, .max_runs = 9});
  sql("update runs.runs set status = 'failed', completed_at = started_at + interval '2 seconds', border_seq = 7, "
      "reason = 'error', error = E'it \"broke\"\n', error_code = 'LLM', charged_micro = 1500000, queue_wait_ms = 3, "
      "input_tokens = 4, output_tokens = 5 where id = " +
      q(failed));
  EXPECT_EQ(trim("'infinity'"), "partition");
  EXPECT_EQ(trim("'infinity'"), "partition");
  EXPECT_EQ(sql("select * from runs.terminal_wire(" + q(run) + ")"), stored);
  EXPECT_EQ(sql("select * from runs.terminal_wire(" + q(failed) + ")"),
            "id: 7\ndata: {\"type\": \"status\", \"sequence\": 7, \"status\": \"failed\", \"reason\": \"error\", "
            "\"error\": \"it \\\"broke\\\"\\n\", \"error_code\": \"LLM\", \"usage\": {\"input_tokens\":4,"
            "\"output_tokens\":5,\"cached_tokens\":0}, \"tokens\": 9, \"credits\": 1.5, \"duration_ms\": 2000, "
            "\"queue_wait_ms\": 3, \"time_to_first_token_ms\": null}\n\n");
}

TEST_F(log_partitions, trimming_does_not_wait_for_readers_and_does_not_block_starts) {
  const std::string run = run_of(0, 1);
  start({.run = run, .max_runs = 9});
  sql("select runs.force_stop(" + q(run) + ")");
  const auto reader = connect();
  reader("begin");
  reader("select count(*) from runs.events_day0");
  EXPECT_EQ(trim(days(1)), "locked");
  EXPECT_EQ(partitions(), "runs.events_day0,runs.events_day1,runs.events_day2");
  // A long-running reader of the complete table: a DROP that waits for it would block all later readers.
  reader("commit");
  reader("begin");
  reader("lock table only runs.events in access share mode");
  EXPECT_EQ(trim(days(1)), "locked");
  reader("commit");
  EXPECT_EQ(trim(days(1)), "partition");
}

TEST_F(runs_sql, partitions_are_created_in_advance) {
  const auto make = [&](const std::string& width) {
    return sql("select core.partitions_make('runs.events', " + width + ") > now() + interval '10 minutes'");
  };
  EXPECT_EQ(make("interval '1 day'"), "t");
  EXPECT_EQ(sql("select count(*) from core.partitions_of('runs.events')"), "3");
  EXPECT_EQ(sql("select bool_and(lower_at = date_trunc('day', lower_at at time zone 'utc') at time zone 'utc' "
                "and upper_at = lower_at + interval '1 day') from core.partitions_of('runs.events')"),
            "t");
  EXPECT_EQ(make("interval '1 day'"), "t");
  EXPECT_EQ(sql("select count(*) from core.partitions_of('runs.events')"), "3") << "no further partition is due";
  // The partitions have the storage options of the default partition.
  EXPECT_EQ(
      sql("select count(distinct c.reloptions) || ' ' || count(distinct a.attstorage) || ' ' || bool_and(a.attstorage = 'm')"
          " || ' ' || count(distinct a.attcompression)"
          "  from pg_inherits i join pg_class c on c.oid = i.inhrelid join pg_attribute a on a.attrelid = c.oid "
          "   and a.attname = 'wire' where i.inhparent = 'runs.events'::regclass"),
      "1 1 true 1");
  start({});
  EXPECT_EQ(sql("select count(*) from runs.events_default"), "0");
  EXPECT_EQ(sql("select tableoid::regclass = (select part from core.partitions_of('runs.events') "
                "where now() >= lower_at and now() < upper_at) from runs.events"),
            "t");
  sql("insert into runs.events select id, 2, 40, repeat(E'id: 2\\ndata: {\"type\": \"status\"}\\n\\n', 100) from runs.runs");
  EXPECT_EQ(
      sql("select pg_column_compression(wire) || ' ' || (pg_column_size(wire) < 300) from runs.events where seq = 2"),
      "lz4 true");
  // After a change of the width, the new partitions begin where the last old one ends.
  EXPECT_EQ(make("interval '2 days'"), "t");
  EXPECT_EQ(
      sql("select bool_and(upper_at = next) from (select upper_at, lead(lower_at) over (order by lower_at) as next "
          "from core.partitions_of('runs.events')) x where next is not null"),
      "t");
}

TEST_F(runs_sql, new_partitions_begin_after_the_rows_of_the_default_partition) {
  start({});
  EXPECT_EQ(sql("select count(*) from runs.events_default"), "1");
  EXPECT_EQ(sql("select core.partitions_make('runs.events', interval '2 days') is not null"), "t");
  EXPECT_EQ(sql("select count(*) from runs.events_default"), "1");
  EXPECT_EQ(sql("select min(lower_at) > now() from core.partitions_of('runs.events')"), "t");
  // A row from a node whose clock is far ahead does not affect the other partitions.
  sql("insert into runs.events (run_id, seq, last_seq, wire) values (core.uuid_floor(now() + interval '9 days'), 1, 1, 'x')");
  EXPECT_EQ(sql("select core.partitions_make('runs.events', interval '5 days') > now() + interval '8 days'"), "t");
  EXPECT_EQ(sql("select count(*) from runs.events_default"), "2");
}

TEST_F(runs_sql, the_partition_width_depends_on_the_retention) {
  const auto width = [&](const std::string& keep) { return sql("select core.partition_width('" + keep + "')"); };
  EXPECT_EQ(width("30 days"), "1 day");
  EXPECT_EQ(width("1 day"), "06:00:00");
  EXPECT_EQ(width("5 minutes"), "00:01:15");
  EXPECT_EQ(width("1 minute"), "00:01:00");
  EXPECT_EQ(sql("select 365000 / extract(day from core.partition_width('365000 days')) <= 501"), "t");
}

// With any number of partitions, only the run's partition is read, by its index.
TEST_F(log_partitions, the_log_of_a_run_is_read_from_one_partition_by_index) {
  const std::string run = run_of(1, 1);
  start({.run = run, .max_runs = 9});
  sql("insert into runs.events select core.uuid_floor(" + std::string(week_ago) +
      " + n * interval '1 minute'), 1, 1, 'x' "
      "from generate_series(1, 3000) n");
  sql("analyze runs.events");
  for (
      const std::string query :
      {"select e.last_seq from runs.events e where e.run_id = $1 order by e.seq desc limit 1",
       "select * from runs.events where run_id = $1 and last_seq >= $2 and seq >= coalesce((select seq from runs.events "
       "where run_id = $1 and seq <= $2 order by seq desc limit 1), 0) order by seq limit 100",
       "select * from runs.event where run_id = $1 and $2 >= 0",
       "select coalesce(max(last_seq), 0) from runs.events where run_id = $1 and seq > $2",
       "delete from runs.events where run_id = any (array[$1]) and $2 >= 0"}) {
    for (const std::string mode : {"force_generic_plan", "force_custom_plan"}) {
      sql("set plan_cache_mode = " + mode);
      sql("prepare q (uuid, bigint) as " + query);
      const std::string plan = sql(
          "select * from pg_temp.plan_of('explain (analyze, costs off, timing off) execute q (''" + run + "'', 2)')");
      sql("deallocate q");
      EXPECT_EQ(plan.find("Seq Scan on"), std::string::npos) << mode << plan;
      EXPECT_NE(plan.find("events_day1"), std::string::npos) << mode << plan;
      std::istringstream lines(plan);
      for (std::string line; std::getline(lines, line);) {
        const bool other_partition = line.find("Scan") != std::string::npos &&
                                     line.find(" on events_") != std::string::npos &&
                                     line.find("events_day1") == std::string::npos;
        if (other_partition) {
          EXPECT_NE(line.find("never executed"), std::string::npos) << mode << line << "\n" << plan;
        }
      }
    }
  }
}

}  // namespace
