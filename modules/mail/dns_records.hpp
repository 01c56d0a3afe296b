// Evaluates the DNS records of a sender's domain: SPF (RFC 7208), DKIM (RFC 6376), DMARC (RFC 7489). Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mail {

enum class grade { good, warning, failure };

struct finding {
  grade result = grade::good;
  std::string topic;  // "SPF", "DKIM s1" ...
  std::string text;  // the finding, and what to do about it
};

// Makes text of DNS records and SMTP replies safe for a terminal: control characters, including line breaks, become
// escapes such as "\x1b". A record must neither send terminal sequences nor forge lines of the report.
std::string with_escaped_controls(std::string_view text);

// txt: the TXT records of the domain.
finding evaluate_spf(const std::vector<std::string>& txt);
// txt: the records of SELECTOR._domainkey.DOMAIN.
finding evaluate_dkim(std::string_view selector, const std::vector<std::string>& txt);
// txt: the records of _dmarc.DOMAIN.
bool has_dmarc(const std::vector<std::string>& txt);
finding evaluate_dmarc(const std::vector<std::string>& txt);

}  // namespace mail
