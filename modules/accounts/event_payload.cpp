#include "event_payload.hpp"

#include <algorithm>
#include <array>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <cmath>

#include "body.hpp"

namespace accounts {
namespace {

namespace json = boost::json;

constexpr double max_amount = 1e9;

struct event_kind {
  std::string_view name;
  std::string_view detail_member;  // name of the member with the paid item, or with the reason of the failure
};
constexpr std::array kinds{event_kind{"payment.succeeded", "plan_name"}, event_kind{"payment.failed", "reason"}};

ry::error invalid_amount() {
  return body::invalid(
      "payload.amount",
      "must be a number from 0 to 1000000000 with at most six decimals, or a string that contains such a number");
}

bool is_decimal(std::string_view text) {
  const auto digits = [](std::string_view s) { return !s.empty() && s.find_first_not_of("0123456789") == s.npos; };
  const auto dot = text.find('.');
  if (text.size() > 17 || !digits(text.substr(0, dot))) return false;
  if (dot == text.npos) return true;
  const auto decimals = text.substr(dot + 1);
  return digits(decimals) && decimals.size() <= 6;
}

// Returns the amount as sent, because the payer sees it, e.g. "20.00".
json::value amount_in(const json::object& payload) {
  const auto* v = payload.if_contains("amount");
  if (!v || v->is_null()) throw body::invalid("payload.amount", "is required");
  if (v->is_string()) {
    const std::string text(v->get_string());
    if (!is_decimal(text) || std::stod(text) > max_amount) throw invalid_amount();
    return *v;
  }
  json::error_code ec;
  const auto number = v->to_number<double>(ec);
  if (ec || !(number >= 0) || number > max_amount) throw invalid_amount();
  if (std::abs(number * 1e6 - std::round(number * 1e6)) > 1e-3) throw invalid_amount();
  return *v;
}

std::string text_in(const json::object& payload, std::string_view name, std::size_t max_bytes) {
  const std::string at = "payload." + std::string(name);
  const auto* v = payload.if_contains(json::string_view(name.data(), name.size()));
  if (!v || v->is_null()) throw body::invalid(at, "is required");
  if (!v->is_string()) throw body::invalid(at, "must be a string");
  const std::string text(v->get_string());
  const bool control = std::any_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
  if (text.empty() || text.size() > max_bytes || control)
    throw body::invalid(at, "must have 1 to " + std::to_string(max_bytes) + " bytes and no control characters");
  return text;
}

std::string currency_in(const json::object& payload) {
  auto text = text_in(payload, "currency", 16);
  const bool letters =
      std::all_of(text.begin(), text.end(), [](char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); });
  if (text.size() != 3 || !letters)
    throw body::invalid("payload.currency", "must be a code of three letters (ISO 4217)");
  return text;
}

const event_kind& kind_of(const std::string& name) {
  std::string known;
  for (const auto& k : kinds) {
    if (k.name == name) return k;
    known += (known.empty() ? "" : ", ") + std::string(k.name);
  }
  throw body::invalid("kind", "must be one of " + known);
}

void reject_unknown(const json::object& payload, const event_kind& kind) {
  for (const auto& member : payload) {
    const std::string_view name(member.key().data(), member.key().size());
    if (name != "account_id" && name != "amount" && name != "currency" && name != kind.detail_member)
      throw body::invalid("payload." + std::string(name), "is not known for " + std::string(kind.name));
  }
}

}  // namespace

published_event read_published_event(std::string_view text) {
  const body b(text, {"kind", "key", "payload"});
  const auto kind_name = b.text("kind", 1, 64);
  if (!kind_name) throw body::invalid("kind", "is required");
  const auto& kind = kind_of(*kind_name);
  const auto key = b.text("key", 1, 200);
  if (!key) throw body::invalid("key", "is required");
  const auto* payload = b.object("payload");
  if (!payload) throw body::invalid("payload", "is required");
  reject_unknown(*payload, kind);
  const auto account = ry::uuid::parse(text_in(*payload, "account_id", 64));
  if (!account) throw body::invalid("payload.account_id", "must be a UUID");

  json::object validated;
  validated["account_id"] = account->to_string();
  validated["amount"] = amount_in(*payload);
  validated["currency"] = currency_in(*payload);
  validated[json::string_view(kind.detail_member.data(), kind.detail_member.size())] =
      text_in(*payload, kind.detail_member, 500);
  return {*kind_name, *key, *account, json::serialize(validated)};
}

}  // namespace accounts
