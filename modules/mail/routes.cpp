#include "routes.hpp"

#include <boost/algorithm/string/case_conv.hpp>
#include <locale>

#include "address.hpp"

namespace mail {
namespace {

constexpr std::int64_t default_page = 50;
constexpr std::int64_t largest_page = 200;

// Mail programs and scanners open links by themselves: only a POST acts (RFC 8058).
constexpr std::string_view ask_page = R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Unsubscribe</title></head>
<body><main><h1>Unsubscribe</h1><p>No more mail of this kind shall come to this address.</p>
<form method="post"><button>Unsubscribe</button></form></main></body></html>
)";
constexpr std::string_view done_page = R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Unsubscribed</title></head>
<body><main><h1>Unsubscribed</h1><p>No more mail of this kind will come to this address.</p></main>
</body></html>
)";

ry::response page(std::string_view html) {
  return ry::response(200, "text/html; charset=utf-8", std::string(html))
      .header("Content-Security-Policy",
              "default-src 'none'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'")
      .header("Referrer-Policy", "no-referrer")
      .header("X-Robots-Tag", "noindex")
      .header("Cache-Control", "no-store");
}

ry::error unknown_link() {
  return ry::not_found("mail.unknown_link", "This link is not known");
}

ry::uuid token_of(const ry::request& r) {
  const auto token = ry::uuid::parse(r.param("token"));
  if (!token) throw unknown_link();
  return *token;
}

}  // namespace

void routes::add_to(ry::registrar& reg) {
  reg.route("GET", "/mail/unsubscribe/{token}", RY_ROUTE_PUBLIC, this, &routes::ask);
  reg.route("POST", "/mail/unsubscribe/{token}", RY_ROUTE_PUBLIC, this, &routes::unsubscribe);
  reg.route("GET", "/admin/mail", RY_ROUTE_ADMIN, this, &routes::list);
  reg.route("POST", "/admin/mail/{id}/requeue", RY_ROUTE_ADMIN, this, &routes::requeue);
  reg.route("DELETE", "/admin/mail/suppressions/{address}", RY_ROUTE_ADMIN, this, &routes::lift);
}

ry::task<ry::response> routes::ask(ry::request r) {
  const auto token = token_of(r);
  if (!(co_await repo_.category_of(token))) throw unknown_link();
  co_return page(ask_page);
}

ry::task<ry::response> routes::unsubscribe(ry::request r) {
  const auto token = token_of(r);
  if (!(co_await repo_.unsubscribe(token))) throw unknown_link();
  co_return page(done_page);
}

ry::task<ry::response> routes::list(ry::request r) {
  const auto state = boost::algorithm::to_lower_copy(r.query("state").value_or("dead"), std::locale::classic());
  if (state != "sent" && state != "refused" && state != "dead" && state != "suppressed") {
    throw ry::http_error(422, RY_INVALID_ARGUMENT, "mail.invalid_value",
                         "state must be one of sent, refused, dead, suppressed");
  }
  const auto limit = ry::query_integer(r, "limit", 1, largest_page).value_or(default_page);
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
    throw ry::not_found("mail.not_found", "There is no message that was refused or given up");
  }
  ctx_.jobs().poke("mail");
  co_return ry::response::json("{\"state\":\"queued\"}");
}

ry::task<ry::response> routes::lift(ry::request r) {
  const auto address = ry::percent_decode(r.param("address")).value_or("");
  if (!is_address(address)) {
    throw ry::http_error(422, RY_INVALID_ARGUMENT, "mail.invalid_value",
                         "address must be an e-mail address");
  }
  const std::string actor(r.subject());
  const bool lifted = co_await repo_.lift(actor, address);
  if (!lifted) {
    throw ry::not_found("mail.not_found", "Nothing keeps mail from this address");
  }
  co_return ry::response::empty();
}

}  // namespace mail
