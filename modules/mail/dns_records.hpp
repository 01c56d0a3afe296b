// Evaluates the DNS records of a sender's domain: SPF (RFC 7208), DKIM (RFC 6376), DMARC (RFC 7489). Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mail {

enum class grade { good, warning, failure };

struct finding {
  grade how = grade::good;
  std::string topic;  // "SPF", "DKIM s1" ...
  std::string text;  // the finding, and what to do about it
};

// Makes text of DNS records and SMTP replies safe for a terminal: control characters, including line ends, become
// "\x1b". A record must neither send escape sequences nor look like another line of the report.
std::string with_escaped_controls(std::string_view text);

// txt: the TXT records of the domain.
finding judge_spf(const std::vector<std::string>& txt);
// The record of SELECTOR._domainkey.DOMAIN.
finding judge_dkim(std::string_view selector, const std::vector<std::string>& txt);
// The record of _dmarc.DOMAIN. has_dmarc: whether there is one.
bool has_dmarc(const std::vector<std::string>& txt);
finding judge_dmarc(const std::vector<std::string>& txt);

}  // namespace mail
