#include "smtp_reply.hpp"

#include <algorithm>
#include <string>

namespace mail {
namespace {

// Enhanced status codes (RFC 3463, RFC 7504) that speak of the recipient's mailbox or domain itself.
constexpr std::string_view recipient_codes[] = {"5.1.1", "5.1.2", "5.1.3", "5.1.6", "5.1.10", "5.2.1"};
// Limits on what one sender may send.
constexpr std::string_view quota_codes[] = {"5.4.5", "5.5.3"};

// Of servers without enhanced codes.
constexpr std::string_view unknown_user[] = {
    "user unknown",         "unknown user",        "no such user",         "no such recipient",  "no such mailbox",
    "no such address",      "mailbox not found",   "user not found",       "recipient not found", "address not found",
    "user does not exist",  "mailbox does not exist", "recipient does not exist", "account does not exist", "address does not exist",
    "user doesn't exist",   "mailbox doesn't exist", "recipient doesn't exist", "account doesn't exist", "unknown recipient",
    "unknown mailbox",      "unknown address",     "recipient unknown",    "mailbox unknown",    "address unknown",
    "invalid recipient",    "invalid mailbox",     "not a known user",     "no mailbox here",    "not a valid mailbox",
    "unrouteable address",  "account is disabled", "account disabled",     "mailbox disabled",   "account has been disabled",
    "mailbox is inactive",  "account is inactive"};

// Reasons that lie with the sender, the relay or a rule: whatever code stands beside them, the mailbox may well exist.
constexpr std::string_view elsewhere[] = {
    "sender",  "relay",     "spf",        "dkim",       "dmarc",     "spam",        "policy",  "prohibit", "black",   "block list",
    "blocklist", "blocked", "reputation", "not permitted", "not allowed", "authenticat", "denied",  "quota",    "full",    "over limit",
    "rate",    "too many",  "limit exceeded", "greylist", "reverse dns", "content"};

constexpr std::string_view sending_limits[] = {"sending quota", "sending limit", "daily quota", "daily limit",   "hourly quota",
                                               "hourly limit",  "rate limit",    "message limit", "submission quota", "too many messages",
                                               "too many recipients", "sent too many"};

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return out;
}

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

// "5.1.1" of "550 5.1.1 No such user"; empty: there is none.
std::string_view enhanced_code(std::string_view reply) {
  if (reply.size() < 9 || (reply[3] != ' ' && reply[3] != '-') || reply[4] != '5' || reply[5] != '.') return {};
  auto at = reply.find_first_not_of("0123456789.", 4);
  if (at == reply.npos) at = reply.size();
  const auto code = reply.substr(4, at - 4);
  return std::count(code.begin(), code.end(), '.') == 2 && is_digit(code.back()) ? code : std::string_view();
}

template <class Words>
bool has_any(std::string_view text, const Words& words) {
  return std::any_of(std::begin(words), std::end(words), [&](std::string_view w) { return text.find(w) != text.npos; });
}

template <class Codes>
bool is_any(std::string_view code, const Codes& codes) {
  return std::find(std::begin(codes), std::end(codes), code) != std::end(codes);
}

}  // namespace

refusal classify(std::string_view reply) {
  const auto code = enhanced_code(reply);
  const auto text = lower(reply);
  if (is_any(code, quota_codes)) return refusal::quota;
  const bool mailbox_full = code == "5.2.2" || text.starts_with("552");
  if (!mailbox_full && has_any(text, sending_limits)) return refusal::quota;
  if (has_any(text, elsewhere)) return refusal::other;
  if (!code.empty()) return is_any(code, recipient_codes) ? refusal::recipient : refusal::other;
  const bool of_recipient = text.starts_with("550") || text.starts_with("551") || text.starts_with("553") || text.starts_with("554");
  return of_recipient && has_any(text, unknown_user) ? refusal::recipient : refusal::other;
}

}  // namespace mail
