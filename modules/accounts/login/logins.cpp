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

// Reads the arguments of a job: {keys: [{id, name, last_used_at}], keys_kept}.
key_list keys_in(const json::object* args) {
  key_list out;
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

logins::logins(const ry::context& ctx, const repository& accounts, account_cache& cache, const config& cfg,
               const login_settings& settings)
    : ctx_(ctx),
      accounts_(accounts),
      cfg_(cfg),
      settings_(settings),
      repo_(ctx),
      hasher_(ctx, settings.cost, settings.hash_parallel, max_waiting_hashes),
      sessions_(ctx, accounts, cache, repo_, settings_) {}

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
  co_await sessions_.refuse_ended();
}

address logins::require_address(const std::string& typed) const {
  auto out = parse_address(typed);
  if (!out) throw body::invalid("email", "must be an e-mail address like name@example.org");
  return *std::move(out);
}

// Throws if the server cannot send e-mail to the address.
void logins::require_reachable(const address& to) const {
  if (mail_ && mail_->check_address(mail_.self(), ry::str(to.text)) == RY_FAILED_PRECONDITION) {
    throw body::invalid("email", "has a domain that cannot receive e-mail from the internet");
  }
}

void logins::require_good_password(std::string_view field, const std::string& password, std::string_view email) const {
  const auto fault = password_fault(password, email, settings_.min_password);
  if (!fault.empty()) throw body::invalid(field, fault);
}

std::string logins::link(std::string_view name, std::string_view token) const {
  return settings_.app_url + "/auth#" + std::string(name) + "=" + std::string(token);
}

sealed_email logins::sealed(const email& content) const {
  return {content.subject, ry::seal_mail_bodies(mail_, content.text, content.html)};
}

ry::task<bool> logins::needs_setup() {
  if (settings_.setup_code.empty() || set_up_) co_return false;
  const bool has_any = co_await repo_.has_logins();
  if (has_any) set_up_ = true;
  co_return !has_any;
}

// Returns true if this sign-up has the setup code and creates the administrator. Throws if the code is required and
// missing or wrong.
ry::task<bool> logins::check_setup_code(std::string code) {
  const bool needed = co_await needs_setup();
  if (!needed) co_return false;
  if (code.empty()) {
    throw ry::http_error(
        403, RY_PERMISSION_DENIED, "accounts.setup_code",
        "The first sign-up requires the setup code, which ./quickstart printed",
        R"({"message":"The first sign-up requires the setup code, which ./quickstart printed","error_code":"SETUP_CODE_REQUIRED"})");
  }
  if (!same_hash(hash_secret(code), hash_secret(settings_.setup_code))) {
    throw ry::http_error(403, RY_PERMISSION_DENIED, "accounts.setup_code", "The setup code is wrong",
                         R"({"message":"The setup code is wrong","error_code":"SETUP_CODE_WRONG"})");
  }
  co_return true;
}

ry::task<sign_up_result> logins::sign_up(sign_up_form form, caller from) {
  new_login who;
  who.address = require_address(form.email);
  require_reachable(who.address);
  require_good_password("password", form.password, who.address.text);
  const bool immediate = settings_.verify == verification::none;
  if (immediate && (from.forwarded || !is_this_machine(from.address))) {
    throw ry::forbidden("accounts.this_machine_only",
                        "Without e-mail verification, sign-ups are accepted only from the server's own machine");
  }
  const auto network = client_network_of(from.address);
  std::vector<bucket> limits{{"sign-up/net/" + network, settings_.attempts_per_network, hour},
                             {"sign-up/both/" + network + "/" + who.address.key, 5, hour},
                             {"sign-up/to/" + who.address.key, 60, hour}};
  co_await throttle(ctx_, std::move(limits));
  const bool first = co_await check_setup_code(std::move(form.setup_code));

  who.id = ctx_.new_uuid();
  who.password_hash = co_await hasher_.hash(std::move(form.password), network);
  who.name = std::move(form.name);
  who.referral_code = std::move(form.referral_code);
  who.network = network_block_of(from);
  sign_up_result out;
  if (immediate) {
    const auto id = who.id;
    if (first)
      co_await repo_.create_first_login(std::move(who), cfg_.default_tier);
    else
      co_await repo_.create_login(std::move(who), cfg_.default_tier);
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
  const auto pending = co_await repo_.find_sign_up_by_token(token_hash);
  if (!pending) throw link_not_valid();
  bool is_owner = !proof.empty() && same_hash(hash_secret(proof), pending->proof_hash);
  if (!is_owner && !password.empty()) {
    std::vector<bucket> limits{{"verify/" + pending->id.to_string(), 10, quarter_hour}};
    co_await throttle(ctx_, std::move(limits));
    is_owner = co_await hasher_.verify(pending->password_hash, std::move(password), client_network_of(from.address));
    if (!is_owner) {
      throw ry::http_error(403, RY_PERMISSION_DENIED, "accounts.wrong_password", "Wrong password",
                           R"({"message":"Wrong password","error_code":"WRONG_PASSWORD"})");
    }
  }
  if (!is_owner) {
    throw ry::http_error(
        403, RY_PERMISSION_DENIED, "accounts.password_required", "Enter the password that you chose at the sign-up",
        R"({"message":"Enter the password that you chose at the sign-up","error_code":"PASSWORD_REQUIRED"})");
  }
  const bool first = co_await repo_.complete_sign_up(token_hash, pending->id, cfg_.default_tier);
  if (!first) throw link_not_valid();
  co_return co_await sessions_.open(pending->id, std::move(from.user_agent));
}

ry::task<session_tokens> logins::log_in(std::string email, std::string password, caller from) {
  // An invalid address gets the response of an unknown one.
  const auto who = parse_address(email);
  const std::string key = who ? who->key : std::string();
  const auto network = client_network_of(from.address);
  std::vector<bucket> limits{{"log-in/net/" + network, settings_.attempts_per_network, hour},
                             {"log-in/both/" + network + "/" + key, 10, quarter_hour}};
  co_await throttle(ctx_, std::move(limits));
  // If many networks try one address, each of them gets only a few more attempts; so does the owner, who is never
  // locked out.
  std::vector<bucket> all_networks{{"log-in/to/" + key, 50, hour}};
  const auto over_limit = co_await take_tokens(ctx_, std::move(all_networks));
  if (over_limit != 0) {
    std::vector<bucket> few_per_network{{"log-in/few/" + network + "/" + key, 3, hour}};
    co_await throttle(ctx_, std::move(few_per_network));
  }
  if (password.size() > max_password_bytes) throw wrong_login();
  const auto found = co_await repo_.find_login(key);
  std::string stored;
  if (found) stored = found->password_hash;
  const bool matches = co_await hasher_.verify(std::move(stored), password, network);
  if (!matches) throw wrong_login();
  if (hasher_.is_stale(found->password_hash)) {
    auto new_hash = co_await hasher_.hash(std::move(password), network);
    co_await repo_.rehash(found->account, found->password_hash, std::move(new_hash));
  }
  co_return co_await sessions_.open(found->account, std::move(from.user_agent));
}

ry::task<void> logins::request_reset(std::string email, caller from) {
  auto who = require_address(email);
  if (!mail_) {
    throw ry::http_error(409, RY_FAILED_PRECONDITION, "accounts.needs_mail",
                         "This server cannot send e-mail; ask an administrator for help");
  }
  const auto network = client_network_of(from.address);
  // The job limits the number of e-mails to one address: see may_mail_reset().
  std::vector<bucket> limits{{"reset/net/" + network, settings_.attempts_per_network, hour},
                             {"reset/both/" + network + "/" + who.key, 3, hour}};
  co_await throttle(ctx_, std::move(limits));
  co_await repo_.queue_reset(std::move(who.key));
  ry::job_queue(ctx_).wake("default");
}

ry::task<session_tokens> logins::complete_reset(std::string token, std::string password, caller from) {
  require_good_password("password", password, "");
  const auto network = client_network_of(from.address);
  std::vector<bucket> limits{{"reset/net/" + network, settings_.attempts_per_network, hour}};
  co_await throttle(ctx_, std::move(limits));
  const bool valid = co_await repo_.has_reset(hash_secret(token));
  if (!valid && !ry_test::without_protection("reset_token_first")) throw link_not_valid();
  auto hash = co_await hasher_.hash(std::move(password), network);
  const auto account = co_await repo_.complete_reset(hash_secret(token), std::move(hash));
  if (!account) throw link_not_valid();
  co_await sessions_.propagate_ended();
  co_return co_await sessions_.open(*account, std::move(from.user_agent));
}

ry::task<void> logins::change_password(ry::uuid account, std::string current, std::string next,
                                       std::optional<ry::uuid> session, bool keep_api_keys) {
  const auto client = "account/" + account.to_string();
  std::vector<bucket> limits{{"password/" + account.to_string(), 10, quarter_hour}};
  co_await throttle(ctx_, std::move(limits));
  const auto login = co_await repo_.find_login(account);
  if (!login) {
    throw ry::http_error(409, RY_FAILED_PRECONDITION, "accounts.no_password",
                         "This account logs in with an identity provider and has no password");
  }
  const auto email = co_await repo_.mail_address(account);
  require_good_password("new_password", next, email);
  const bool matches = co_await hasher_.verify(login->password_hash, std::move(current), client);
  if (!matches) {
    throw ry::http_error(403, RY_PERMISSION_DENIED, "accounts.wrong_password", "Wrong password",
                         R"({"message":"Wrong password","error_code":"WRONG_PASSWORD"})");
  }
  auto hash = co_await hasher_.hash(std::move(next), client);
  co_await repo_.set_password(account, std::move(hash), session, keep_api_keys);
  co_await sessions_.propagate_ended();
}

ry::task<ry::job_outcome> logins::send_email(ry::job job) {
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
    if (id) co_await send_confirmation(*id);
  } else if (kind == "reset") {
    co_await send_reset(member("key"), key);
  } else if (kind == "changed" || kind == "ended") {
    const auto id = ry::uuid::parse(member("account"));
    auto keys = keys_in(o);
    if (id) co_await send_session_notice(*id, kind == "changed", std::move(keys), key);
  } else if (kind == "key") {
    const auto id = ry::uuid::parse(member("account"));
    const listed_key new_key{member("key"), member("name"), {}};
    if (id) co_await send_new_key_notice(*id, new_key, key);
  } else {
    co_return ry::job_outcome::dead(ry::bad_request("accounts.letter", "the job has no known kind of e-mail"));
  }
  mail_->wake(mail_.self());
  co_return ry::job_outcome::done();
}

// Logs an e-mail that the outbox did not accept, because its recipient may be waiting for it.
void logins::report_dropped(const char* kind, std::string_view outcome, const std::string& about) const {
  if (outcome != "throttled" && outcome != "suppressed") return;
  ctx_.warn(
      outcome == "throttled"
          ? "an account e-mail was dropped: its address exceeded the hourly limit (mail.account_per_recipient_hour)"
          : "an account e-mail was dropped: an operator blocked its address (GET /admin/mail/suppressions)",
      {{"kind", kind}, {"account", about}});
}

ry::task<void> logins::send_confirmation(ry::uuid sign_up) {
  auto pending = co_await repo_.find_sign_up(sign_up);
  if (!pending) co_return;
  const auto login = co_await repo_.find_login(pending->address.key);
  if (login) {
    const auto to = co_await repo_.mail_address(login->account);
    const auto key = "accounts.known:" + sign_up.to_string();
    auto content = sealed(already_registered_email(settings_.app_url + "/auth"));
    const auto outcome = co_await repo_.mail(to, std::move(content), key);
    report_dropped("known", outcome, login->account.to_string());
    co_await repo_.delete_sign_up(sign_up);
    co_return;
  }
  const auto token = make_token();
  auto content = sealed(confirm_email(link("verify", token), settings_.verify_hours));
  const auto outcome = co_await repo_.mail_sign_up(*std::move(pending), std::move(content), hash_secret(token));
  report_dropped("confirm", outcome, sign_up.to_string());
}

ry::task<void> logins::send_reset(std::string email_key, std::string key) {
  const auto login = co_await repo_.find_login(std::move(email_key));
  if (!login) co_return;
  const auto to = co_await repo_.mail_address(login->account);
  const auto token = make_token();
  auto content = sealed(reset_email(link("reset", token), settings_.reset_minutes));
  const auto outcome = co_await repo_.mail_reset(login->account, to, std::move(content), std::move(key),
                                                 hash_secret(token), settings_.reset_minutes);
  report_dropped("reset", outcome, login->account.to_string());
}

ry::task<void> logins::send_session_notice(ry::uuid account, bool password, key_list keys, std::string key) {
  const auto to = co_await repo_.mail_address(account);
  const auto page = settings_.app_url + "/auth";
  auto content = sealed(password ? password_changed_email(page, keys) : sessions_ended_email(page, keys));
  if (to.empty()) co_return;
  const auto outcome = co_await repo_.mail(to, std::move(content), key);
  report_dropped(password ? "changed" : "ended", outcome, account.to_string());
}

ry::task<void> logins::send_new_key_notice(ry::uuid account, listed_key new_key, std::string key) {
  const auto to = co_await repo_.mail_address(account);
  if (to.empty()) co_return;
  // Keys that are created in quick succession are not announced individually.
  std::vector<bucket> few_per_network{{"key-mail/" + account.to_string(), 5, hour}};
  const auto wait = co_await take_tokens(ctx_, std::move(few_per_network));
  auto content = sealed(new_key_email(settings_.app_url, new_key));
  if (wait != 0) co_return;
  const auto outcome = co_await repo_.mail(to, std::move(content), key);
  report_dropped("key", outcome, account.to_string());
}

ry::task<void> logins::close_identity(std::string message, std::string subject) {
  co_await repo_.close_identity(std::move(message), std::move(subject));
  co_await sessions_.propagate_ended();
}

ry::task<void> logins::send_provider_emails(std::string message, std::vector<provider_mail> mails) {
  if (!mail_) {
    throw ry::http_error(503, RY_UNAVAILABLE, "accounts.needs_mail",
                         "This server cannot send e-mail: configure the module mail");
  }
  for (std::size_t i = 0; i < mails.size(); ++i) {
    const auto& m = mails[i];
    const auto to = parse_address(m.to);
    if (!to) throw body::invalid("email", "must be an e-mail address");
    require_reachable(*to);
    auto key = "accounts.provider:" + message + ":" + std::to_string(i);
    auto content = sealed(provider_email(m.action, m.link, m.code));
    const auto outcome = co_await repo_.mail(to->text, std::move(content), std::move(key));
    report_dropped("provider", outcome, message);
    if (outcome == "throttled") {
      throw ry::http_error(429, RY_RESOURCE_EXHAUSTED, "accounts.mail_limit",
                           "Too many e-mails were sent to this address within an hour; try again later");
    }
  }
  mail_->wake(mail_.self());
}

}  // namespace accounts
