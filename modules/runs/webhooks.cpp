#include "webhooks.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <ry/cpp/base64.hpp>

#include "webhook_signature.hpp"

namespace runs {

namespace json = boost::json;

namespace {

constexpr std::int64_t max_age_us = 24LL * 3600 * 1'000'000;

struct message {
  std::string target, id, body;
};

// target: the member of the arguments that names the receiver.
std::optional<message> read_message(std::string_view args, const char* target) {
  boost::system::error_code bad;
  const json::value value = json::parse(args, bad);
  if (bad || !value.is_object()) return std::nullopt;
  const json::object& o = value.as_object();
  message out;
  for (const auto& [key, member] :
       {std::pair<const char*, std::string*>{target, &out.target}, {"id", &out.id}, {"body", &out.body}}) {
    const json::value* v = o.if_contains(key);
    if (v == nullptr || !v->is_string()) return std::nullopt;
    *member = std::string(v->as_string());
  }
  return out;
}

ry::error not_a_message() {
  return ry::bad_request("runs.webhook", "the job arguments are not a webhook message");
}

}  // namespace

ry::task<ry::job_outcome> webhooks::deliver(ry::job job) {
  const std::optional<message> m = read_message(job.args(), "endpoint");
  if (!m) co_return ry::job_outcome::dead(not_a_message());
  const auto& all = config_.webhooks;
  const auto target =
      std::find_if(all.begin(), all.end(), [&](const webhook_endpoint& e) { return e.name == m->target; });
  if (target == all.end())
    co_return ry::job_outcome::dead(
        ry::bad_request("runs.webhook", "runs.webhooks." + m->target + " is no longer configured"));

  standard_webhooks::endpoint receiver{"runs.webhooks." + target->name, target->url, {target->key}};
  co_return co_await send(job, std::move(receiver), m->id, m->body);
}

ry::task<ry::job_outcome> webhooks::deliver_to_start(ry::job job) {
  const std::optional<message> m = read_message(job.args(), "run");
  if (!m) co_return ry::job_outcome::dead(not_a_message());
  ry::result<std::optional<start_webhook>> found = co_await repo_.webhook_of(m->target);
  if (!found) co_return ry::job_outcome::retry(found.error());
  if (!*found) co_return ry::job_outcome::done();  // the thread was deleted, and the run with it
  const start_webhook& webhook = **found;
  const std::optional<std::string> sealed =
      ry::base64_decode(webhook.sealed_secret, ry::base64_alphabet::url, ry::base64_padding::none);
  ry::result<std::string> secret = ctx_.secrets().open(webhook_binding(m->target), sealed.value_or(""));
  const std::optional<std::string> key = secret ? standard_webhooks::read_secret(*secret) : std::nullopt;
  if (!key)
    co_return ry::job_outcome::dead(ry::precondition(
        "runs.webhook", "the webhook_secret of a start cannot be read: the key that sealed it is not configured"));
  standard_webhooks::endpoint receiver{
      "the webhooks of account " + webhook.account, webhook.url, {*key}, webhook.account};
  co_return co_await send(job, std::move(receiver), m->id, m->body);
}

ry::task<ry::job_outcome> webhooks::send(ry::job job, standard_webhooks::endpoint receiver, std::string id,
                                         std::string body) {
  ry::job_outcome out = co_await standard_webhooks::deliver(ctx_, receivers_, receiver, std::move(id), std::move(body));
  // Deliveries to a receiver that does not respond are snoozed, which does not use up attempts, so their age is
  // limited.
  if (out.kind() == RY_JOB_SNOOZE && ctx_.now_unix_us() - job.enqueued_unix_us() > max_age_us)
    co_return ry::job_outcome::dead(ry::unavailable("webhook.silent", receiver.name + " has not answered for a day"));
  co_return out;
}

}  // namespace runs
