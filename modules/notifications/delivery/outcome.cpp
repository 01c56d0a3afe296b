#include "delivery/outcome.hpp"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

namespace notifications {

namespace json = boost::json;

namespace {

constexpr std::uint64_t first_pause_ms = 5'000;
constexpr std::uint64_t longest_pause_ms = 3'600'000;
constexpr std::uint64_t driver_pause_ms = 60'000;
constexpr int first_follow_s = 30;
constexpr std::size_t longest_detail = 500;

bool again(std::int32_t outcome) noexcept {
  return outcome != RY_NOTIFY_ACCEPTED && outcome != RY_NOTIFY_DELIVERED && outcome != RY_NOTIFY_SKIPPED &&
         outcome != RY_NOTIFY_REFUSED && outcome != RY_NOTIFY_GONE;
}

std::uint64_t back_off_ms(std::uint32_t attempt, double jitter) {
  const auto ms = std::min(first_pause_ms << std::min(attempt > 0 ? attempt - 1 : 0, 10u), longest_pause_ms);
  return static_cast<std::uint64_t>(static_cast<double>(ms) * (0.5 + jitter));
}

std::string cut(std::string text) {
  if (text.size() > longest_detail) {
    text.resize(longest_detail);
    while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xc0) == 0x80) text.pop_back();
    if (!text.empty() && static_cast<unsigned char>(text.back()) >= 0xc0) text.pop_back();
  }
  return text;
}

json::object row(std::uint32_t channel, const ry::notify::result& r, follow what) {
  json::object o{{"channel", static_cast<std::int64_t>(channel)},
                 {"token", r.token},
                 {"state", state_name(r.outcome)},
                 {"provider", r.provider},
                 {"provider_id", r.provider_id},
                 {"detail", cut(r.detail)}};
  if (r.outcome == RY_NOTIFY_ACCEPTED && what == follow::yes) o["follow_s"] = first_follow_s;
  return o;
}

}  // namespace

const char* state_name(std::int32_t outcome) noexcept {
  switch (outcome) {
    case RY_NOTIFY_ACCEPTED:
      return "accepted";
    case RY_NOTIFY_DELIVERED:
      return "delivered";
    case RY_NOTIFY_SKIPPED:
      return "skipped";
    case RY_NOTIFY_REFUSED:
      return "refused";
    case RY_NOTIFY_GONE:
      return "gone";
    default:
      return "retry";
  }
}

verdict judge(std::uint32_t asked, const ry::notify::results& said, std::uint32_t attempt, follow what, double jitter) {
  verdict out;
  json::array rows;
  std::uint32_t spoken = 0;
  std::uint64_t requested_ms = 0;
  for (const auto& r : said) {
    for (const std::uint32_t channel : {RY_NOTIFY_EMAIL, RY_NOTIFY_PUSH}) {
      if ((asked & r.channels & channel) == 0) continue;
      spoken |= channel;
      auto one = r;
      const bool stranger = r.outcome == RY_NOTIFY_GONE && r.token.empty();
      if (stranger && attempt <= 1) {
        // Once: after an update about the account, the orchestrator may know it.
        out.unknown_subscriber = true;
        one.outcome = RY_NOTIFY_RETRY_NEW;
      }
      rows.push_back(row(channel, one, what));
      if (!again(one.outcome)) continue;
      out.pending |= channel;
      out.why = one.detail;
      // A pause is a definite answer as well: an orchestrator that stores answers by key must not repeat it.
      out.new_epoch = out.new_epoch || one.outcome == RY_NOTIFY_RETRY_NEW || one.outcome == RY_NOTIFY_PAUSED;
      if (r.outcome == RY_NOTIFY_THROTTLED && channel == RY_NOTIFY_EMAIL) out.throttled = true;
      requested_ms = std::max<std::uint64_t>(requested_ms, std::uint64_t{r.retry_after_s} * 1000);
      if (r.outcome == RY_NOTIFY_PAUSED) {
        out.counts = false;
        out.pause_ms = std::max(requested_ms, driver_pause_ms);
      }
    }
  }
  for (const std::uint32_t channel : {RY_NOTIFY_EMAIL, RY_NOTIFY_PUSH}) {
    if ((asked & ~spoken & channel) == 0) continue;
    ry::notify::result silent(channel, RY_NOTIFY_RETRY);
    silent.detail = "The orchestrator did not report on this channel";
    rows.push_back(row(channel, silent, what));
    out.pending |= channel;
    out.why = silent.detail;
  }
  // Failed push messages are retried separately.
  out.throttled = out.throttled && out.pending == RY_NOTIFY_EMAIL;
  if (out.throttled) out.counts = false;
  out.results_json = json::serialize(rows);
  out.wait_ms = std::max(requested_ms, back_off_ms(attempt, jitter));
  return out;
}

verdict judge_failure(std::uint32_t asked, const ry::error& why, std::uint32_t attempt, double jitter) {
  ry::notify::result r(asked, RY_NOTIFY_RETRY);
  r.retry_after_s = why.retry_after_s();
  r.detail =
      why.message().empty() ? std::string("No answer: ") + ry::status_name(why.status()) : std::string(why.message());
  auto out = judge(asked, {std::move(r)}, attempt, follow::no, jitter);
  out.counts = why.status() != RY_CANCELLED;
  return out;
}

}  // namespace notifications
