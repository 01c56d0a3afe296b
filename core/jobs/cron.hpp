// Schedules of periodic jobs: five crontab(5) fields in UTC, or "@every 30s|5m|2h", "@hourly", "@daily", "@weekly",
// "@monthly".
#pragma once

#include <bitset>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace ry::jobs {

class cron {
 public:
  using time = std::chrono::sys_seconds;

  // Returns nullopt and sets `error` to an error message if the text is invalid.
  static std::optional<cron> parse(std::string_view text, std::string& error);
  // The first tick strictly after `t`; nullopt if there is none within eight years (30 February).
  std::optional<time> next(time t) const;

 private:
  std::chrono::seconds every_{0};  // 0: use the fields
  std::bitset<60> minute_;
  std::bitset<24> hour_;
  std::bitset<32> day_;
  std::bitset<13> month_;
  std::bitset<7> weekday_;
  bool day_any_ = true, weekday_any_ = true;
};

}  // namespace ry::jobs
