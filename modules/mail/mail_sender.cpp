#include "mail_sender.hpp"

#include <boost/json/parse.hpp>
#include <ry/cpp/html.hpp>

#include "sealed_body.hpp"

namespace mail {
namespace {

namespace json = boost::json;

constexpr std::uint64_t first_pause_ms = 5'000;
constexpr std::uint64_t longest_pause_ms = 300'000;
// A retry of a connection costs the relay nothing; a retry of a wrong password might lock the account.
constexpr std::uint64_t longest_unreachable_ms = 15'000;
constexpr std::int64_t max_sealed_at_once = 1;  // bodies can be large

std::optional<ry::uuid> read_id(std::string_view args) {
  json::error_code bad;
  const auto doc = json::parse(json::string_view(args.data(), args.size()), bad);
  if (bad || !doc.is_object()) return std::nullopt;
  const auto* id = doc.get_object().if_contains("id");
  if (id == nullptr || !id->is_string()) return std::nullopt;
  return ry::uuid::parse(std::string_view(id->get_string().data(), id->get_string().size()));
}

std::string replaced(std::string text, std::string_view what, std::string_view by) {
  for (auto at = text.find(what); at != text.npos; at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
  return text;
}

// Replaces the placeholder by the link; without a link, removes the lines with the placeholder.
std::string append_link(std::string text, std::string_view link) {
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
  dead_ = count("given_up");
  trouble_ = count("relay_trouble");
  unreadable_ = count("unreadable");
}

std::uint64_t mail_sender::paused_ms() const noexcept {
  const auto left = paused_until_us_.load(std::memory_order_relaxed) - ctx_.mono_us();
  return left > 0 ? static_cast<std::uint64_t>(left) / 1000 + 1 : 0;
}

std::uint64_t mail_sender::pause(std::uint64_t longest_ms) noexcept {
  const auto n = troubles_.fetch_add(1, std::memory_order_relaxed);
  const auto ms = std::min(first_pause_ms << std::min(n, 6u), longest_ms);
  paused_until_us_.store(ctx_.mono_us() + static_cast<std::int64_t>(ms) * 1000, std::memory_order_relaxed);
  return ms;
}

email mail_sender::write(ry::uuid id, turn t) const {
  email l;
  l.id = id.to_string();
  l.address = std::move(t.address);
  l.subject = std::move(t.subject);
  l.date_unix_s = ctx_.now_unix_us() / 1'000'000;
  std::string link;
  if (!t.token.empty() && !links_.empty()) link = links_ + "/mail/unsubscribe/" + t.token;
  l.brand_name = brand_.name;
  const auto text = append_link(std::move(t.text), link);
  const auto html = replaced(std::move(t.html), unsubscribe_mark, ry::escaped_html(link));
  auto both = lay_out(brand_, l.subject, text, html, link);
  l.text = std::move(both.text);
  l.html = std::move(both.html);
  // Every message with an unsubscribe link also has the List-Unsubscribe header.
  l.unsubscribe_url = link;
  return l;
}

ry::task<void> mail_sender::seal_plain_bodies() const {
  for (;;) {
    auto plain = co_await repo_.plain_messages(max_sealed_at_once);
    if (plain.empty()) co_return;
    for (auto& m : plain) {
      auto sealed = seal_bodies(ctx_, m.text.value_or(""), m.html.value_or(""));
      co_await repo_.replace_bodies(std::move(m), std::move(sealed));
    }
  }
}

ry::task<ry::job_outcome> mail_sender::deliver(ry::job job) {
  const auto id = read_id(job.args());
  if (!id) co_return ry::job_outcome::dead(ry::bad_request("mail.job", "the job names no message"));
  if (settings_.host.empty()) co_return ry::job_outcome::snooze(longest_pause_ms);
  if (const auto wait = paused_ms(); wait != 0) co_return ry::job_outcome::snooze(wait);

  const lease mine{job.id(), job.fence()};
  auto t = co_await repo_.begin_attempt(*id, mine, settings_.gap_ms);
  if (t.what == turn::kind::over) co_return ry::job_outcome::done();
  if (t.what == turn::kind::wait) co_return ry::job_outcome::snooze(t.wait_ms);

  if (is_sealed(t.text)) {
    auto opened = open_bodies(ctx_, t.text);
    if (!opened && opened.status() != RY_DATA_LOSS) co_return ry::job_outcome::retry(opened.error());
    if (!opened) {
      ending e;
      e.state = "dead";
      e.reply = "the message cannot be decrypted: its key is neither secrets.key nor in secrets.old_keys";
      ctx_.log_error("a message was dead-lettered; after the key is restored, requeue it (POST /admin/mail/" +
                         id->to_string() + "/requeue)",
                     ry::error(RY_DATA_LOSS, "mail.body", e.reply));
      unreadable_.add();
      co_await repo_.end_attempt(*id, mine, std::move(e));
      co_return ry::job_outcome::done_in_tx();
    }
    t.text = std::move(opened->text);
    t.html = std::move(opened->html);
  }
  if (t.bulk && links_.empty()) {
    ending e;
    e.state = "refused";
    e.reply = "http.public_url is not set: there would be no link to unsubscribe";
    ctx_.warn("a message was refused", {{"message", *id}, {"reply", e.reply}});
    refused_.add();
    co_await repo_.end_attempt(*id, mine, std::move(e));
    co_return ry::job_outcome::done_in_tx();
  }

  const auto work = [this, l = write(*id, std::move(t))] { return smtp_.send(l); };
  attempt a = co_await ctx_.run_blocking(work);
  // The result is stored even if the host stops meanwhile.
  auto settled = settle(*id, job, std::move(a));
  co_return co_await ry::shield(std::move(settled));
}

ry::task<ry::job_outcome> mail_sender::settle(ry::uuid id, const ry::job& job, attempt a) {
  const auto what = judge(a);
  ending e;
  e.state = "queued";
  e.code = a.reply_code;
  e.reply = describe(a);
  e.maybe_duplicate = a.all_sent && what == verdict::retry && a.reply_code < 400;
  e.bounced = what == verdict::bounced;
  if (what == verdict::sent) e.state = "sent";
  if (what == verdict::refused || what == verdict::bounced) e.state = "refused";
  if (what == verdict::retry && job.attempt() >= job.max_attempts()) e.state = "dead";
  const std::string reply = e.reply;
  const auto longest_ms = is_unreachable(a) ? longest_unreachable_ms : longest_pause_ms;
  const bool over = e.state != "queued";
  const lease mine{job.id(), job.fence()};
  co_await repo_.end_attempt(id, mine, std::move(e));

  if (what != verdict::relay_trouble) troubles_.store(0, std::memory_order_relaxed);
  const ry::error why(RY_UNAVAILABLE, "mail.relay", reply);
  switch (what) {
    case verdict::sent:
      sent_.add();
      break;
    case verdict::refused:
    case verdict::bounced:
      refused_.add();
      ctx_.warn("a message was refused", {{"message", id}, {"reply", reply}});
      break;
    case verdict::relay_trouble: {
      trouble_.add();
      const auto ms = pause(longest_ms);
      ctx_.log_error("the mail relay is not usable; e-mails wait in the outbox", why);
      co_return ry::job_outcome::snooze(ms);
    }
    case verdict::retry:
      (over ? dead_ : retried_).add();
      if (over) ctx_.warn("a message was dead-lettered", {{"message", id}, {"reply", reply}});
      break;
  }
  if (over) co_return ry::job_outcome::done_in_tx();
  co_return ry::job_outcome::retry(why);
}

}  // namespace mail
