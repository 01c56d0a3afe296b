#include "types/outcome.hpp"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

namespace notifications {

namespace json = boost::json;

namespace {

constexpr std::uint64_t min_backoff_ms = 5'000;
constexpr std::uint64_t max_backoff_ms = 3'600'000;
constexpr std::uint64_t driver_pause_ms = 60'000;
constexpr int first_poll_s = 30;
constexpr std::size_t max_detail_bytes = 500;
constexpr std::size_t max_failures_bytes = 2000;

bool needs_retry(std::int32_t outcome) noexcept {
  return outcome != RY_NOTIFY_ACCEPTED && outcome != RY_NOTIFY_DELIVERED && outcome != RY_NOTIFY_SKIPPED &&
         outcome != RY_NOTIFY_REFUSED && outcome != RY_NOTIFY_GONE;
}

std::uint64_t backoff_ms(std::uint32_t attempt, double jitter) {
  const auto ms = std::min(min_backoff_ms << std::min(attempt > 0 ? attempt - 1 : 0, 10u), max_backoff_ms);
  return static_cast<std::uint64_t>(static_cast<double>(ms) * (0.5 + jitter));
}

std::string truncated(std::string text) {
  if (text.size() > max_detail_bytes) {
    text.resize(max_detail_bytes);
    while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xc0) == 0x80) text.pop_back();
    if (!text.empty() && static_cast<unsigned char>(text.back()) >= 0xc0) text.pop_back();
  }
  return text;
}

// Appends "channel: why" to the list unless it contains it; many devices fail for the same reason.
void add_failure(std::string& list, std::uint32_t channel, const ry::notify::result& r) {
  std::string one = channel == RY_NOTIFY_EMAIL ? "email: " : "push: ";
  one += r.detail.empty() ? state_name(r.outcome) : truncated(r.detail);
  if (("; " + list + "; ").find("; " + one + "; ") != std::string::npos ||
      list.size() + one.size() > max_failures_bytes)
    return;
  list += (list.empty() ? "" : "; ") + one;
}

json::object row(std::uint32_t channel, const ry::notify::result& r, tracking track) {
  json::object o{{"channel", static_cast<std::int64_t>(channel)},
                 {"token", r.token},
                 {"state", state_name(r.outcome)},
                 {"provider", r.provider},
                 {"provider_id", r.provider_id},
                 {"detail", truncated(r.detail)}};
  if (r.outcome == RY_NOTIFY_ACCEPTED && track == tracking::yes) o["follow_s"] = first_poll_s;
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

attempt_verdict evaluate_results(std::uint32_t requested, const ry::notify::results& results, std::uint32_t attempt,
                                 tracking track, double jitter) {
  attempt_verdict out;
  json::array rows;
  std::uint32_t reported = 0;
  std::uint64_t requested_ms = 0;
  for (const auto& r : results) {
    for (const std::uint32_t channel : {RY_NOTIFY_EMAIL, RY_NOTIFY_PUSH}) {
      if ((requested & r.channels & channel) == 0) continue;
      reported |= channel;
      auto channel_result = r;
      const bool unknown_recipient = r.outcome == RY_NOTIFY_GONE && r.token.empty();
      if (unknown_recipient && attempt <= 1) {
        // Retry once: after the update of the subscriber, the orchestrator may accept it.
        out.unknown_subscriber = true;
        channel_result.outcome = RY_NOTIFY_RETRY_NEW;
      }
      rows.push_back(row(channel, channel_result, track));
      const bool pending = needs_retry(channel_result.outcome);
      if (pending || channel_result.outcome == RY_NOTIFY_REFUSED || channel_result.outcome == RY_NOTIFY_GONE)
        add_failure(out.failures, channel, channel_result);
      if (!pending) continue;
      out.pending |= channel;
      out.reason = channel_result.detail;
      // A pause is a definite answer as well: an orchestrator that stores answers by key must not repeat it.
      out.new_epoch =
          out.new_epoch || channel_result.outcome == RY_NOTIFY_RETRY_NEW || channel_result.outcome == RY_NOTIFY_PAUSED;
      if (r.outcome == RY_NOTIFY_THROTTLED && channel == RY_NOTIFY_EMAIL) out.throttled = true;
      requested_ms = std::max<std::uint64_t>(requested_ms, std::uint64_t{r.retry_after_s} * 1000);
      if (r.outcome == RY_NOTIFY_PAUSED) {
        out.counts = false;
        out.pause_ms = std::max(requested_ms, driver_pause_ms);
      }
    }
  }
  for (const std::uint32_t channel : {RY_NOTIFY_EMAIL, RY_NOTIFY_PUSH}) {
    if ((requested & ~reported & channel) == 0) continue;
    ry::notify::result silent(channel, RY_NOTIFY_RETRY);
    silent.detail = "The orchestrator did not report on this channel";
    rows.push_back(row(channel, silent, track));
    out.pending |= channel;
    out.reason = silent.detail;
    add_failure(out.failures, channel, silent);
  }
  // Failed push messages are retried separately.
  out.throttled = out.throttled && out.pending == RY_NOTIFY_EMAIL;
  if (out.throttled) out.counts = false;
  out.results_json = json::serialize(rows);
  out.wait_ms = std::max(requested_ms, backoff_ms(attempt, jitter));
  return out;
}

attempt_verdict evaluate_failure(std::uint32_t requested, const ry::error& reason, std::uint32_t attempt,
                                 double jitter) {
  ry::notify::result r(requested, RY_NOTIFY_RETRY);
  r.retry_after_s = reason.retry_after_s();
  r.detail = reason.message().empty() ? std::string("No answer: ") + ry::status_name(reason.status())
                                      : std::string(reason.message());
  auto out = evaluate_results(requested, {std::move(r)}, attempt, tracking::no, jitter);
  out.counts = reason.status() != RY_CANCELLED;
  return out;
}

}  // namespace notifications
