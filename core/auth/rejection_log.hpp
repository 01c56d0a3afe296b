// Log lines about rejected tokens: the reason and the unverified claims, but never the token. Rate-limited, because any
// client can send tokens.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

namespace ry::auth {

class rejection_log {
 public:
  // The expected values; empty ones are omitted from the line.
  struct expectation {
    std::string issuer_settings;  // "auth.jwt", "auth.issuers.NAME"
    std::string issuer;
    std::string audience;
  };

  // True if a line may be written now; otherwise the line is counted as suppressed. [any]
  bool admit(std::int64_t now_us);
  // Writes a line. `bearer` may be of any kind. It is parsed again here, because most lines are not written. [any]
  void write(std::string_view bearer, std::string_view why, const expectation& wanted, std::int64_t now_us);

 private:
  std::mutex mutex_;
  double budget_ = max_burst;
  std::int64_t at_us_ = 0;
  std::uint64_t left_out_ = 0;

  static constexpr double max_burst = 20;
};

// Makes text safe for a log line: printable ASCII, at most 200 bytes. [any]
std::string for_log(std::string_view text);

}  // namespace ry::auth
