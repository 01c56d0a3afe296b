#include "mail_sender.hpp"

#include <boost/json/parse.hpp>
#include <ry/cpp/html.hpp>

#include "sealed_body.hpp"

namespace mail {
namespace {

namespace json = boost::json;

constexpr std::uint64_t min_pause_ms = 5'000;
constexpr std::uint64_t max_pause_ms = 300'000;
// Retrying a connection costs the relay nothing; retrying a wrong password might lock the account.
constexpr std::uint64_t max_unreachable_pause_ms = 15'000;
constexpr std::int64_t seal_batch_size = 1;  // bodies can be large

std::optional<ry::uuid> read_id(std::string_view args) {
  json::error_code bad;
  const auto doc = json::parse(json::string_view(args.data(), args.size()), bad);
  if (bad || !doc.is_object()) return std::nullopt;
  const auto* id = doc.get_object().if_contains("id");
  if (id == nullptr || !id->is_string()) return std::nullopt;
  return ry::uuid::parse(std::string_view(id->get_string().data(), id->get_string().size()));
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (auto at = text.find(from); at != text.npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

// Replaces the placeholder with the link; without a link, removes the lines that contain the placeholder.
std::string insert_link(std::string text, std::string_view link) {
  if (!link.empty()) return replaced(std::move(text), unsubscribe_mark, link);
  for (auto at = text.find(unsubscribe_mark); at != text.npos; at = text.find(unsubscribe_mark)) {
    const auto before = text.rfind('\n', at);
    const auto begin = before == text.npos ? 0 : before + 1;
    text.erase(begin, text.find('\n', at) == text.npos ? text.npos : text.find('\n', at) + 1 - begin);
  }
  return text;
}

}  // namespace

mail_sender::mail_sender(const ry::context& ctx, const repository& repo, const settings& s, const brand& b,
                         std::string links)
    : ctx_(ctx), repo_(repo), settings_(s), brand_(b), links_(std::move(links)), smtp_(s) {
  const auto count = [&](const char* outcome) {
    return ctx.metrics().counter("attempts_total", "Attempts to send a message to the relay", {{"outcome", outcome}});
  };
  sent_ = count("sent");
  retried_ = count("retry");
  refused_ = count("refused");
  dead_ = count("dead_lettered");
  relay_errors_ = count("relay_trouble");
  unreadable_ = count("unreadable");
}

std::uint64_t mail_sender::remaining_pause_ms() const noexcept {
  const auto remaining = paused_until_us_.load(std::memory_order_relaxed) - ctx_.mono_us();
  return remaining > 0 ? static_cast<std::uint64_t>(remaining) / 1000 + 1 : 0;
}

std::uint64_t mail_sender::pause_after_relay_error(std::uint64_t max_ms) noexcept {
  const auto n = consecutive_relay_errors_.fetch_add(1, std::memory_order_relaxed);
  const auto ms = std::min(min_pause_ms << std::min(n, 6u), max_ms);
  paused_until_us_.store(ctx_.mono_us() + static_cast<std::int64_t>(ms) * 1000, std::memory_order_relaxed);
  return ms;
}

email mail_sender::compose(ry::uuid id, attempt_start t) const {
  email message;
  message.id = id.to_string();
  message.address = std::move(t.address);
  message.subject = std::move(t.subject);
  message.date_unix_s = ctx_.now_unix_us() / 1'000'000;
  std::string link;
  if (!t.token.empty() && !links_.empty()) link = links_ + "/mail/unsubscribe/" + t.token;
  message.brand_name = brand_.name;
  const auto text = insert_link(std::move(t.text), link);
  const auto html = replaced(std::move(t.html), unsubscribe_mark, ry::escaped_html(link));
  auto rendered = apply_layout(brand_, message.subject, text, html, link);
  message.text = std::move(rendered.text);
  message.html = std::move(rendered.html);
  // Every message with an unsubscribe link also has the List-Unsubscribe header.
  message.unsubscribe_url = link;
  return message;
}

ry::task<void> mail_sender::seal_plain_bodies() const {
  for (;;) {
    auto unsealed = co_await repo_.unsealed_messages(seal_batch_size);
    if (unsealed.empty()) co_return;
    for (auto& m : unsealed) {
      auto sealed = seal_bodies(ctx_, m.text.value_or(""), m.html.value_or(""));
      co_await repo_.replace_bodies(std::move(m), std::move(sealed));
    }
  }
}

ry::task<ry::job_outcome> mail_sender::deliver(ry::job job) {
  const auto id = read_id(job.args());
  if (!id) co_return ry::job_outcome::dead(ry::bad_request("mail.job", "the job has no message id"));
  if (settings_.host.empty()) co_return ry::job_outcome::snooze(max_pause_ms);
  if (const auto wait = remaining_pause_ms(); wait != 0) co_return ry::job_outcome::snooze(wait);

  const lease held{job.id(), job.fence()};
  auto t = co_await repo_.begin_attempt(*id, held, settings_.gap_ms);
  if (t.next == attempt_start::action::done) co_return ry::job_outcome::done();
  if (t.next == attempt_start::action::wait) co_return ry::job_outcome::snooze(t.wait_ms);

  if (is_sealed(t.text)) {
    auto opened = open_bodies(ctx_, t.text);
    if (!opened && opened.status() != RY_DATA_LOSS) co_return ry::job_outcome::retry(opened.error());
    if (!opened) {
      attempt_result result;
      result.state = "dead";
      result.reply = "the message cannot be decrypted: its key is neither secrets.key nor in secrets.old_keys";
      ctx_.log_error("a message was dead-lettered; after the key is restored, requeue it (POST /admin/mail/" +
                         id->to_string() + "/requeue)",
                     ry::error(RY_DATA_LOSS, "mail.body", result.reply));
      unreadable_.add();
      co_await repo_.end_attempt(*id, held, std::move(result));
      co_return ry::job_outcome::done_in_tx();
    }
    t.text = std::move(opened->text);
    t.html = std::move(opened->html);
  }
  if (t.bulk && links_.empty()) {
    attempt_result result;
    result.state = "refused";
    result.reply = "http.public_url is not set: the message would have no unsubscribe link";
    ctx_.warn("a message was refused", {{"message", *id}, {"reply", result.reply}});
    refused_.add();
    co_await repo_.end_attempt(*id, held, std::move(result));
    co_return ry::job_outcome::done_in_tx();
  }

  const auto work = [this, message = compose(*id, std::move(t))] { return smtp_.send(message); };
  attempt a = co_await ctx_.run_blocking(work);
  // The result is stored even if the host stops meanwhile.
  auto recorded = record_result(*id, job, std::move(a));
  co_return co_await ry::shield(std::move(recorded));
}

ry::task<ry::job_outcome> mail_sender::record_result(ry::uuid id, const ry::job& job, attempt a) {
  const auto outcome = classify_attempt(a);
  attempt_result result;
  result.state = "queued";
  result.code = a.reply_code;
  result.reply = describe(a);
  result.maybe_duplicate = a.all_sent && outcome == verdict::retry && a.reply_code < 400;
  result.bounced = outcome == verdict::bounced;
  if (outcome == verdict::sent) result.state = "sent";
  if (outcome == verdict::refused || outcome == verdict::bounced) result.state = "refused";
  if (outcome == verdict::retry && job.attempt() >= job.max_attempts()) result.state = "dead";
  const std::string reply = result.reply;
  const auto max_ms = is_unreachable(a) ? max_unreachable_pause_ms : max_pause_ms;
  const bool ended = result.state != "queued";
  const lease held{job.id(), job.fence()};
  co_await repo_.end_attempt(id, held, std::move(result));

  if (outcome != verdict::relay_error) consecutive_relay_errors_.store(0, std::memory_order_relaxed);
  const ry::error failure(RY_UNAVAILABLE, "mail.relay", reply);
  switch (outcome) {
    case verdict::sent:
      sent_.add();
      break;
    case verdict::refused:
    case verdict::bounced:
      refused_.add();
      ctx_.warn("a message was refused", {{"message", id}, {"reply", reply}});
      break;
    case verdict::relay_error: {
      relay_errors_.add();
      const auto ms = pause_after_relay_error(max_ms);
      ctx_.log_error("the mail relay is not usable; e-mails wait in the outbox", failure);
      co_return ry::job_outcome::snooze(ms);
    }
    case verdict::retry:
      (ended ? dead_ : retried_).add();
      if (ended) ctx_.warn("a message was dead-lettered", {{"message", id}, {"reply", reply}});
      break;
  }
  if (ended) co_return ry::job_outcome::done_in_tx();
  co_return ry::job_outcome::retry(failure);
}

}  // namespace mail
