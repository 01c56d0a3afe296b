// Reads the retry delay that a provider requests in response headers and error bodies. No I/O.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <optional>
#include <string_view>

namespace llm {

// Seconds of a Retry-After header (fractions rounded up; at most a day); 0: none, or in the past.
std::uint32_t retry_after(std::string_view value, std::int64_t now_unix_s);

// Milliseconds of "3.5s", "120ms", "1m2s", "2 minutes and 5 seconds"; a number without a unit means seconds. `text` may
// continue after the duration. nullopt: it does not begin with one.
std::optional<std::uint64_t> read_duration_ms(std::string_view text);

// The delay in a message, in milliseconds: "Please try again in 7.66s", "retry after 26 seconds"; 0: none.
std::uint64_t retry_ms_of_message(std::string_view message);

// The delay in an error, in milliseconds: in a member (Google's RetryInfo, retry_after, OpenRouter's metadata.headers)
// or in its message; 0: none. `error` is the error object itself.
std::uint64_t retry_ms_of_error(const boost::json::object& error, std::int64_t now_unix_s);

std::uint32_t seconds_rounded_up(std::uint64_t ms);  // rounded up, at most a day

// Collects the headers of one response.
class retry_headers {
 public:
  void add(std::string_view name, std::string_view value, std::int64_t now_unix_s);
  // The delay that the server requests explicitly: retry-after-ms, Retry-After. 0: none.
  std::uint64_t requested_ms() const { return retry_after_ms_ != 0 ? retry_after_ms_ : retry_after_s_ * 1000; }
  // Time until the exhausted limit is reset (x-ratelimit-reset-*); for a 429 without an explicit delay. 0: unknown.
  std::uint64_t reset_ms() const { return exhausted_reset_ms_ != 0 ? exhausted_reset_ms_ : earliest_reset_ms_; }

 private:
  struct limit {
    std::uint64_t reset_ms = 0;
    bool exhausted = false;
  };
  void update_reset_times();

  std::uint64_t retry_after_ms_ = 0, retry_after_s_ = 0, exhausted_reset_ms_ = 0, earliest_reset_ms_ = 0;
  limit requests_, tokens_, input_tokens_, output_tokens_, unnamed_;
};

}  // namespace llm
