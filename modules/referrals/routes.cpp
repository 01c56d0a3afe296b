#include "routes.hpp"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <ry/cpp/limits.hpp>
#include <ry/cpp/mail.hpp>
#include <ry/cpp/text.hpp>
#include <set>

#include "code.hpp"
#include "invitation_email.hpp"
#include "json/known_members.hpp"
#include "without_protection.hpp"

namespace referrals {
namespace {

namespace json = boost::json;

constexpr std::size_t max_addresses = 50;
constexpr std::int64_t default_page = 50;
constexpr std::int64_t max_page = 100;
constexpr const char* not_sent = "Failed to send email";

ry::error invalid(std::string_view field, const std::string& problem) {
  return ry::http_error(422, RY_INVALID_ARGUMENT, "referrals.invalid_value", std::string(field) + " " + problem);
}

json::object read_body(const ry::request& r) {
  const auto text = r.body();
  if (text.find_first_not_of(" \t\r\n") == text.npos) return {};
  json::error_code bad;
  auto doc = json::parse(json::string_view(text.data(), text.size()), bad);
  if (bad || !doc.is_object()) {
    throw ry::bad_request("referrals.body", "The body must be a JSON object");
  }
  return std::move(doc.get_object());
}

std::string text_in(const json::object& o, std::string_view name, std::size_t max_bytes) {
  const auto* v = o.if_contains(json::string_view(name.data(), name.size()));
  if (v == nullptr || v->is_null()) throw invalid(name, "is required");
  if (!v->is_string()) throw invalid(name, "must be a string");
  if (v->get_string().size() > max_bytes) {
    throw invalid(name, "must have at most " + std::to_string(max_bytes) + " bytes");
  }
  return std::string(v->get_string().data(), v->get_string().size());
}

std::string reason_in(const json::object& o) {
  module_json::require_known_members(o, {"reason"});
  if (!o.contains("reason")) return {};
  auto out = text_in(o, "reason", 500);
  if (std::any_of(out.begin(), out.end(), [](char c) { return c == '\0'; })) {
    throw invalid("reason", "must not contain control characters");
  }
  return out;
}

ry::response json_response(const json::object& o) {
  return ry::response::json(json::serialize(o));
}

ry::error too_many(std::string message, std::int64_t wait_s) {
  return ry::http_error(429, RY_RESOURCE_EXHAUSTED, "referrals.throttled", std::move(message))
      .with_retry_after(static_cast<std::uint32_t>(std::max<std::int64_t>(1, wait_s)));
}

const char* message_of(const std::string& outcome) {
  if (outcome == "own") return "You cannot invite yourself";
  if (outcome == "invited") return "You have already invited this address";
  if (outcome == "limit") return "Invitation limit reached";
  if (outcome == "suppressed") return "This address does not accept invitations";
  if (outcome == "throttled") return "This address received too many messages, try again later";
  return not_sent;
}

}  // namespace

void routes::add_to(ry::registrar& reg) {
  const std::string at = "/api/v1/referrals";
  reg.route("GET", at + "/code", 0, this, &routes::code);
  reg.route("POST", at + "/refresh", 0, this, &routes::refresh);
  reg.route("POST", at + "/send", 0, this, &routes::send);
  reg.route("POST", at + "/send-bulk", 0, this, &routes::send_bulk);
  reg.route("GET", at + "/stats", 0, this, &routes::stats);
  reg.route("GET", at + "/history", 0, this, &routes::history);
  reg.route("GET", at + "/received", 0, this, &routes::received);
  reg.route("POST", at + "/validate", RY_ROUTE_PUBLIC, this, &routes::validate);
  reg.route("GET", "/admin/referrals", RY_ROUTE_ADMIN, this, &routes::flagged);
  for (const char* action : {"flag", "release", "revoke"}) {
    reg.route("POST", std::string("/admin/referrals/{id}/") + action, RY_ROUTE_ADMIN,
              [this, action](ry::request r) { return review_action(std::move(r), action); });
  }
  for (const char* action : {"suspend", "resume"}) {
    reg.route("POST", std::string("/admin/referrals/codes/{code}/") + action, RY_ROUTE_ADMIN,
              [this, action](ry::request r) { return code_action(std::move(r), action); });
  }
}

ry::task<ry::uuid> routes::caller(ry::request r) const {
  auto got = co_await ry::call<ry::uuid, const ry_account_view*>(
      [this, &r](ry_exec* exec, ry_account_fn fn, void* ctx) {
        return services_.accounts->ensure(services_.accounts.self(), r.principal(), exec, fn, ctx);
      },
      [](const ry_account_view* v) { return ry::uuid(v->account_id); });
  co_return std::move(got).value();
}

ry::task<ry::response> routes::code(ry::request r) {
  const auto account = co_await caller(r);
  const auto own_code = co_await repo_.code_of(account);
  json::object o{{"referral_code", own_code}};
  o["referral_link"] = app_url_.empty() ? json::value() : json::value(app_url_ + "/auth?ref=" + own_code);
  co_return json_response(o);
}

ry::task<ry::response> routes::refresh(ry::request r) {
  const auto account = co_await caller(r);
  refreshed_codes done;
  try {
    done = co_await repo_.refresh(account);
  } catch (const ry::error& e) {
    if (!e.is("db.RY429")) throw;
    throw too_many(std::string(e.message()), 3600);
  }
  co_return json_response({{"success", true},
                           {"old_code", done.old_code},
                           {"new_code", done.new_code},
                           {"message", "Referral code refreshed"}});
}

ry::task<ry::response> routes::stats(ry::request r) {
  const auto account = co_await caller(r);
  co_await repo_.code_of(account);
  co_return ry::response::json(co_await repo_.stats(account));
}

ry::task<ry::response> routes::history(ry::request r) {
  const auto limit = ry::query_integer(r, "limit", 1, max_page).value_or(default_page);
  const auto offset = ry::query_integer(r, "offset", 0, INT64_MAX).value_or(0);
  const auto account = co_await caller(r);
  co_return ry::response::json(co_await repo_.history(account, limit, offset));
}

ry::task<ry::response> routes::received(ry::request r) {
  const auto account = co_await caller(r);
  const auto doc = co_await repo_.received(account);
  co_return ry::response::json("{\"received\":" + (doc.empty() ? "null" : doc) + "}");
}

ry::task<ry::response> routes::validate(ry::request r) {
  const auto body = read_body(r);
  const auto typed = text_in(body, "code", 64);
  const std::string client = r.principal() != nullptr ? std::string(r.subject()) : client_key(r.remote_address());
  if (const auto wait = validations_.acquire(client, ctx_.mono_us()); wait != 0) {
    throw too_many("Too many codes were tried", wait);
  }
  const auto normalized = normalize_code(typed);
  std::optional<repository::code_owner> owner;
  if (!normalized.empty()) owner = co_await repo_.owner_of(normalized);
  if (owner && r.principal() != nullptr) {
    const auto account = co_await caller(r);
    if (account == owner->account) owner.reset();
  }
  json::object o{{"valid", owner.has_value()}};
  // Only authenticated callers see account ids; other responses contain an id that is derived from the code.
  o["referrer_id"] = nullptr;
  const bool show_account_id = r.principal() != nullptr || ry_test::without_protection("referral_alias");
  if (owner) o["referrer_id"] = (show_account_id ? owner->account : owner->alias).to_string();
  // The sign-up page promises credits unless the response says that there are none.
  if (owner && (co_await repo_.offer_of(owner->account)).referee == 0) o["credits"] = 0;
  co_return json_response(o);
}

// ---- invitations ------------------------------------------------------------------------------

// Returns why the address cannot receive e-mail; empty: it can.
std::string routes::address_fault(const std::string& address) const {
  const auto& mail = services_.mail;
  const auto st = mail ? mail->check_address(mail.self(), ry::str(address)) : RY_OK;
  if (st == RY_OK) return {};
  return st == RY_FAILED_PRECONDITION ? "has a domain that cannot receive e-mail from the internet"
                                      : "is not a valid e-mail address";
}

ry::task<ry::response> routes::send(ry::request r) {
  const auto body = read_body(r);
  std::vector<std::string> addresses{std::string(ry::trimmed(text_in(body, "email", 1024)))};
  const auto account = co_await caller(r);
  const auto fault = address_fault(addresses.front());
  if (!fault.empty()) throw invalid("email", fault);
  const auto outcomes = co_await invite(account, std::move(addresses));
  const auto& v = outcomes.front();
  if (v.wait_s != 0) throw too_many(v.message, v.wait_s);
  co_return json_response({{"success", v.success}, {"message", v.message}});
}

ry::task<ry::response> routes::send_bulk(ry::request r) {
  const auto body = read_body(r);
  const auto* list = body.if_contains("emails");
  if (list == nullptr || !list->is_array()) throw invalid("emails", "must be a list");
  const auto& items = list->get_array();
  if (items.empty() || items.size() > max_addresses) {
    throw invalid("emails", "must have 1 to " + std::to_string(max_addresses) + " addresses");
  }
  std::vector<send_result> outcomes(items.size());
  std::vector<std::string> addresses;
  std::vector<std::size_t> positions;
  std::set<std::string> seen;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (!items[i].is_string()) throw invalid("emails", "must contain only strings");
    auto& v = outcomes[i];
    v.address.assign(items[i].get_string().data(), items[i].get_string().size());
    std::string address(ry::trimmed(v.address));
    if (!address_fault(address).empty()) {
      v.message = "Invalid email address";
    } else if (!seen.insert(ry::lower_ascii(address)).second) {
      v.message = "Duplicate email address";
    } else {
      addresses.push_back(std::move(address));
      positions.push_back(i);
    }
  }
  const auto account = co_await caller(r);
  if (!addresses.empty()) {
    const auto sent = co_await invite(account, std::move(addresses));
    const auto limited = [](const send_result& v) { return v.wait_s != 0; };
    if (std::all_of(sent.begin(), sent.end(), limited)) {
      throw too_many(sent.front().message, sent.front().wait_s);
    }
    for (std::size_t i = 0; i < sent.size(); ++i) {
      outcomes[positions[i]].success = sent[i].success;
      outcomes[positions[i]].message = sent[i].message;
      outcomes[positions[i]].queued = sent[i].queued;
    }
  }
  json::array items_json;
  std::size_t succeeded = 0, queued = 0;
  for (const auto& v : outcomes) {
    succeeded += v.success ? 1 : 0;
    queued += v.queued ? 1 : 0;
    items_json.push_back(json::object{{"email", v.address}, {"success", v.success}, {"message", v.message}});
  }
  auto message =
      "Sent " + std::to_string(succeeded - queued) + " of " + std::to_string(outcomes.size()) + " invitations";
  if (queued > 0) message += ", queued " + std::to_string(queued);
  co_return json_response({{"success", succeeded > 0},
                           {"message", std::move(message)},
                           {"results", std::move(items_json)},
                           {"success_count", succeeded},
                           {"total_count", outcomes.size()}});
}

ry::task<std::vector<routes::send_result>> routes::invite(ry::uuid account, std::vector<std::string> addresses) const {
  std::vector<send_result> out(addresses.size());
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    out[i].address = addresses[i];
    out[i].message = not_sent;
  }
  const auto inviter = co_await repo_.find_inviter(account);
  if (inviter && inviter->suspended) {
    throw ry::forbidden("referrals.suspended", "This referral code is suspended");
  }
  if (!inviter || inviter->email.empty()) {
    for (auto& v : out) v.message = "Inviter not found";
    co_return out;
  }
  const auto& mail = services_.mail;
  if (!mail || mail->has_relay(mail.self()) == 0 || app_url_.empty()) {
    for (std::size_t i = 0; i < out.size(); ++i) metrics_.invitation("failed");
    co_return out;
  }

  const auto own_code = co_await repo_.code_of(account);
  const auto next = co_await repo_.offer_of(account);
  const auto product = ctx_.fact("brand.name");
  const auto email =
      write_invitation(inviter->name, app_url_ + "/auth?ref=" + own_code, next.referee, next.referrer >= next.referee,
                       product.empty() ? std::string_view("Runyard") : product);
  auto written = co_await repo_.invite(account, std::move(addresses), email.subject,
                                       ry::seal_mail_bodies(mail, email.text, email.html));
  mail->wake(mail.self());
  co_await apply_outcomes(std::move(written), &out);
  if (next.referee == 0) {
    for (auto& v : out)
      if (v.success) v.message += ", without a promise of credits: you have reached the limit of referral credits";
  }
  co_return out;
}

ry::task<void> routes::apply_outcomes(std::vector<invitation_result> written, std::vector<send_result>* to) const {
  std::vector<ry_uuid> ids;
  std::vector<std::size_t> positions;
  for (std::size_t i = 0; i < written.size(); ++i) {
    if (written[i].outcome == "limit") ry::account_limit(ctx_, "invitations").add();
    auto& v = (*to)[i];
    v.wait_s = written[i].wait_s;
    if (written[i].mail && written[i].outcome == "queued") {
      ids.push_back(*written[i].mail);
      positions.push_back(i);
    } else {
      v.message = message_of(written[i].outcome);
      metrics_.invitation(written[i].outcome);
    }
  }
  if (ids.empty()) co_return;
  const auto& mail = services_.mail;
  auto queried = co_await ry::call<std::vector<std::int32_t>, const ry_mail_outcome*, std::size_t, std::size_t>(
      [&](ry_exec* exec, ry_mail_outcome_fn fn, void* ctx) {
        return mail->outcomes(mail.self(), ids.data(), ids.size(), settings_.send_wait_ms, exec, fn, ctx);
      },
      [](const ry_mail_outcome* first, std::size_t n, std::size_t stride) {
        std::vector<std::int32_t> states;
        for (std::size_t i = 0; i < n; ++i) {
          const auto* at = reinterpret_cast<const char*>(first) + i * stride;
          states.push_back(reinterpret_cast<const ry_mail_outcome*>(at)->state);
        }
        return states;
      });
  const auto states = std::move(queried).value();
  std::vector<std::string> undelivered;
  for (std::size_t i = 0; i < positions.size(); ++i) {
    auto& v = (*to)[positions[i]];
    v.success = states[i] == RY_MAIL_SENT || states[i] == RY_MAIL_QUEUED;
    if (states[i] == RY_MAIL_SENT) {
      v.message = "Referral email sent";
    } else if (states[i] == RY_MAIL_QUEUED) {
      v.queued = true;
      v.message = "Referral email queued: it is sent as soon as the mail server accepts it";
    } else {
      v.message = not_sent;
      undelivered.push_back(ry::uuid(ids[i]).to_string());
    }
    metrics_.invitation(v.queued ? "queued" : v.success ? "sent" : "failed");
  }
  if (!undelivered.empty()) co_await repo_.withdraw_invitations(std::move(undelivered));
}

// ---- admins -----------------------------------------------------------------------------------

ry::task<ry::response> routes::flagged(ry::request r) {
  const auto limit = ry::query_integer(r, "limit", 1, max_page).value_or(default_page);
  const auto before = ry::query_uuid_cursor(r, "referrals:flagged");
  const auto page = co_await repo_.flagged(before, limit);
  co_return ry::response::json(ry::page_json("referrals", "referrals:flagged", page));
}

ry::task<ry::response> routes::review_action(ry::request r, std::string action) {
  const auto id = ry::require_uuid(r.param("id"));
  const auto reason = reason_in(read_body(r));
  co_await repo_.review(std::string(r.subject()), id, action, reason);
  co_return json_response({{"success", true}, {"referral_id", id.to_string()}, {"action", action}});
}

ry::task<ry::response> routes::code_action(ry::request r, std::string action) {
  const auto code = normalize_code(r.param("code"));
  const auto reason = reason_in(read_body(r));
  if (code.empty()) throw ry::not_found("referrals.not_found", "Referral code not found");
  co_await repo_.suspend(std::string(r.subject()), code, action, reason);
  co_return json_response({{"success", true}, {"referral_code", code}, {"action", action}});
}

}  // namespace referrals
