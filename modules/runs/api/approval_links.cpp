#include "api/approval_links.hpp"

#include <sodium.h>

#include "common/client_network.hpp"
#include "text.hpp"

namespace runs {
namespace {

constexpr std::size_t max_link_reason = 2000;

ry::response respond(const approval_page& page) {
  return ry_brand_page::page_response(page.status, page.html);
}

// SHA-256 of the token in the query.
std::string hash_of_link(const ry::request& request) {
  const std::string token = request.query("link").value_or("");
  std::string out(crypto_hash_sha256_BYTES, '\0');
  crypto_hash_sha256(reinterpret_cast<unsigned char*>(out.data()), reinterpret_cast<const unsigned char*>(token.data()),
                     token.size());
  return out;
}

// A field of a form (application/x-www-form-urlencoded); nullopt: missing.
std::optional<std::string> field_of_form(std::string_view form, std::string_view name) {
  while (!form.empty()) {
    const auto end = std::min(form.find('&'), form.size());
    const std::string_view pair = form.substr(0, end);
    form.remove_prefix(std::min(end + 1, form.size()));
    if (pair.substr(0, pair.find('=')) != name || pair.size() == name.size()) continue;
    return ry::percent_decode(pair.substr(name.size() + 1));
  }
  return std::nullopt;
}

}  // namespace

std::int64_t approval_links::wait_seconds(const ry::request& request) {
  const std::string network = client_network::of_address(std::string(request.remote_address()));
  const std::int64_t now = ctx_.now_unix_us();
  const std::int64_t wait = requests_.wait_seconds(network, 1, config_.decision_requests_per_hour, now);
  if (wait == 0) requests_.add(network, 1, config_.decision_requests_per_hour, now);
  return wait;
}

ry::task<std::optional<approval_link>> approval_links::find(std::string token_hash) const {
  ry::result<std::optional<approval_link>> found = co_await repo_.find_approval_link(std::move(token_hash));
  co_return found.value();
}

ry::task<ry::response> approval_links::show(ry::request request) {
  if (const std::int64_t wait = wait_seconds(request); wait != 0)
    co_return respond(too_many_requests_page(brand_)).header("Retry-After", std::to_string(wait));
  const std::optional<approval_link> link = co_await find(hash_of_link(request));
  if (!link) co_return respond(unknown_approval_page(brand_));
  co_return respond(page_of(brand_, *link));
}

ry::task<ry::response> approval_links::decide(ry::request request) {
  if (const std::int64_t wait = wait_seconds(request); wait != 0)
    co_return respond(too_many_requests_page(brand_)).header("Retry-After", std::to_string(wait));
  const std::string hash = hash_of_link(request);
  const std::string decision = field_of_form(request.body(), "decision").value_or("");
  if (decision != "approve" && decision != "deny") {
    const std::optional<approval_link> link = co_await find(hash);
    co_return respond(link ? unclear_decision_page(brand_) : unknown_approval_page(brand_));
  }
  std::optional<std::string> reason;
  if (decision == "deny") reason = field_of_form(request.body(), "reason");
  if (reason) reason = shorten(plain_sentence(*reason), max_link_reason);
  if (reason && is_blank(*reason)) reason.reset();
  const char* status = decision == "approve" ? "approved" : "denied";
  ry::result<std::optional<link_decision>> made = co_await repo_.decide_by_link(hash, status, reason);
  if (!made.value()) co_return respond(unknown_approval_page(brand_));
  const bool is_made = (*made)->made;
  if (is_made) approvals_.announce((*made)->run_id);
  const std::optional<approval_link> link = co_await find(hash);
  if (!link) co_return respond(unknown_approval_page(brand_));  // the thread was deleted during the decision
  co_return respond(is_made ? decided_page(brand_, *link) : page_of(brand_, *link));
}

}  // namespace runs
