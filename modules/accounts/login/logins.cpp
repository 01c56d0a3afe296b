#include "logins.hpp"

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <ry/cpp/mail.hpp>

#include "../body.hpp"
#include "../members.hpp"
#include "../throttle.hpp"
#include "without_protection.hpp"

namespace accounts {
namespace {

namespace json = boost::json;

constexpr std::size_t max_waiting_hashes = 64;
constexpr std::int64_t quarter_hour = 900, hour = 3600;

ry::error link_not_valid() {
  return ry::http_error(400, RY_INVALID_ARGUMENT, "accounts.link", "This link is no longer valid",
                        R"({"message":"This link is no longer valid","error_code":"LINK_NOT_VALID"})");
}

ry::error wrong_login() {
  return ry::http_error(401, RY_UNAUTHENTICATED, "accounts.wrong_login", "Wrong e-mail address or password",
                        R"({"message":"Wrong e-mail address or password","error_code":"WRONG_LOGIN"})");
}

// Arguments of a job: [{id, name, last_used_at}].
listed_keys keys_in(const json::object* args) {
  listed_keys out;
  const auto* kept = args ? args->if_contains("keys_kept") : nullptr;
  out.kept = kept && kept->is_bool() && kept->get_bool();
  const auto* list = args ? args->if_contains("keys") : nullptr;
  if (!list || !list->is_array()) return out;
  for (const auto& each : list->get_array()) {
    const auto* o = each.if_object();
    out.keys.push_back({clean_member(o, "id", 16), clean_member(o, "name", 100), clean_member(o, "last_used_at", 40)});
  }
  return out;
}

}  // namespace

logins::logins(const ry::context& ctx, const repository& accounts, account_cache& people, const config& cfg,
               const login_settings& settings)
    : ctx_(ctx),
      accounts_(accounts),
      cfg_(cfg),
      settings_(settings),
      repo_(ctx),
      hasher_(ctx, settings.cost, settings.hash_parallel, max_waiting_hashes),
      sessions_(ctx, accounts, people, repo_, settings_) {}

ry::task<void> logins::start() {
  std::string missing;
  try {
    mail_ = ctx_.acquire<ry_mail_v1>(RY_SVC_MAIL_1);
    if (mail_->has_relay(mail_.self()) == 0) missing = "no mail relay is configured";
  } catch (const ry::error&) {
    missing = "no module provides mail/1";
  }
  if (!missing.empty() && settings_.enabled && settings_.verify == verification::email) {
    throw ry::precondition("accounts.needs_mail",
                           "accounts.local_login sends links by e-mail, but " + missing +
                               ": enable and configure the module mail, set accounts.login.verify = \"none\" (on a "
                               "server that only this machine reaches), or set accounts.local_login = false");
  }
  if (!missing.empty()) mail_ = {};
  if (settings_.enabled) co_await hasher_.prepare();
  co_await sessions_.learn_ended();
}

address logins::need_address(const std::string& typed) const {
  auto out = parse_address(typed);
  if (!out) throw body::invalid("email", "must be an e-mail address like name@example.org");
  return *std::move(out);
}

// The address gets an e-mail.
void logins::need_reachable(const address& to) const {
  if (mail_ && mail_->check_address(mail_.self(), ry::str(to.text)) == RY_FAILED_PRECONDITION) {
    throw body::invalid("email", "has a domain that cannot receive e-mail from the internet");
  }
}

void logins::need_good_password(std::string_view field, const std::string& password, std::string_view email) const {
  const auto fault = password_fault(password, email, settings_.min_password);
  if (!fault.empty()) throw body::invalid(field, fault);
}

std::string logins::link(std::string_view name, std::string_view token) const {
  return settings_.app_url + "/auth#" + std::string(name) + "=" + std::string(token);
}

sealed_email logins::sealed(const email& l) const {
  return {l.subject, ry::seal_mail_bodies(mail_, l.text, l.html)};
}

ry::task<bool> logins::needs_setup() {
  if (settings_.setup_code.empty() || set_up_) co_return false;
  const bool some = co_await repo_.has_logins();
  if (some) set_up_ = true;
  co_return !some;
}

// True if this sign-up has the setup code and creates the administrator. Throws if the code is required and missing.
ry::task<bool> logins::admit_first(std::string given) {
  const bool needed = co_await needs_setup();
  if (!needed) co_return false;
  if (given.empty()) {
    throw ry::http_error(
        403, RY_PERMISSION_DENIED, "accounts.setup_code",
        "The first sign-up requires the setup code, which ./quickstart printed",
        R"({"message":"The first sign-up requires the setup code, which ./quickstart printed","error_code":"SETUP_CODE_REQUIRED"})");
  }
  if (!same_hash(hash_secret(given), hash_secret(settings_.setup_code))) {
    throw ry::http_error(403, RY_PERMISSION_DENIED, "accounts.setup_code", "The setup code is wrong",
                         R"({"message":"The setup code is wrong","error_code":"SETUP_CODE_WRONG"})");
  }
  co_return true;
}

ry::task<signed_up> logins::sign_up(sign_up_form form, caller from) {
  new_login who;
  who.address = need_address(form.email);
  need_reachable(who.address);
  need_good_password("password", form.password, who.address.text);
  const bool at_once = settings_.verify == verification::none;
  if (at_once && (from.forwarded || !is_this_machine(from.address))) {
    throw ry::forbidden("accounts.this_machine_only",
                        "Without e-mail verification, sign-ups are accepted only from the server's own machine");
  }
  const auto net = customer_of(from.address);
  std::vector<bucket> limits{{"sign-up/net/" + net, settings_.attempts_per_network, hour},
                             {"sign-up/both/" + net + "/" + who.address.key, 5, hour},
                             {"sign-up/to/" + who.address.key, 60, hour}};
  co_await throttle(ctx_, std::move(limits));
  const bool first = co_await admit_first(std::move(form.setup_code));

  who.id = ctx_.new_uuid();
  who.password_hash = co_await hasher_.hash(std::move(form.password), net);
  who.name = std::move(form.name);
  who.referral_code = std::move(form.referral_code);
  who.network = neighbourhood_of(from);
  signed_up out;
  if (at_once) {
    const auto id = who.id;
    if (first)
      co_await repo_.make_first_login(std::move(who), cfg_.default_tier);
    else
      co_await repo_.make_login(std::move(who), cfg_.default_tier);
    out.tokens = co_await sessions_.open(id, std::move(from.user_agent));
    co_return out;
  }
  out.proof = make_token();
  co_await repo_.begin_sign_up(std::move(who), hash_secret(out.proof), settings_.verify_hours);
  ry::job_queue(ctx_).wake("default");
  co_return out;
}

ry::task<session_tokens> logins::verify(std::string token, std::string proof, std::string password, caller from) {
  const auto token_hash = hash_secret(token);
  const auto waiting = co_await repo_.sign_up_of_link(token_hash);
  if (!waiting) throw link_not_valid();
  bool theirs = !proof.empty() && same_hash(hash_secret(proof), waiting->proof_hash);
  if (!theirs && !password.empty()) {
    std::vector<bucket> limits{{"verify/" + waiting->id.to_string(), 10, quarter_hour}};
    co_await throttle(ctx_, std::move(limits));
    theirs = co_await hasher_.verify(waiting->password_hash, std::move(password), customer_of(from.address));
    if (!theirs) {
      throw ry::http_error(403, RY_PERMISSION_DENIED, "accounts.wrong_password", "Wrong password",
                           R"({"message":"Wrong password","error_code":"WRONG_PASSWORD"})");
    }
  }
  if (!theirs) {
    throw ry::http_error(
        403, RY_PERMISSION_DENIED, "accounts.password_required", "Enter the password that you chose at the sign-up",
        R"({"message":"Enter the password that you chose at the sign-up","error_code":"PASSWORD_REQUIRED"})");
  }
  const bool first = co_await repo_.finish_sign_up(token_hash, waiting->id, cfg_.default_tier);
  if (!first) throw link_not_valid();
  co_return co_await sessions_.open(waiting->id, std::move(from.user_agent));
}

ry::task<session_tokens> logins::log_in(std::string email, std::string password, caller from) {
  // An invalid address gets the response of an unknown one.
  const auto who = parse_address(email);
  const std::string key = who ? who->key : std::string();
  const auto net = customer_of(from.address);
  std::vector<bucket> limits{{"log-in/net/" + net, settings_.attempts_per_network, hour},
                             {"log-in/both/" + net + "/" + key, 10, quarter_hour}};
  co_await throttle(ctx_, std::move(limits));
  // If many networks try one address, each of them has few attempts from then on; the owner has as many, not none.
  std::vector<bucket> of_all{{"log-in/to/" + key, 50, hour}};
  const auto crowded = co_await take(ctx_, std::move(of_all));
  if (crowded != 0) {
    std::vector<bucket> few{{"log-in/few/" + net + "/" + key, 3, hour}};
    co_await throttle(ctx_, std::move(few));
  }
  if (password.size() > max_password_bytes) throw wrong_login();
  const auto found = co_await repo_.find_login(key);
  std::string stored;
  if (found) stored = found->password_hash;
  const bool right = co_await hasher_.verify(std::move(stored), password, net);
  if (!right) throw wrong_login();
  if (hasher_.is_stale(found->password_hash)) {
    auto fresh = co_await hasher_.hash(std::move(password), net);
    co_await repo_.rehash(found->account, found->password_hash, std::move(fresh));
  }
  co_return co_await sessions_.open(found->account, std::move(from.user_agent));
}

ry::task<void> logins::ask_for_reset(std::string email, caller from) {
  auto who = need_address(email);
  if (!mail_) {
    throw ry::http_error(409, RY_FAILED_PRECONDITION, "accounts.needs_mail",
                         "This server cannot send e-mail; ask an administrator for help");
  }
  const auto net = customer_of(from.address);
  // The job limits the number of e-mails to one address: see may_mail_reset().
  std::vector<bucket> limits{{"reset/net/" + net, settings_.attempts_per_network, hour},
                             {"reset/both/" + net + "/" + who.key, 3, hour}};
  co_await throttle(ctx_, std::move(limits));
  co_await repo_.ask_for_reset(std::move(who.key));
  ry::job_queue(ctx_).wake("default");
}

ry::task<session_tokens> logins::finish_reset(std::string token, std::string password, caller from) {
  need_good_password("password", password, "");
  const auto net = customer_of(from.address);
  std::vector<bucket> limits{{"reset/net/" + net, settings_.attempts_per_network, hour}};
  co_await throttle(ctx_, std::move(limits));
  const bool usable = co_await repo_.has_reset(hash_secret(token));
  if (!usable && !ry_test::without_protection("reset_token_first")) throw link_not_valid();
  auto hash = co_await hasher_.hash(std::move(password), net);
  const auto account = co_await repo_.finish_reset(hash_secret(token), std::move(hash));
  if (!account) throw link_not_valid();
  co_await sessions_.ended();
  co_return co_await sessions_.open(*account, std::move(from.user_agent));
}

ry::task<void> logins::change_password(ry::uuid account, std::string present, std::string next,
                                       std::optional<ry::uuid> session, bool keep_api_keys) {
  const auto client = "account/" + account.to_string();
  std::vector<bucket> limits{{"password/" + account.to_string(), 10, quarter_hour}};
  co_await throttle(ctx_, std::move(limits));
  const auto known = co_await repo_.find_login(account);
  if (!known) {
    throw ry::http_error(409, RY_FAILED_PRECONDITION, "accounts.no_password",
                         "This account logs in with an identity provider and has no password");
  }
  const auto email = co_await repo_.mail_address(account);
  need_good_password("new_password", next, email);
  const bool right = co_await hasher_.verify(known->password_hash, std::move(present), client);
  if (!right) {
    throw ry::http_error(403, RY_PERMISSION_DENIED, "accounts.wrong_password", "Wrong password",
                         R"({"message":"Wrong password","error_code":"WRONG_PASSWORD"})");
  }
  auto hash = co_await hasher_.hash(std::move(next), client);
  co_await repo_.set_password(account, std::move(hash), session, keep_api_keys);
  co_await sessions_.ended();
}

ry::task<ry::job_outcome> logins::write_email(ry::job job) {
  if (!mail_) co_return ry::job_outcome::done();
  const auto text = job.args();
  json::error_code ec;
  const auto args = json::parse(json::string_view(text.data(), text.size()), ec);
  const auto* o = ec ? nullptr : args.if_object();
  const auto member = [o](const char* name) {
    const auto* v = o ? o->if_contains(name) : nullptr;
    return v && v->is_string() ? std::string(v->get_string().c_str()) : std::string();
  };
  const auto kind = member("kind");
  const auto key = "accounts." + kind + ":" + std::to_string(job.id());
  if (kind == "confirm") {
    const auto id = ry::uuid::parse(member("sign_up"));
    if (id) co_await write_confirm(*id);
  } else if (kind == "reset") {
    co_await write_reset(member("key"), key);
  } else if (kind == "changed" || kind == "ended") {
    const auto id = ry::uuid::parse(member("account"));
    auto keys = keys_in(o);
    if (id) co_await write_changed(*id, kind == "changed", std::move(keys), key);
  } else if (kind == "key") {
    const auto id = ry::uuid::parse(member("account"));
    const listed_key made{member("key"), member("name"), {}};
    if (id) co_await write_new_key(*id, made, key);
  } else {
    co_return ry::job_outcome::dead(ry::bad_request("accounts.letter", "the job names no e-mail"));
  }
  mail_->wake(mail_.self());
  co_return ry::job_outcome::done();
}

// Retry: a recipient waits for e-mail that the outbox did not accept.
void logins::report_dropped(const char* kind, std::string_view outcome, const std::string& about) const {
  if (outcome != "throttled" && outcome != "suppressed") return;
  ctx_.warn(
      outcome == "throttled"
          ? "an account e-mail was dropped: its address got too many within an hour (mail.account_per_recipient_hour)"
          : "an account e-mail was dropped: an operator blocked its address (GET /admin/mail/suppressions)",
      {{"kind", kind}, {"account", about}});
}

ry::task<void> logins::write_confirm(ry::uuid sign_up) {
  auto waiting = co_await repo_.sign_up(sign_up);
  if (!waiting) co_return;
  const auto known = co_await repo_.find_login(waiting->address.key);
  if (known) {
    const auto to = co_await repo_.mail_address(known->account);
    const auto key = "accounts.known:" + sign_up.to_string();
    auto l = sealed(known_email(settings_.app_url + "/auth"));
    const auto outcome = co_await repo_.mail(to, std::move(l), key);
    report_dropped("known", outcome, known->account.to_string());
    co_await repo_.drop_sign_up(sign_up);
    co_return;
  }
  const auto token = make_token();
  auto l = sealed(confirm_email(link("verify", token), settings_.verify_hours));
  const auto outcome = co_await repo_.mail_sign_up(*std::move(waiting), std::move(l), hash_secret(token));
  report_dropped("confirm", outcome, sign_up.to_string());
}

ry::task<void> logins::write_reset(std::string email_key, std::string key) {
  const auto known = co_await repo_.find_login(std::move(email_key));
  if (!known) co_return;
  const auto to = co_await repo_.mail_address(known->account);
  const auto token = make_token();
  auto l = sealed(reset_email(link("reset", token), settings_.reset_minutes));
  const auto outcome = co_await repo_.mail_reset(known->account, to, std::move(l), std::move(key), hash_secret(token),
                                                 settings_.reset_minutes);
  report_dropped("reset", outcome, known->account.to_string());
}

ry::task<void> logins::write_changed(ry::uuid account, bool password, listed_keys keys, std::string key) {
  const auto to = co_await repo_.mail_address(account);
  const auto page = settings_.app_url + "/auth";
  auto l = sealed(password ? changed_email(page, keys) : ended_email(page, keys));
  if (to.empty()) co_return;
  const auto outcome = co_await repo_.mail(to, std::move(l), key);
  report_dropped(password ? "changed" : "ended", outcome, account.to_string());
}

ry::task<void> logins::write_new_key(ry::uuid account, listed_key made, std::string key) {
  const auto to = co_await repo_.mail_address(account);
  if (to.empty()) co_return;
  // Keys that are created in quick succession are announced together.
  std::vector<bucket> few{{"key-mail/" + account.to_string(), 5, hour}};
  const auto wait = co_await take(ctx_, std::move(few));
  auto l = sealed(new_key_email(settings_.app_url, made));
  if (wait != 0) co_return;
  const auto outcome = co_await repo_.mail(to, std::move(l), key);
  report_dropped("key", outcome, account.to_string());
}

ry::task<void> logins::close_identity(std::string message, std::string subject) {
  co_await repo_.identity_deleted(std::move(message), std::move(subject));
  co_await sessions_.ended();
}

ry::task<void> logins::mail_for_provider(std::string message, std::vector<provider_mail> mails) {
  if (!mail_) {
    throw ry::http_error(503, RY_UNAVAILABLE, "accounts.needs_mail",
                         "This server cannot send e-mail: configure the module mail");
  }
  for (std::size_t i = 0; i < mails.size(); ++i) {
    const auto& m = mails[i];
    const auto to = parse_address(m.to);
    if (!to) throw body::invalid("email", "must be an e-mail address");
    need_reachable(*to);
    auto key = "accounts.provider:" + message + ":" + std::to_string(i);
    auto l = sealed(provider_email(m.action, m.link, m.code));
    const auto outcome = co_await repo_.mail(to->text, std::move(l), std::move(key));
    report_dropped("provider", outcome, message);
    if (outcome == "throttled") {
      throw ry::http_error(429, RY_RESOURCE_EXHAUSTED, "accounts.mail_limit",
                           "Too many e-mails were sent to this address within an hour; try again later");
    }
  }
  mail_->wake(mail_.self());
}

}  // namespace accounts
