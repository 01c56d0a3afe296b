#include <ry/cpp/page.hpp>

#include <ry/testing.hpp>

#include <gtest/gtest.h>

namespace ry {
namespace {

TEST(page, ends_at_the_limit_and_returns_the_last_key_if_more_rows_follow) {
  testing::fake_host host;
  database db = host.ctx().db();
  host.db.on("select", {{"id", "doc"}, {{"9", "{\"n\":9}"}, {"8", "{\"n\":8}"}, {"7", "{\"n\":7}"}}});
  const auto body = [&]() -> task<void> {
    const rows read = (co_await db.query("select")).value();
    const auto two = read_page(read, 2);
    EXPECT_EQ(two.rows, (std::vector<std::string>{"{\"n\":9}", "{\"n\":8}"}));
    EXPECT_EQ(two.next, "8");
    EXPECT_EQ(page_json("things", "things:a", two),
              "{\"things\":[{\"n\":9},{\"n\":8}],\"next_cursor\":\"" + make_cursor("things:a", "8") + "\"}");
    const auto all = read_page(read, 3);
    EXPECT_EQ(all.rows.size(), 3u);
    EXPECT_FALSE(all.next);
  };
  host.await(body());
  EXPECT_EQ(page_json("things", "things:a", {}), "{\"things\":[],\"next_cursor\":null}");
}

}  // namespace
}  // namespace ry
