#include "smtp_reply.hpp"

#include <algorithm>
#include <string>

namespace mail {
namespace {

// Enhanced status codes (RFC 3463, RFC 7504) that describe the recipient's mailbox or domain itself.
constexpr std::string_view recipient_codes[] = {"5.1.1", "5.1.2", "5.1.3", "5.1.6", "5.1.10", "5.2.1"};
// Codes that servers use for a missing mailbox and for other reasons; only the wording distinguishes them.
constexpr std::string_view ambiguous_codes[] = {"", "5.0.0", "5.1.0", "5.2.0", "5.3.0", "5.5.0", "5.7.1"};
// Limits on the amount that one sender may send. Exchange Online: 5.1.90, 5.2.121 and 5.2.122.
constexpr std::string_view sender_limit_codes[] = {"5.4.5", "5.5.3", "5.1.90", "5.2.121", "5.2.122"};
// A full mailbox, or a message that is too large.
constexpr std::string_view size_codes[] = {"5.2.2", "5.2.3", "5.3.4"};

// The following are beginnings of words, or phrases, in the form that normalized_words() returns. A trailing space
// requires the end of a word.
constexpr std::string_view later_wording[] = {"throttl",
                                              "rate limit",
                                              "ratelimit",
                                              "too quickly",
                                              "too fast",
                                              "too frequent",
                                              "at a rate that",
                                              "unusual rate",
                                              "unusual sending",
                                              "too many messages",
                                              "too many emails",
                                              "too many mails",
                                              "too many recipients",
                                              "too many connections",
                                              "sent too many",
                                              "sending quota",
                                              "sending limit",
                                              "daily quota",
                                              "daily limit",
                                              "hourly quota",
                                              "hourly limit",
                                              "message limit",
                                              "submission quota",
                                              "storedrv submission",
                                              "sending suspended",
                                              "sending paused",
                                              "sending disabled",
                                              "suspended from sending",
                                              "bad outbound sender",
                                              "temporar",
                                              "again later",
                                              "try later",
                                              "later time",
                                              "try after"};

constexpr std::string_view limits[] = {"quota", "limit",     "rate ",   "rates ",    "maximum",
                                       "max ",  "threshold", "credits", "allowance", "allotment"};
constexpr std::string_view exceeded[] = {"exceed", "reached", "over quota", "over limit", "over the limit", "surpass"};
// Wordings of limits that do not concern the number of messages.
constexpr std::string_view of_size[] = {"size",   "too large", "larger",     "too big", "hop ",   "hops ",   "line ",
                                        "lines ", "header",    "attachment", "nesting", "length", "storage", "disk "};
constexpr std::string_view of_mailbox[] = {"mailbox", "inbox", "user is over", "account is over", "recipient is over"};
constexpr std::string_view of_sending[] = {"send",     "sent ",  "submission", "outgoing",  "outbound",
                                           "relay",    "daily",  "day ",       "hour",      "minute",
                                           "messages", "emails", "rate ",      "recipients"};

// The relay rejects the sender. "Unknown user" together with these refers to the sender's address.
constexpr std::string_view about_sender[] = {
    "sender",  "sending",     "from address", "return path", "mail from", "envelope from", "originat", "your account",
    "your ip", "your server", "your host",    "your domain", "spf ",      "dkim ",         "dmarc "};

// Reasons that concern the relay or a policy: the mailbox may exist.
constexpr std::string_view other_reasons[] = {
    "relaying",      "relay not",   "relay access", "relay denied", "to relay",    "open relay", "spam",
    "unsolicited",   "virus",       "polic",        "prohibit",     "black",       "block",      "reputation",
    "not permitted", "not allowed", "authenti",     "authori",      "denied",      "quota",      "full ",
    "over limit",    "greylist",    "graylist",     "reverse dns",  "rdns",        "dnsbl",      "rbl ",
    "content",       "complain",    "abus",         "suppress",     "not verified"};

constexpr std::string_view mailbox_names[] = {"user",    "recipient", "mailbox", "account",
                                              "address", "addressee", "alias"};
constexpr std::string_view missing_before[] = {"no such ",     "unknown ",      "invalid ",
                                               "nonexistent ", "non existent ", "unknown or illegal "};
constexpr std::string_view missing_after[] = {
    " unknown ",        " is unknown ",   " not found ",         " was not found ",    " could not be found ",
    " does not exist ", " doesnt exist ", " not exist ",         " no longer exists ", " is not known ",
    " is disabled ",    " disabled ",     " has been disabled ", " is inactive ",      " has been deactivated "};
constexpr std::string_view missing_otherwise[] = {"not a known user",    "no mailbox here",
                                                  "no mailbox by",       "not a valid mailbox",
                                                  "unrouteable address", "unroutable address",
                                                  "user doesnt have a",  "not have an account here",
                                                  "deactivated mailbox", "tried to reach does not exist",
                                                  "not our customer",    "no user record"};

bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}
bool is_lower(char c) noexcept {
  return c >= 'a' && c <= 'z';
}
bool is_upper(char c) noexcept {
  return c >= 'A' && c <= 'Z';
}

// "mx.example.org", but neither "5.1.1" nor "STOREDRV.Submission.Exception".
bool looks_like_host_name(std::string_view s) noexcept {
  while (!s.empty() && (s.back() == '.' || s.back() == ':')) s.remove_suffix(1);
  const auto dot = s.rfind('.');
  if (dot == s.npos || s.size() - dot < 3 || !is_lower(s.back())) return false;
  return std::all_of(s.begin(), s.end(), [](char c) { return is_lower(c) || is_digit(c) || c == '.' || c == '-'; });
}

// Whether it is an address, a host name or a link, whose words are not reasons.
bool is_name(std::string_view piece) noexcept {
  return piece.find('@') != piece.npos || piece.find("://") != piece.npos || looks_like_host_name(piece);
}

void append_words(std::string& to, std::string_view piece) {
  char before = ' ';
  for (const char c : piece) {
    if (is_upper(c)) {
      // "SubmissionQuotaExceeded" has three words.
      if (is_lower(before) && to.back() != ' ') to += ' ';
      to += static_cast<char>(c + 32);
    } else if (is_lower(c) || is_digit(c) || static_cast<unsigned char>(c) >= 0x80) {
      to += c;
    } else if (c != '\'' && to.back() != ' ') {
      to += ' ';
    }
    before = c;
  }
  if (to.back() != ' ') to += ' ';
}

// The words of the reply in lower case, separated and surrounded by one space, without addresses, host names and links.
std::string normalized_words(std::string_view reply) {
  constexpr std::string_view blanks = " \t\r\n", breaks = " \t\r\n()[]{}<>\"=,;";
  std::string out = " ";
  for (std::size_t at = 0; at < reply.size();) {
    if (reply[at] == '<') {
      const auto end = reply.find('>', at);
      if (end != reply.npos) {
        at = end + 1;
        continue;
      }
    }
    const auto blank = std::min(reply.find_first_of(blanks, at), reply.size());
    const bool link = reply.substr(at, blank - at).find("://") != reply.npos;
    const auto end = link ? blank : std::max(at + 1, std::min(reply.find_first_of(breaks, at), reply.size()));
    const auto piece = reply.substr(at, end - at);
    if (!is_name(piece)) append_words(out, piece);
    at = end;
  }
  return out;
}

// "5.1.1" of "550 5.1.1 No such user"; empty: none.
std::string_view enhanced_code(std::string_view reply) {
  if (reply.size() < 9 || (reply[3] != ' ' && reply[3] != '-') || reply[4] != '5' || reply[5] != '.') return {};
  auto at = reply.find_first_not_of("0123456789.", 4);
  if (at == reply.npos) at = reply.size();
  const auto code = reply.substr(4, at - 4);
  return std::count(code.begin(), code.end(), '.') == 2 && is_digit(code.back()) ? code : std::string_view();
}

template <class Wordings>
bool has_any(std::string_view words, const Wordings& all) {
  return std::any_of(std::begin(all), std::end(all), [&](std::string_view w) {
    for (auto at = words.find(w); at != words.npos; at = words.find(w, at + 1)) {
      if (at != 0 && words[at - 1] == ' ') return true;
    }
    return false;
  });
}

template <class Codes>
bool is_any(std::string_view code, const Codes& codes) {
  return std::find(std::begin(codes), std::end(codes), code) != std::end(codes);
}

bool describes_missing_mailbox(std::string_view words) {
  if (has_any(words, missing_otherwise)) return true;
  for (const auto name : mailbox_names) {
    for (const auto before : missing_before) {
      if (words.find(' ' + std::string(before) + std::string(name)) != words.npos) return true;
    }
    for (const auto after : missing_after) {
      if (words.find(' ' + std::string(name) + std::string(after)) != words.npos) return true;
    }
  }
  return false;
}

bool is_sender_limit(std::string_view reply, std::string_view code, std::string_view words) {
  if (is_any(code, sender_limit_codes) || has_any(words, later_wording)) return true;
  if (is_any(code, size_codes) || has_any(words, of_size)) return false;
  const bool of_recipient = reply.starts_with("552") || has_any(words, of_mailbox);
  if (of_recipient && !has_any(words, of_sending)) return false;
  return has_any(words, limits) && has_any(words, exceeded);
}

}  // namespace

refusal classify(std::string_view reply) {
  const auto code = enhanced_code(reply);
  const auto words = normalized_words(reply);
  if (is_sender_limit(reply, code, words)) return refusal::later;
  if (has_any(words, about_sender)) return refusal::other;
  const bool missing = describes_missing_mailbox(words);
  // With such a code, a wording of a missing mailbox outweighs other words, which may name a table or a server.
  if (is_any(code, recipient_codes))
    return missing || !has_any(words, other_reasons) ? refusal::recipient : refusal::other;
  const bool of_recipient = reply.starts_with("55") || reply.starts_with("511");
  return of_recipient && is_any(code, ambiguous_codes) && missing && !has_any(words, other_reasons) ? refusal::recipient
                                                                                                    : refusal::other;
}

}  // namespace mail
