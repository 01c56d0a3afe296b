#include <ry/testing.hpp>

#include <gtest/gtest.h>

namespace ry {
namespace {

using testing::fake_host;

struct db_test : ::testing::Test {
  fake_host host;
  context& ctx = host.ctx();
  database db = ctx.db();
};

TEST_F(db_test, arguments_of_every_kind_arrive) {
  host.db.on("select", {});
  const auto body = [&]() -> task<void> {
    const std::vector<std::string> names{"a", "", "c"};
    const std::vector<std::optional<std::string>> some{"x", std::nullopt};
    const std::vector<std::int64_t> ids{1, 2};
    const std::optional<std::int64_t> none;
    const auto id = *uuid::parse("018f3b1c-0000-7abc-8def-0123456789ab");
    result<rows> r = co_await db.query("select 1", 7, true, 1.5, "text", std::string("temporary"), names, some, ids,
                                       none, nullptr, id, bytes_view("\x01\x02"), std::string_view());
    r.value();
  };
  host.await(body());
  using c = testing::cell;
  const std::vector<c> expected{"7",
                                "t",
                                "1.500000",
                                "text",
                                "temporary",
                                "{a,,c}",
                                "{x,NULL}",
                                "{1,2}",
                                c(),
                                c(),
                                "018f3b1c-0000-7abc-8def-0123456789ab",
                                "\x01\x02",
                                ""};
  EXPECT_EQ(host.db.calls.at(0).params, expected);
}

TEST_F(db_test, getters_by_index_and_name) {
  host.db.on("select", {{"id", "n", "ok", "x", "none"},
                        {{"018f3b1c-0000-7abc-8def-0123456789ab", "-12", "t", "2.5", std::nullopt},
                         {"nothing", "12x", "maybe", "", "v"}}});
  const auto body = [&]() -> task<void> {
    rows r = (co_await db.query("select")).value();
    EXPECT_EQ(r.size(), 2u);
    const row a = r.front();
    EXPECT_EQ(a.uuid("id").to_string(), "018f3b1c-0000-7abc-8def-0123456789ab");
    EXPECT_EQ(a.int64(1), -12);
    EXPECT_TRUE(a.boolean("ok"));
    EXPECT_EQ(a.real("x"), 2.5);
    EXPECT_TRUE(a.is_null("none"));
    EXPECT_FALSE(a.opt_text("none"));
    EXPECT_FALSE(a.opt_int64(4));
    EXPECT_EQ(a.opt_int64("n"), -12);
    EXPECT_THROW(a.text("none"), error);
    EXPECT_THROW(a.text("unknown"), error);
    EXPECT_THROW(a.text(5), error);
    const row b = r[1];
    EXPECT_THROW(b.uuid(0), error);
    EXPECT_THROW(b.int64("n"), error);
    EXPECT_THROW(b.boolean("ok"), error);
    EXPECT_THROW(b.real("x"), error);
    std::size_t n = 0;
    for (const row one : r) n += one.columns();
    EXPECT_EQ(n, 10u);
  };
  host.await(body());
}

TEST_F(db_test, rows_outlive_their_query_and_empty_ones_are_safe) {
  host.db.on("a", {{"v"}, {{"kept"}}});
  host.db.on("b", {{"v"}, {}, 3});
  rows kept = host.await([](database d) -> task<rows> {
    result<rows> r = co_await d.query("a");
    co_return r.value();
  }(db));
  EXPECT_EQ(kept.front().text(0), "kept");
  rows none = host.await([](database d) -> task<rows> {
    result<rows> r = co_await d.query("b");
    co_return r.value();
  }(db));
  EXPECT_TRUE(none.empty());
  EXPECT_EQ(none.affected(), 3u);
  EXPECT_THROW(none.front(), error);
  EXPECT_TRUE(rows().empty());
}

TEST_F(db_test, failures_are_results) {
  host.db.fail("insert", conflict("db.23505", "duplicate"));
  const auto body = [&]() -> task<void> {
    result<rows> r = co_await db.query("insert");
    EXPECT_EQ(r.error().reason(), "db.23505");
    result<rows> unknown = co_await db.query("update");
    EXPECT_EQ(unknown.status(), RY_UNIMPLEMENTED);
  };
  host.await(body());
}

TEST_F(db_test, batch_copies_its_arguments) {
  host.db.on("insert", {});
  batch b;
  {
    const std::string gone = "a text that is long enough to live on the heap";
    const std::vector<std::string> list{gone, "b"};
    const std::vector<std::int64_t> ids{4, 5};
    b.add("insert 1", gone, list, ids).add("insert 2", 2);
  }
  const auto body = [&]() -> task<void> {
    result<std::vector<rows>> all = co_await db.run(b);
    EXPECT_EQ(all.value().size(), 2u);
  };
  host.await(body());
  ASSERT_EQ(host.db.calls.size(), 2u);
  EXPECT_EQ(host.db.calls[0].params[1], "{a text that is long enough to live on the heap,b}");
  EXPECT_EQ(host.db.calls[0].params[2], "{4,5}");
}

TEST_F(db_test, transaction_commits_or_rolls_back) {
  host.db.on("x", {});
  const auto body = [&](bool commit) -> task<void> {
    tx t = (co_await db.begin()).value();
    result<rows> r = co_await t.query("x", 1);
    r.value();
    if (commit) {
      result<void> done = co_await t.commit();
      done.value();
    }
  };
  host.await(body(true));
  EXPECT_EQ(host.db.commits, 1);
  EXPECT_EQ(host.db.rollbacks, 0);
  host.await(body(false));
  EXPECT_EQ(host.db.rollbacks, 1);
  EXPECT_TRUE(host.db.calls[0].in_tx);
}

}  // namespace
}  // namespace ry
