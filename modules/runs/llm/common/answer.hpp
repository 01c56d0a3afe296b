// Types shared by all drivers over HTTP: the receiver of an answer, its reader, its usage and its failures.
#pragma once

#include <ry/ext/llm_provider.h>

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llm {

// Receives an answer in parts; views are valid during the call.
class receiver {
 public:
  virtual void text(std::string_view s) = 0;
  virtual void reasoning(std::string_view s) = 0;
  virtual void tool_call(std::string_view id, std::string_view name, std::string_view arguments) = 0;
  // A JSON object on one line that later requests must return with the message.
  virtual void reasoning_block(std::string_view json) = 0;

 protected:
  ~receiver() = default;
};

// Reason of a failure: the provider's content filter withheld the answer, or refused the prompt.
inline constexpr std::string_view content_filtered = "llm.content_filter";

struct failure {
  ry_status status = RY_UNAVAILABLE;
  std::string reason, message;
  std::uint32_t retry_after_s = 0;
  bool quoted = false;  // the message contains text from the provider or the network: log it, do not show it to clients
};

// A count that the provider did not report for the complete answer is a lower bound.
struct usage {
  bool input_reported = false, output_reported = false;
  std::int64_t input = 0, output = 0, cached = 0;  // cached: at most input
  std::int64_t cache_write = 0;  // tokens written into the provider's cache; part of input
  bool reported() const noexcept { return input_reported && output_reported; }
};

// Reads one streamed answer, event by event. Sans-io.
class answer_reader {
 public:
  virtual ~answer_reader() = default;
  // Processes one event. Check ended() and failed() afterwards.
  virtual void event(std::string_view name, std::string_view data, receiver& to) = 0;
  // Processes a JSON object that arrived instead of a stream: a complete answer, one chunk of it, or an error.
  virtual void document(const boost::json::object& o, receiver& to) = 0;
  // Handles the end of the connection, orderly or not: decides whether the answer is complete or has failed.
  virtual void closed(receiver& to) = 0;
  // The failure for a response with an HTTP error status.
  virtual failure refused(unsigned http_status, std::string_view body) const = 0;

  bool ended() const noexcept { return ended_; }  // no more events follow
  // The answer has reported its finish reason: only its usage and the terminator may follow.
  bool finish_seen() const noexcept { return finish_seen_; }
  const std::optional<failure>& failed() const noexcept { return failed_; }
  std::int32_t finish() const noexcept { return finish_; }
  const usage& used() const noexcept { return usage_; }
  // Bytes of text, reasoning and arguments so far; for estimates.
  std::size_t produced() const noexcept { return produced_; }

  // Marks the answer as unusable.
  void fail(failure f) {
    failed_ = std::move(f);
    ended_ = true;
  }

 protected:
  bool ended_ = false, finish_seen_ = false;
  std::int32_t finish_ = 0;
  usage usage_;
  std::size_t produced_ = 0;
  std::optional<failure> failed_;
};

// Estimate: four bytes per token.
inline std::int64_t estimate_tokens(std::size_t bytes) {
  return static_cast<std::int64_t>((bytes + 3) / 4);
}

// The usage of an answer with `produced` bytes: as reported, otherwise estimated. A reported zero counts as not
// reported, unless nothing was produced.
usage with_estimates(usage u, std::int64_t input_estimate, std::size_t produced);

// A token count, rounded; nullopt if it is not a number from 0 to 1 billion.
std::optional<std::int64_t> count_at(const boost::json::object& o, std::string_view key);
// Parses the data of an event; nullopt if it is not JSON. Invalid UTF-8 and escapes of lone surrogates become U+FFFD:
// some gateways split text between bytes or UTF-16 units.
std::optional<boost::json::value> parse_event(std::string_view data);

// The failure for an HTTP status whose body contains no better explanation.
failure failure_of_status(unsigned http_status, std::string message);
// The message for clients, which replaces a quoted one.
std::string_view client_message(const failure& f);
// The text on one line, truncated to 500 bytes, with `secrets` and everything that looks like a key masked.
std::string presentable(std::string_view text, const std::vector<std::string>& secrets);

}  // namespace llm
