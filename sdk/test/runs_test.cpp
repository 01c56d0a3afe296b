// The wrapper of runs/1 (ry/cpp/runs.hpp) with the scripted service of ry/testing_runs.hpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ry/cpp/runs.hpp>
#include <ry/testing_runs.hpp>

namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr char account_text[] = "11111111-1111-4111-8111-111111111111";
constexpr char run_text[] = "22222222-2222-4222-8222-222222222222";
const ry::uuid account = *ry::uuid::parse(account_text);
const ry::uuid run_id = *ry::uuid::parse(run_text);

std::vector<std::string> numbered(int from, int to) {
  std::vector<std::string> out;
  for (int i = from; i <= to; ++i) out.push_back("{\"sequence\": " + std::to_string(i) + "}");
  return out;
}

struct runs_test : testing::Test {
  ry::testing::fake_runs fake;
  ry::testing::fake_host host;
  std::optional<ry::runs::client> client;
  std::vector<std::string> log;  // what the reading chain saw

  void SetUp() override {
    fake.provide(host);
    client.emplace(host.ctx());
  }
  void TearDown() override { EXPECT_THAT(fake.violations, IsEmpty()); }

  // Reads to the end; notes each batch as "first-last", and the end.
  ry::task<void> read(ry::runs::follow_options options = {}) {
    ry::runs::reader events = client->follow(account, run_text, options);
    try {
      while (const ry::runs::batch* b = co_await events.next()) {
        log.push_back(std::to_string(b->events.front().sequence) + "-" + std::to_string(b->events.back().sequence));
        for (const ry::runs::event& e : b->events)
          EXPECT_EQ(e.json, "{\"sequence\": " + std::to_string(e.sequence) + "}");
      }
      log.push_back("end");
    } catch (const ry::error& e) {
      log.push_back(ry::status_name(e.status()));
    }
  }
  void spawn(ry::task<void> t, ry::cancel_token token = {}) {
    ASSERT_TRUE(host.ctx().spawn(std::move(t), host.exec(), std::move(token)));
  }
  template <class T>
  ry::error error_of(ry::task<T> t) {
    try {
      (void)host.await(std::move(t));
    } catch (const ry::error& e) {
      return e;
    }
    return ry::error(RY_OK);
  }
};

TEST_F(runs_test, a_start_passes_fields_files_and_key) {
  fake.on_start({run_text, "t", "p", true, 3});
  ry::runs::start_request start(account);
  start.field("prompt", "Hello").field("model_name", "m").file("a.txt", "text/plain", std::string("x\0y", 3)).key("k");
  const ry::runs::started run = host.await(client->start(std::move(start)));
  EXPECT_EQ(run.run_id, run_text);
  EXPECT_EQ(run.thread_id, "t");
  EXPECT_EQ(run.project_id, "p");
  EXPECT_TRUE(run.replayed);
  EXPECT_EQ(run.queue_position, 3);
  ASSERT_EQ(fake.starts.size(), 1u);
  const auto& record = fake.starts[0];
  EXPECT_EQ(record.account, account);
  EXPECT_EQ(record.field("prompt"), "Hello");
  EXPECT_EQ(record.field("model_name"), "m");
  EXPECT_EQ(record.field("other"), std::nullopt);
  ASSERT_EQ(record.files.size(), 1u);
  EXPECT_EQ(record.files[0].name, "a.txt");
  EXPECT_EQ(record.files[0].media_type, "text/plain");
  EXPECT_EQ(record.files[0].content, std::string("x\0y", 3));
  EXPECT_EQ(record.key, "k");
  EXPECT_EQ(record.tx, nullptr);
}

TEST_F(runs_test, starts_without_a_script_make_new_runs) {
  const ry::runs::started a = host.await(client->start(ry::runs::start_request(account)));
  const ry::runs::started b = host.await(client->start(ry::runs::start_request(account)));
  EXPECT_TRUE(ry::uuid::parse(a.run_id) && ry::uuid::parse(a.thread_id) && ry::uuid::parse(a.project_id));
  EXPECT_NE(a.run_id, b.run_id);
}

TEST_F(runs_test, a_start_can_be_part_of_a_transaction) {
  host.await([](runs_test* t) -> ry::task<void> {
    ry::result<ry::tx> opened = co_await t->host.ctx().db().begin();
    ry::tx tx = std::move(opened).value();
    co_await t->client->start(ry::runs::start_request(account), &tx);
    EXPECT_EQ(t->fake.starts.at(0).tx, tx.handle());
    ry::result<void> committed = co_await tx.commit();
    committed.value();
    t->client->wake();
  }(this));
  EXPECT_EQ(host.db.commits, 1);
  EXPECT_EQ(host.db.rollbacks, 0);
  EXPECT_EQ(fake.wakes, 1);
}

TEST_F(runs_test, errors_have_the_status_and_the_body_of_the_route) {
  const ry::error refused =
      ry::error(RY_RESOURCE_EXHAUSTED, "runs.limit", "Too many runs", R"({"limit":1})").with_http(402);
  fake.on_start(refused);
  const ry::error e = error_of(client->start(ry::runs::start_request(account)));
  EXPECT_EQ(e.status(), RY_RESOURCE_EXHAUSTED);
  EXPECT_EQ(e.http_status(), 402u);
  EXPECT_EQ(e.message(), "Too many runs");
  EXPECT_EQ(e.detail_json(), R"({"limit":1})");
  fake.fail("get", refused);
  EXPECT_EQ(error_of(client->get(account, run_id)).detail_json(), R"({"limit":1})");
}

TEST_F(runs_test, other_functions_return_their_texts) {
  for (const char* name :
       {"stop", "get", "list", "messages", "delete_thread", "models", "approvals", "decide", "tool_results"})
    fake.on(name, std::string("\"") + name + "\"");
  EXPECT_EQ(host.await(client->stop(account, run_id)), "\"stop\"");
  EXPECT_EQ(host.await(client->get(account, run_id)), "\"get\"");
  EXPECT_EQ(host.await(client->list(account, {{"limit", "5"}, {"cursor", ""}})), "\"list\"");
  EXPECT_EQ(host.await(client->messages(account, run_id, {{"limit", "6"}})), "\"messages\"");
  host.await(client->delete_thread(account, run_id));
  EXPECT_EQ(host.await(client->models(account)), "\"models\"");
  EXPECT_EQ(host.await(client->approvals(account, {})), "\"approvals\"");
  EXPECT_EQ(host.await(client->decide(account, run_id, "{}")), "\"decide\"");
  EXPECT_EQ(host.await(client->tool_results(account, run_id, "[]")), "\"tool_results\"");
  ASSERT_EQ(fake.calls.size(), 9u);
  EXPECT_EQ(fake.calls[2].query, (ry::runs::fields{{"limit", "5"}, {"cursor", ""}}));
  EXPECT_EQ(fake.calls[3].id, run_id);
  EXPECT_EQ(fake.calls[7].json, "{}");
  EXPECT_EQ(fake.calls[8].json, "[]");
}

TEST_F(runs_test, a_reader_gets_batches_and_the_end) {
  fake.max_batch = 4;
  fake.add_events(run_text, numbered(1, 10));
  fake.end(run_text);
  host.await(read());
  EXPECT_THAT(log, ElementsAre("1-4", "5-8", "9-10", "end"));
  EXPECT_EQ(fake.open_readers(), 0u);
}

TEST_F(runs_test, a_reader_begins_after_a_number) {
  fake.add_events(run_text, numbered(1, 10));
  fake.end(run_text);
  ry::runs::follow_options options;
  options.after = 7;
  options.merge_ms = 50;
  options.flags = RY_RUN_BACKGROUND;
  host.await(read(options));
  options.after = 10;
  host.await(read(options));
  EXPECT_THAT(log, ElementsAre("8-10", "end", "end"));
  EXPECT_EQ(fake.follows.at(0).run, run_id);
  EXPECT_EQ(fake.follows.at(0).merge_ms, 50u);
  EXPECT_EQ(fake.follows.at(0).flags, RY_RUN_BACKGROUND);
}

TEST_F(runs_test, events_that_arrive_one_by_one_are_read_one_by_one) {
  fake.add_events(run_text, {});
  spawn(read());
  host.run();
  for (int i = 1; i <= 3; ++i) {
    fake.add_events(run_text, numbered(i, i));
    host.run();
  }
  fake.end(run_text);
  host.run();
  EXPECT_THAT(log, ElementsAre("1-1", "2-2", "3-3", "end"));
}

TEST_F(runs_test, a_reader_that_does_nothing_is_paused) {
  fake.max_batch = 2;
  fake.add_events(run_text, numbered(1, 6));
  fake.end(run_text);
  ry::signal go;
  const auto slow = [](runs_test* t, ry::signal* go) -> ry::task<void> {
    ry::runs::reader events = t->client->follow(account, run_text);
    while (const ry::runs::batch* b = co_await events.next()) {
      t->log.push_back(std::string(b->events.front().json));
      (void)co_await go->wait();
      // The batch is unchanged until the next call.
      EXPECT_EQ(b->events.front().json, t->log.back());
    }
  };
  spawn(slow(this, &go));
  for (std::size_t n = 1; n <= 3; ++n) {
    host.run();
    EXPECT_EQ(log.size(), n);
    EXPECT_EQ(fake.paused_readers(), 1u);
    go.set();
  }
  host.run();
  EXPECT_EQ(fake.open_readers(), 0u);
}

TEST_F(runs_test, a_foreign_or_unknown_run_is_not_found) {
  fake.on_start({run_text, {}, {}});
  host.await(client->start(ry::runs::start_request(account)));
  fake.end(run_text);
  host.await(read());
  const auto first = [](ry::runs::client* c, const char* run) -> ry::task<void> {
    ry::runs::reader events = c->follow(ry::uuid(), run);
    (void)co_await events.next();
  };
  EXPECT_EQ(error_of(first(&*client, run_text)).http_status(), 404u);
  EXPECT_EQ(error_of(first(&*client, "33333333-3333-4333-8333-333333333333")).status(), RY_NOT_FOUND);
  EXPECT_EQ(error_of(first(&*client, "no id")).status(), RY_NOT_FOUND);
  EXPECT_THAT(log, ElementsAre("end"));
}

TEST_F(runs_test, a_cancelled_chain_stops_waiting_and_closes_its_reader) {
  fake.add_events(run_text, numbered(1, 1));
  ry::cancel_source source;
  spawn(read(), source.token());
  host.run();
  EXPECT_THAT(log, ElementsAre("1-1"));
  EXPECT_EQ(fake.open_readers(), 1u);
  source.cancel(RY_REASON_GONE);
  host.run();
  EXPECT_THAT(log, ElementsAre("1-1", "cancelled"));
  EXPECT_EQ(fake.open_readers(), 0u);
}

TEST_F(runs_test, a_reader_that_is_destroyed_early_gets_no_more_calls) {
  fake.max_batch = 1;
  fake.add_events(run_text, numbered(1, 3));
  host.await([](runs_test* t) -> ry::task<void> {
    ry::runs::reader events = t->client->follow(account, run_text);
    (void)co_await events.next();
    (void)co_await events.next();
    ry::runs::reader moved(std::move(events));
    (void)co_await moved.next();
  }(this));
  EXPECT_EQ(fake.open_readers(), 0u);
  fake.add_events(run_text, numbered(4, 4));
  host.run();
}

TEST_F(runs_test, a_reader_that_never_read_was_never_opened) {
  (void)client->follow(account, run_text);
  host.run();
  EXPECT_THAT(fake.follows, IsEmpty());
}

TEST_F(runs_test, a_stop_of_the_service_ends_a_waiting_reader) {
  fake.add_events(run_text, numbered(1, 2));
  spawn(read());
  host.run();
  fake.end(run_text, ry::error(RY_CANCELLED));
  host.run();
  fake.reopen(run_text);
  fake.add_events(run_text, numbered(3, 3));
  fake.end(run_text);
  ry::runs::follow_options options;
  options.after = 2;
  host.await(read(options));
  EXPECT_THAT(log, ElementsAre("1-2", "cancelled", "3-3", "end"));
}

TEST_F(runs_test, a_stop_of_the_service_ends_a_paused_reader) {
  fake.max_batch = 2;
  fake.add_events(run_text, numbered(1, 4));
  ry::signal go;
  spawn([](runs_test* t, ry::signal* go) -> ry::task<void> {
    ry::runs::reader events = t->client->follow(account, run_text);
    const ry::runs::batch* b = co_await events.next();
    (void)co_await go->wait();
    t->log.push_back(std::string(b->events.back().json));  // still valid
    ry_status st = RY_OK;
    try {
      (void)co_await events.next();
    } catch (const ry::error& e) {
      st = e.status();
    }
    EXPECT_EQ(st, RY_CANCELLED);
    t->log.push_back("cancelled");
  }(this, &go));
  host.run();
  fake.end(run_text, ry::error(RY_CANCELLED));
  host.run();
  go.set();
  host.run();
  EXPECT_THAT(log, ElementsAre("{\"sequence\": 2}", "cancelled"));
}

TEST_F(runs_test, the_policy_decides_about_calls_that_no_run_makes) {
  fake.tool_actions = {{"asked", RY_RUN_TOOL_ASK}, {"denied", RY_RUN_TOOL_DENY}, {"unknown", 77}};
  using ry::runs::tool_action;
  EXPECT_TRUE(client->has_tool_action());
  EXPECT_EQ(client->tool_action("other", R"({"a":1})"), tool_action::run);
  EXPECT_EQ(client->tool_action("asked", "{}"), tool_action::ask);
  EXPECT_EQ(client->tool_action("denied", "{}"), tool_action::deny);
  EXPECT_EQ(client->tool_action("unknown", "{}"), tool_action::deny);
  EXPECT_EQ(client->mildest_tool_action("asked"), tool_action::ask);
  ASSERT_EQ(fake.calls.size(), 4u);
  EXPECT_EQ(fake.calls[0].json, R"({"a":1})");
}

TEST_F(runs_test, a_service_without_a_policy_for_calls_denies_them) {
  ry_runs_v1 older{};
  older.struct_size = offsetof(ry_runs_v1, tool_action);
  host.services[RY_SVC_RUNS_1] = {&older, nullptr};
  const ry::runs::client old(host.ctx());
  EXPECT_FALSE(old.has_tool_action());
  EXPECT_EQ(old.tool_action("any", "{}"), ry::runs::tool_action::deny);
  EXPECT_EQ(old.mildest_tool_action("any"), ry::runs::tool_action::deny);
}

}  // namespace
