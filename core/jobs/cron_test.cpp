#include "core/jobs/cron.hpp"

#include <gtest/gtest.h>

namespace {

using namespace std::chrono;
using ry::jobs::cron;

cron::time at(int y, unsigned mo, unsigned d, int h = 0, int mi = 0, int s = 0) {
  return sys_days(year(y) / month(mo) / day(d)) + hours(h) + minutes(mi) + seconds(s);
}

cron::time next(const char* text, cron::time t) {
  std::string why;
  auto c = cron::parse(text, why);
  EXPECT_TRUE(c) << text << ": " << why;
  return c->next(t).value();
}

TEST(cron, finds_the_next_tick) {
  EXPECT_EQ(next("* * * * *", at(2026, 1, 1, 0, 0, 0)), at(2026, 1, 1, 0, 1));
  EXPECT_EQ(next("* * * * *", at(2026, 1, 1, 0, 0, 59)), at(2026, 1, 1, 0, 1));
  EXPECT_EQ(next("*/15 * * * *", at(2026, 1, 1, 0, 15)), at(2026, 1, 1, 0, 30));
  EXPECT_EQ(next("5 4 * * *", at(2026, 1, 1, 4, 5)), at(2026, 1, 2, 4, 5));
  EXPECT_EQ(next("0 0 31 * *", at(2026, 4, 1)), at(2026, 5, 31));
  EXPECT_EQ(next("0 0 29 feb *", at(2026, 1, 1)), at(2028, 2, 29));
  EXPECT_EQ(next("30 9 * * mon-fri", at(2026, 11, 20, 10)), at(2026, 11, 23, 9, 30));
  EXPECT_EQ(next("0 12 * * 7", at(2026, 11, 21)), at(2026, 11, 22, 12));
  EXPECT_EQ(next("0 0 13 * 5", at(2026, 11, 1)), at(2026, 11, 6));  // matches either day field
  EXPECT_EQ(next("10-20/5,50 * * * *", at(2026, 1, 1, 0, 20)), at(2026, 1, 1, 0, 50));
  EXPECT_EQ(next("0 0 1 1 *", at(2026, 6, 1)), at(2027, 1, 1));
}

TEST(cron, a_step_in_a_day_field_is_applied) {
  EXPECT_EQ(next("0 0 */2 * *", at(2026, 1, 1)), at(2026, 1, 3));
  EXPECT_EQ(next("0 0 * * */3", at(2026, 11, 22)), at(2026, 11, 25));  // Sunday, then Wednesday
  EXPECT_EQ(next("0 0 */10 * fri", at(2026, 1, 1)), at(2026, 5, 1));  // the first Friday on the 1st, 11th, ...
  EXPECT_EQ(next("0 0 13 * */5", at(2026, 1, 1)), at(2026, 2, 13));  // the first 13th that is a Sunday or Friday
}

TEST(cron, a_step_beyond_the_range_matches_once) {
  EXPECT_EQ(next("1/2147483647 * * * *", at(2026, 1, 1)), at(2026, 1, 1, 0, 1));
  EXPECT_EQ(next("1/2147483647 * * * *", at(2026, 1, 1, 0, 1)), at(2026, 1, 1, 1, 1));
  EXPECT_EQ(next("0 0 * * 7/2147483647", at(2026, 11, 21)), at(2026, 11, 22));
}

TEST(cron, every_ticks_on_multiples_of_the_interval) {
  EXPECT_EQ(next("@every 30s", at(2026, 1, 1, 0, 0, 1)), at(2026, 1, 1, 0, 0, 30));
  EXPECT_EQ(next("@every 30s", at(2026, 1, 1, 0, 0, 30)), at(2026, 1, 1, 0, 1));
  EXPECT_EQ(next("@every 2h", at(2026, 1, 1, 3)), at(2026, 1, 1, 4));
}

TEST(cron, a_date_that_never_occurs_has_no_tick) {
  std::string why;
  EXPECT_FALSE(cron::parse("0 0 30 2 *", why)->next(at(2026, 1, 1)));
}

TEST(cron, errors_name_the_field) {
  for (auto [text, part] : {std::pair{"60 * * * *", "minute"},
                            {"* 24 * * *", "hour"},
                            {"* * 0 * *", "day-of-month"},
                            {"* * * 13 *", "month"},
                            {"* * * * 8", "day-of-week"},
                            {"* * * *", "five fields"},
                            {"* * * * * *", "five fields"},
                            {"@every 0s", "@every"},
                            {"@every s", "@every"},
                            {"*/0 * * * *", "minute"},
                            {"5-1 * * * *", "minute"},
                            {", * * * *", "minute"}}) {
    std::string why;
    EXPECT_FALSE(cron::parse(text, why)) << text;
    EXPECT_NE(why.find(part), why.npos) << text << ": " << why;
  }
}

}  // namespace
