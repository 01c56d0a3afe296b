#include "routes.hpp"

#include <algorithm>
#include <boost/algorithm/string/case_conv.hpp>
#include <boost/json/parse.hpp>
#include <locale>

#include "address.hpp"
#include "subscription_page.hpp"

namespace mail {
namespace {

namespace json = boost::json;

constexpr std::int64_t default_page = 50;
constexpr std::int64_t max_page = 200;
constexpr std::size_t max_lifted_addresses = 1000;
constexpr std::size_t max_text = 320;  // of a filter

ry::error invalid(std::string_view field, const std::string& what) {
  return ry::http_error(422, RY_INVALID_ARGUMENT, "mail.invalid_value", std::string(field) + " " + what);
}

std::string_view sv(const json::string& s) {
  return {s.data(), s.size()};
}

std::optional<std::string> text_in(const json::object& o, const char* name) {
  const auto* v = o.if_contains(name);
  if (v == nullptr || v->is_null()) return std::nullopt;
  if (!v->is_string() || v->get_string().empty() || v->get_string().size() > max_text)
    throw invalid(name, "must be a string of 1 to 320 bytes");
  return std::string(sv(v->get_string()));
}

// Checks the form of an RFC 3339 time, as in the lists; the database parses it.
std::optional<std::string> instant_in(const json::object& o, const char* name) {
  auto out = text_in(o, name);
  if (!out) return out;
  const auto digits = [&](std::size_t at, std::size_t n) {
    return std::all_of(out->begin() + static_cast<std::ptrdiff_t>(at),
                       out->begin() + static_cast<std::ptrdiff_t>(at + n), [](char c) { return c >= '0' && c <= '9'; });
  };
  const bool valid = out->size() >= 20 && out->size() <= 30 && digits(0, 4) && (*out)[4] == '-' && digits(5, 2) &&
                     (*out)[7] == '-' && digits(8, 2) && (*out)[10] == 'T' && digits(11, 2) && (*out)[13] == ':' &&
                     digits(14, 2) && (*out)[16] == ':' && digits(17, 2) && out->back() == 'Z';
  if (!valid) throw invalid(name, "must be a time like 2026-11-20T09:30:00Z");
  return out;
}

lift_filter read_lift_filter(std::string_view body) {
  json::error_code bad;
  const auto doc = json::parse(json::string_view(body.data(), body.size()), bad);
  if (bad || !doc.is_object()) throw ry::bad_request("mail.body", "The body must be a JSON object");
  const auto& o = doc.get_object();
  for (const auto& m : o) {
    const auto name = std::string_view(m.key().data(), m.key().size());
    if (name != "reason" && name != "addresses" && name != "domain" && name != "since" && name != "until") {
      throw invalid(name.substr(0, 64), "is not a known member");
    }
  }
  lift_filter out;
  out.reason = text_in(o, "reason").value_or("bounced");
  if (out.reason != "bounced" && out.reason != "operator") {
    throw invalid("reason", "must be bounced or operator; recipients who unsubscribed are lifted one by one");
  }
  out.domain = text_in(o, "domain");
  out.since = instant_in(o, "since");
  out.until = instant_in(o, "until");
  const auto* list = o.if_contains("addresses");
  if (list == nullptr || list->is_null()) return out;
  if (!list->is_array() || list->get_array().empty() || list->get_array().size() > max_lifted_addresses) {
    throw invalid("addresses", "must be a list of 1 to " + std::to_string(max_lifted_addresses) + " addresses");
  }
  out.addresses.emplace();
  for (const auto& a : list->get_array()) {
    if (!a.is_string() || !is_address(sv(a.get_string())))
      throw invalid("addresses", "must contain only e-mail addresses");
    out.addresses->emplace_back(sv(a.get_string()));
  }
  return out;
}

bool has_field(std::string_view form, std::string_view name) {
  const auto at = form.find(name);
  return at != form.npos && (at == 0 || form[at - 1] == '&') && form.substr(at + name.size(), 1) == "=";
}

}  // namespace

void routes::add_to(ry::registrar& reg) {
  reg.route("GET", "/mail/unsubscribe/{token}", RY_ROUTE_PUBLIC, this, &routes::unsubscribe_page);
  reg.route("POST", "/mail/unsubscribe/{token}", RY_ROUTE_PUBLIC, this, &routes::unsubscribe);
  reg.route("GET", "/admin/mail", RY_ROUTE_ADMIN, this, &routes::list);
  reg.route("POST", "/admin/mail/{id}/requeue", RY_ROUTE_ADMIN, this, &routes::requeue);
  reg.route("GET", "/admin/mail/suppressions", RY_ROUTE_ADMIN, this, &routes::suppressions);
  reg.route("POST", "/admin/mail/suppressions/lift", RY_ROUTE_ADMIN, this, &routes::lift_suppressions);
  reg.route("DELETE", "/admin/mail/suppressions/{address}", RY_ROUTE_ADMIN, this, &routes::lift);
}

ry::task<ry::response> routes::unsubscribe_page(ry::request r) {
  const auto token = ry::uuid::parse(r.param("token"));
  std::optional<subscription> found;
  if (token) found = co_await repo_.find_subscription(*token);
  if (!found) co_return ry_brand_page::page_response(404, unknown_link_page(brand_));
  co_return ry_brand_page::page_response(200, confirm_page(brand_, *found));
}

// Called by mail programs for one-click unsubscribe (RFC 8058), and by the buttons of the pages.
ry::task<ry::response> routes::unsubscribe(ry::request r) {
  const auto token = ry::uuid::parse(r.param("token"));
  const bool undo = has_field(r.body(), "undo");
  bool found_token = false;
  if (token) found_token = co_await repo_.set_subscribed(*token, undo);
  if (!found_token) co_return ry_brand_page::page_response(404, unknown_link_page(brand_));
  const auto now = co_await repo_.find_subscription(*token);
  co_return ry_brand_page::page_response(200, done_page(brand_, now.value()));
}

ry::task<ry::response> routes::list(ry::request r) {
  const auto state = boost::algorithm::to_lower_copy(r.query("state").value_or("dead"), std::locale::classic());
  if (state != "sent" && state != "refused" && state != "dead" && state != "suppressed") {
    throw invalid("state", "must be one of sent, refused, dead, suppressed");
  }
  const auto limit = ry::query_integer(r, "limit", 1, max_page).value_or(default_page);
  const auto list = "mail:" + state;
  const auto before = ry::query_uuid_cursor(r, list);
  const auto found = co_await repo_.list(state, before, limit);
  co_return ry::response::json(ry::page_json("messages", list, found));
}

ry::task<ry::response> routes::requeue(ry::request r) {
  const auto id = ry::require_uuid(r.param("id"));
  const std::string actor(r.subject());
  const bool queued = co_await repo_.requeue(actor, id);
  if (!queued) {
    throw ry::not_found("mail.not_found", "No dead or refused e-mail has this id");
  }
  ctx_.jobs().wake("mail");
  co_return ry::response::json("{\"state\":\"queued\"}");
}

ry::task<ry::response> routes::lift(ry::request r) {
  const std::string address(r.param("address"));
  if (!is_address(address)) {
    throw invalid("address", "must be an e-mail address");
  }
  const std::string actor(r.subject());
  const bool lifted = co_await repo_.lift(actor, address);
  if (!lifted) {
    throw ry::not_found("mail.not_found", "The address is not suppressed");
  }
  co_return ry::response::empty();
}

ry::task<ry::response> routes::suppressions(ry::request r) {
  suppression_filter filter{boost::algorithm::to_lower_copy(r.query("reason").value_or(""), std::locale::classic()),
                            ry::query_text(r, "category", 0, max_text).value_or(""),
                            ry::query_text(r, "address", 0, max_text).value_or("")};
  if (!filter.reason.empty() && filter.reason != "bounced" && filter.reason != "unsubscribed" &&
      filter.reason != "operator") {
    throw invalid("reason", "must be one of bounced, unsubscribed, operator");
  }
  const auto limit = ry::query_integer(r, "limit", 1, max_page).value_or(default_page);
  const auto list = "mail:suppressions:" + filter.reason + ":" + filter.category + ":" + filter.address;
  const auto before = ry::query_uuid_cursor(r, list);
  const auto found = co_await repo_.suppressions(std::move(filter), before, limit);
  co_return ry::response::json(ry::page_json("suppressions", list, found));
}

ry::task<ry::response> routes::lift_suppressions(ry::request r) {
  auto filter = read_lift_filter(r.body());
  const auto lifted = co_await repo_.lift_suppressions(std::string(r.subject()), std::move(filter));
  co_return ry::response::json("{\"lifted\":" + std::to_string(lifted) + "}");
}

}  // namespace mail
