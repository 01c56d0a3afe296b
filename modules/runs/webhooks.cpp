#include "webhooks.hpp"

#include <sodium.h>
#include <time.h>

#include <algorithm>
#include <boost/json.hpp>

#include "parts.hpp"
#include "text.hpp"

namespace runs {

namespace json = boost::json;

namespace {

constexpr std::uint64_t answer_ms = 15'000;
constexpr std::uint64_t most_answer_bytes = 64 * 1024;
constexpr std::int64_t most_wait_s = 24 * 3600;

struct message {
  std::string endpoint, id, body;
};

std::optional<message> read_message(std::string_view args) {
  boost::system::error_code bad;
  const json::value value = json::parse(args, bad);
  if (bad || !value.is_object()) return std::nullopt;
  const json::object& o = value.as_object();
  message out;
  for (const auto& [key, target] :
       {std::pair<const char*, std::string*>{"endpoint", &out.endpoint}, {"id", &out.id}, {"body", &out.body}}) {
    const json::value* v = o.if_contains(key);
    if (v == nullptr || !v->is_string()) return std::nullopt;
    *target = std::string(v->as_string());
  }
  return out;
}

}  // namespace

std::string webhook_signature(std::string_view key, std::string_view id, std::int64_t timestamp,
                              std::string_view body) {
  const std::string head = std::string(id) + "." + std::to_string(timestamp) + ".";
  crypto_auth_hmacsha256_state state;
  crypto_auth_hmacsha256_init(&state, reinterpret_cast<const unsigned char*>(key.data()), key.size());
  for (const std::string_view part : {std::string_view(head), body})
    crypto_auth_hmacsha256_update(&state, reinterpret_cast<const unsigned char*>(part.data()), part.size());
  unsigned char mac[crypto_auth_hmacsha256_BYTES];
  crypto_auth_hmacsha256_final(&state, mac);
  char text[sodium_base64_ENCODED_LEN(sizeof mac, sodium_base64_VARIANT_ORIGINAL)];
  sodium_bin2base64(text, sizeof text, mac, sizeof mac, sodium_base64_VARIANT_ORIGINAL);
  return std::string("v1,") + text;
}

std::optional<std::uint64_t> retry_after_ms(std::string_view value, std::int64_t now_unix_s) {
  const std::string text = trim(value);
  std::int64_t seconds = 0;
  if (const auto number = parse_int(text)) {
    seconds = *number;
  } else {
    tm at{};
    const char* end = ::strptime(text.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &at);
    if (end == nullptr || *end != '\0') return std::nullopt;
    seconds = static_cast<std::int64_t>(::timegm(&at)) - now_unix_s;
  }
  if (seconds < 0) return std::nullopt;
  return static_cast<std::uint64_t>(std::min(seconds, most_wait_s)) * 1000;
}

ry::task<ry::job_outcome> webhooks::deliver(ry::job job) {
  const std::optional<message> m = read_message(job.args());
  if (!m) co_return ry::job_outcome::dead(ry::bad_request("runs.webhook", "the job is no message"));
  const auto& all = parts_.config.webhooks;
  const auto to = std::find_if(all.begin(), all.end(), [&](const webhook_endpoint& e) { return e.name == m->endpoint; });
  if (to == all.end())
    co_return ry::job_outcome::dead(
        ry::bad_request("runs.webhook", "runs.webhooks." + m->endpoint + " is no longer configured"));

  const std::int64_t now = parts_.ctx.now_unix_us() / 1'000'000;
  ry::client_request request("POST", to->url);
  request.header("webhook-id", m->id)
      .header("webhook-timestamp", std::to_string(now))
      .header("webhook-signature", webhook_signature(to->key, m->id, now, m->body))
      .body(m->body, "application/json")
      .total_timeout(answer_ms)
      .max_response(most_answer_bytes)
      .pool_key("runs.webhook." + to->name)
      .flags(RY_CLIENT_REPEATABLE);  // the receiver knows the message by its id
  ry::result<ry::client_response> answer = co_await parts_.ctx.http_client().fetch(std::move(request));
  if (!answer) co_return ry::job_outcome::retry(answer.error());
  if (answer->status >= 200 && answer->status < 300) co_return ry::job_outcome::done();
  ry::error refused(RY_UNAVAILABLE, "runs.webhook",
                    "runs.webhooks." + to->name + " answered " + std::to_string(answer->status));
  // Gone: the receiver wants no more of it.
  if (answer->status == 410) co_return ry::job_outcome::dead(std::move(refused));
  const auto wait = retry_after_ms(answer->header("Retry-After"), now);
  co_return ry::job_outcome::retry(std::move(refused), wait.value_or(0));
}

}  // namespace runs
