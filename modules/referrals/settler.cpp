#include "settler.hpp"

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>

#include "code.hpp"

namespace referrals {
namespace {

namespace json = boost::json;

constexpr std::int64_t batch = 200;

std::string member(const json::object& o, std::string_view name) {
  const auto* v = o.if_contains(json::string_view(name.data(), name.size()));
  if (v == nullptr || !v->is_string()) return {};
  return std::string(v->get_string().data(), v->get_string().size());
}

}  // namespace

void settler::add_to(ry::registrar& reg) {
  // Only what the rule looks at: each event is a job.
  std::string kinds = "account.created";
  if (settings_.qualify == "email_verified") kinds += ",account.verified";
  if (settings_.qualify == "first_run") kinds += ",run.completed";
  reg.subscribe("progress", kinds, this, &settler::heard);
  ry::job_options o;
  o.cron = "* * * * *";
  o.concurrency = 1;
  reg.job("referrals.settle", this, &settler::settle, o);
}

ry::task<void> settler::heard(ry::event e) {
  const auto account = ry::uuid::parse(e.key());
  if (!account) co_return;
  if (e.kind() == "account.created") {
    co_await welcome(*account, std::string(e.payload()));
  } else if (e.kind() == "account.verified") {
    co_await repo_.qualify(*account);
  } else {
    co_await repo_.finished_run(*account);
  }
}

ry::task<void> settler::welcome(ry::uuid account, std::string payload) {
  co_await repo_.code_of(account);
  json::error_code bad;
  const auto doc = json::parse(payload, bad);
  if (bad || !doc.is_object()) co_return;
  const auto code = read_code(member(doc.get_object(), "referral_code"));
  if (code.empty()) co_return;
  std::optional<std::string> ip;
  if (auto text = member(doc.get_object(), "ip"); !text.empty()) ip = std::move(text);
  const auto outcome = co_await repo_.attach(account, code, std::move(ip));
  ctx_.debug("an account signed up with a code", {{"account", account}, {"outcome", outcome}});
}

ry::task<ry::job_outcome> settler::settle(ry::job) {
  for (;;) {
    const auto n = co_await repo_.settle_due(batch);
    if (n == 0) break;
  }
  co_return ry::job_outcome::done();
}

}  // namespace referrals
