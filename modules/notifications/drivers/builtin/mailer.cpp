#include "mailer.hpp"

#include <algorithm>
#include <ry/cpp/mail.hpp>

namespace notify_builtin {

namespace {

constexpr std::uint32_t throttled_retry_s = 600;

ry::notify::result make_result(std::int32_t outcome, std::string detail = {}) {
  ry::notify::result r(RY_NOTIFY_EMAIL, outcome, "mail");
  r.detail = std::move(detail);
  return r;
}

// The category that a recipient unsubscribes from: [a-z_]{1,32}.
std::string category_of(std::string_view workflow) {
  std::string out;
  for (const char c : workflow.substr(0, 32)) out += (c >= 'a' && c <= 'z') ? c : '_';
  return out;
}

}  // namespace

void mailer::start() {
  try {
    mail_ = ctx_.acquire<ry_mail_v1>(RY_SVC_MAIL_1);
  } catch (const ry::error& e) {
    if (e.status() != RY_NOT_FOUND) throw;
  }
}

ry::task<ry::notify::result> mailer::send(ry::notify::notification n) const {
  if (!mail_) co_return make_result(RY_NOTIFY_SKIPPED, "No mail module is available");
  if (n.to.email.empty()) co_return make_result(RY_NOTIFY_SKIPPED, "The account has no email");
  const auto category = category_of(n.workflow);
  // A retry by an administrator has a new epoch and is a new message.
  auto key = n.broadcast.empty() ? "notification:" + n.key : "broadcast:" + n.broadcast + ":" + n.key;
  if (n.epoch != 0) key += "." + std::to_string(n.epoch);
  const auto bodies = ry::seal_mail_bodies(mail_, n.texts.mail_text, n.texts.mail_html);
  const auto remaining_s = std::max<std::int64_t>((n.expires_unix_us - ctx_.now_unix_us()) / 1'000'000, 1);
  const auto enqueued = co_await ctx_.db().query(
      "select id, outcome from mail.enqueue($1, $2, $3, $4, bulk => $5, key => $6,"
      "  ttl => make_interval(secs => $7))",
      category, n.to.email, n.texts.title, bodies, n.bulk, key, remaining_s);
  if (!enqueued) {
    if (enqueued.error().is("db.RY422")) {
      co_return make_result(RY_NOTIFY_REFUSED, "The account's e-mail address is not valid");
    }
    throw enqueued.error();
  }
  const auto row = enqueued->front();
  const auto outcome = row.text("outcome");
  if (outcome == "suppressed") co_return make_result(RY_NOTIFY_SKIPPED, "The address is suppressed");
  if (outcome == "throttled") {
    auto r = make_result(RY_NOTIFY_THROTTLED, "The address received too many messages");
    r.retry_after_s = throttled_retry_s;
    co_return r;
  }
  mail_->wake(mail_.self());
  auto r = make_result(RY_NOTIFY_ACCEPTED);
  r.provider_id = row.text("id");
  co_return r;
}

ry::task<ry::notify::results> mailer::follow(std::vector<ry::notify::sent> sent) const {
  ry::notify::results out;
  std::vector<ry_uuid> ids;
  ids.reserve(sent.size());
  for (const auto& s : sent) ids.push_back(ry::uuid::parse(s.provider_id).value_or(ry::uuid()));
  if (!mail_ || ids.empty()) {
    for (std::size_t i = 0; i < sent.size(); ++i) out.push_back(make_result(RY_NOTIFY_ACCEPTED));
    co_return out;
  }
  auto reply = co_await ry::call<std::vector<std::int32_t>, const ry_mail_outcome*, std::size_t, std::size_t>(
      [&](ry_exec* exec, ry_mail_outcome_fn fn, void* p) {
        return mail_->outcomes(mail_.self(), ids.data(), ids.size(), 0, exec, fn, p);
      },
      [](const ry_mail_outcome* first, std::size_t n, std::size_t stride) {
        std::vector<std::int32_t> states;
        for (std::size_t i = 0; i < n; ++i) {
          const auto* at = reinterpret_cast<const char*>(first) + i * stride;
          states.push_back(reinterpret_cast<const ry_mail_outcome*>(at)->state);
        }
        return states;
      });
  const auto states = std::move(reply).value();
  for (const auto state : states) {
    switch (state) {
      case RY_MAIL_SENT:
        out.push_back(make_result(RY_NOTIFY_DELIVERED));
        break;
      case RY_MAIL_REFUSED:
        out.push_back(make_result(RY_NOTIFY_REFUSED, "The mail server rejected it"));
        break;
      case RY_MAIL_DEAD:
        out.push_back(make_result(RY_NOTIFY_REFUSED, "The mail server did not accept it in time"));
        break;
      case RY_MAIL_SUPPRESSED:
        out.push_back(make_result(RY_NOTIFY_REFUSED, "The recipient unsubscribed"));
        break;
      default:
        out.push_back(make_result(RY_NOTIFY_ACCEPTED));
    }
  }
  co_return out;
}

}  // namespace notify_builtin
