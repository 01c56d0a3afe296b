#include "dns_records.hpp"

#include <algorithm>
#include <optional>
#include <ry/cpp/base64.hpp>
#include <ry/cpp/text.hpp>
#include <ry/cpp/types.hpp>

namespace mail {
namespace {

constexpr int max_lookups = 10;  // RFC 7208, 4.6.4
constexpr std::size_t weak_key_below = 200;  // bytes of an RSA key of 1024 bits in DER, plus a margin
constexpr std::size_t strong_key_from = 290;  // of 2048 bits

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const auto word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    if (!word.empty()) out.push_back(word);
  }
  return out;
}

bool begins_with(std::string_view text, std::string_view prefix) {
  return text.size() >= prefix.size() && ry::iequals(text.substr(0, prefix.size()), prefix);
}

bool is_spf(std::string_view record) {
  return begins_with(record, "v=spf1") && (record.size() == 6 || record[6] == ' ');
}

// Whether a receiver must query DNS for this mechanism.
bool needs_lookup(std::string_view mechanism) {
  if (!mechanism.empty() && std::string_view("+-~?").find(mechanism.front()) != std::string_view::npos)
    mechanism.remove_prefix(1);
  const auto name = mechanism.substr(0, mechanism.find_first_of(":/="));
  for (const std::string_view one : {"include", "a", "mx", "ptr", "exists", "redirect"})
    if (ry::iequals(name, one)) return true;
  return false;
}

// The value of a tag of "v=DKIM1; p=...".
std::optional<std::string> tag_of(std::string_view record, std::string_view name) {
  while (!record.empty()) {
    auto part = record.substr(0, record.find(';'));
    record.remove_prefix(std::min(part.size() + 1, record.size()));
    const auto equals = part.find('=');
    if (equals == part.npos) continue;
    std::string key, value;
    for (const char c : part.substr(0, equals))
      if (c != ' ' && c != '\t') key += c;
    for (const char c : part.substr(equals + 1))
      if (c != ' ' && c != '\t') value += c;
    if (ry::iequals(key, name)) return value;
  }
  return std::nullopt;
}

}  // namespace

std::string with_escaped_controls(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  const auto escape = [&](unsigned char c) { ry::append_hex(out.append("\\x"), c); };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    const auto next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0;
    if (c < 0x20 || c == 0x7f) {
      escape(c);
    } else if (c == 0xc2 && next >= 0x80 && next < 0xa0) {  // U+0080 to U+009F
      escape(static_cast<unsigned char>(next));
      ++i;
    } else {
      out += text[i];
    }
  }
  return out;
}

finding evaluate_spf(const std::vector<std::string>& txt) {
  std::vector<std::string> records;
  std::copy_if(txt.begin(), txt.end(), std::back_inserter(records), is_spf);
  const auto make_finding = [](grade result, std::string text) { return finding{result, "SPF", std::move(text)}; };
  if (records.empty())
    return make_finding(
        grade::failure,
        "there is no record \"v=spf1 ...\": publish one that lists the relay's servers, as the relay's provider describes");
  if (records.size() > 1)
    return make_finding(grade::failure, "there are " + std::to_string(records.size()) +
                                            " records \"v=spf1\"; receivers ignore all of them: merge them into one");
  const auto& record = records.front();
  const auto words = words_of(record);
  const auto lookups = std::count_if(words.begin() + 1, words.end(), needs_lookup);
  if (lookups > max_lookups)
    return make_finding(grade::failure, "it needs more than 10 look-ups, so receivers ignore it: " + record);
  const auto has = [&](std::string_view w) {
    return std::any_of(words.begin(), words.end(), [&](std::string_view x) { return ry::iequals(x, w); });
  };
  if (has("+all") || has("all"))
    return make_finding(grade::failure, "\"+all\" lets any server send mail in this domain's name: " + record);
  const bool redirected =
      std::any_of(words.begin(), words.end(), [](std::string_view w) { return begins_with(w, "redirect="); });
  if (has("?all") || (!has("~all") && !has("-all") && !redirected)) {
    return make_finding(grade::warning,
                        "it has no rule for mail from other servers; end it with ~all or -all: " + record);
  }
  return make_finding(grade::good, record);
}

finding evaluate_dkim(std::string_view selector, const std::vector<std::string>& txt) {
  const auto make_finding = [&](grade result, std::string text) {
    return finding{result, "DKIM " + std::string(selector), std::move(text)};
  };
  const auto record =
      std::find_if(txt.begin(), txt.end(), [](const std::string& r) { return tag_of(r, "p").has_value(); });
  if (record == txt.end())
    return make_finding(grade::failure,
                        "there is no key for this selector: publish the record that the relay's provider shows");
  const auto key = *tag_of(*record, "p");
  if (key.empty()) return make_finding(grade::failure, "the key was revoked (p is empty)");
  const auto bytes = ry::base64_decode(key, ry::base64_alphabet::standard, ry::base64_padding::optional);
  if (!bytes) return make_finding(grade::failure, "the key is not valid Base64: the record is truncated or altered");
  const auto kind = tag_of(*record, "k").value_or("rsa");
  if (ry::iequals(kind, "ed25519"))
    return make_finding(grade::warning, "an Ed25519 key; many receivers support only RSA: publish an RSA key as well");
  if (bytes->size() < weak_key_below)
    return make_finding(grade::warning, "the RSA key has 1024 bits or less: use a 2048-bit key");
  const auto flags = tag_of(*record, "t").value_or("");
  if (flags.find('y') != flags.npos)
    return make_finding(grade::warning, "the record is in test mode (t=y): receivers may ignore signatures");
  return make_finding(grade::good, bytes->size() >= strong_key_from ? "an RSA key of 2048 bits or more" : "an RSA key");
}

bool has_dmarc(const std::vector<std::string>& txt) {
  return std::any_of(txt.begin(), txt.end(), [](const std::string& r) { return begins_with(r, "v=DMARC1"); });
}

finding evaluate_dmarc(const std::vector<std::string>& txt) {
  const auto make_finding = [](grade result, std::string text) { return finding{result, "DMARC", std::move(text)}; };
  const auto count =
      std::count_if(txt.begin(), txt.end(), [](const std::string& r) { return begins_with(r, "v=DMARC1"); });
  if (count == 0)
    return make_finding(
        grade::failure,
        "there is no record at _dmarc: start with \"v=DMARC1; p=none; rua=mailto:...\"; large mailbox providers require one from bulk senders");
  if (count > 1)
    return make_finding(grade::failure, "there are several DMARC records; receivers ignore all of them: keep one");
  const auto record =
      std::find_if(txt.begin(), txt.end(), [](const std::string& r) { return begins_with(r, "v=DMARC1"); });
  const auto policy = tag_of(*record, "p").value_or("");
  if (ry::iequals(policy, "none"))
    return make_finding(
        grade::warning,
        "p=none only monitors; change it to quarantine or reject when the reports show that all legitimate mail passes: " +
            *record);
  if (!ry::iequals(policy, "quarantine") && !ry::iequals(policy, "reject"))
    return make_finding(grade::failure, "its policy must be none, quarantine or reject: " + *record);
  return make_finding(grade::good, *record);
}

}  // namespace mail
