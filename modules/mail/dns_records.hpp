// What the DNS records of a sender's domain say about its mail: SPF (RFC 7208), DKIM (RFC 6376), DMARC (RFC 7489). Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mail {

enum class grade { good, warning, failure };

struct finding {
  grade how = grade::good;
  std::string topic;  // "SPF", "DKIM s1" ...
  std::string text;  // what was found, and what to do about it
};

// Text of DNS records and SMTP replies for a terminal: control characters, line ends included, become "\x1b". A record
// must neither send escape sequences nor look like a further line of the report.
std::string with_escaped_controls(std::string_view text);

// txt: the TXT records of the domain.
finding judge_spf(const std::vector<std::string>& txt);
// Of SELECTOR._domainkey.DOMAIN.
finding judge_dkim(std::string_view selector, const std::vector<std::string>& txt);
// Of _dmarc.DOMAIN. Whether there is one at all: has_dmarc.
bool has_dmarc(const std::vector<std::string>& txt);
finding judge_dmarc(const std::vector<std::string>& txt);

}  // namespace mail
