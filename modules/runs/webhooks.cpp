#include "webhooks.hpp"

#include <algorithm>
#include <boost/json.hpp>

namespace runs {

namespace json = boost::json;

namespace {

constexpr std::int64_t max_age_us = 24LL * 3600 * 1'000'000;

struct message {
  std::string endpoint, id, body;
};

std::optional<message> read_message(std::string_view args) {
  boost::system::error_code bad;
  const json::value value = json::parse(args, bad);
  if (bad || !value.is_object()) return std::nullopt;
  const json::object& o = value.as_object();
  message out;
  for (const auto& [key, member] :
       {std::pair<const char*, std::string*>{"endpoint", &out.endpoint}, {"id", &out.id}, {"body", &out.body}}) {
    const json::value* v = o.if_contains(key);
    if (v == nullptr || !v->is_string()) return std::nullopt;
    *member = std::string(v->as_string());
  }
  return out;
}

}  // namespace

ry::task<ry::job_outcome> webhooks::deliver(ry::job job) {
  const std::optional<message> m = read_message(job.args());
  if (!m)
    co_return ry::job_outcome::dead(ry::bad_request("runs.webhook", "the job arguments are not a webhook message"));
  const auto& all = config_.webhooks;
  const auto target =
      std::find_if(all.begin(), all.end(), [&](const webhook_endpoint& e) { return e.name == m->endpoint; });
  if (target == all.end())
    co_return ry::job_outcome::dead(
        ry::bad_request("runs.webhook", "runs.webhooks." + m->endpoint + " is no longer configured"));

  const standard_webhooks::endpoint receiver{"runs.webhooks." + target->name, target->url, {target->key}};
  ry::job_outcome out = co_await standard_webhooks::deliver(ctx_, receivers_, receiver, m->id, m->body);
  // Deliveries to a receiver that does not respond are snoozed, which does not use up attempts, so their age is
  // limited.
  if (out.kind() == RY_JOB_SNOOZE && ctx_.now_unix_us() - job.enqueued_unix_us() > max_age_us)
    co_return ry::job_outcome::dead(ry::unavailable("webhook.silent", receiver.name + " has not answered for a day"));
  co_return out;
}

}  // namespace runs
