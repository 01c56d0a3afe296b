// Parses amounts of credits in JSON documents.
#pragma once
#include <ry/svc/accounts.h>
#include <boost/json/value.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

namespace module_json {

// Converts a number of credits with at most six decimals to micro-credits. nullopt if it is not a number, has more
// decimals, or lies outside [min, max]. A double represents an amount with six decimals only approximately, so the
// comparison allows for rounding.
inline std::optional<std::int64_t> micro_credits(const boost::json::value& v, std::int64_t min, std::int64_t max) {
  boost::json::error_code ec;
  const auto credits = v.to_number<double>(ec);
  if (ec || !(std::abs(credits) < 9e12)) return std::nullopt;
  const auto micro = v.is_int64() ? v.get_int64() * RY_MICRO_PER_CREDIT : std::llround(credits * RY_MICRO_PER_CREDIT);
  const double back = static_cast<double>(micro) / RY_MICRO_PER_CREDIT;
  if (std::abs(back - credits) > 4 * std::numeric_limits<double>::epsilon() * std::abs(credits)) return std::nullopt;
  return micro < min || micro > max ? std::nullopt : std::optional<std::int64_t>(micro);
}

}  // namespace module_json
