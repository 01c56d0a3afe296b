// What both wire protocols have in common: where an answer goes, how it ends, what went wrong.
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

// Takes the pieces of an answer; views are valid during the call.
class receiver {
 public:
  virtual void text(std::string_view s) = 0;
  virtual void reasoning(std::string_view s) = 0;
  virtual void tool_call(std::string_view id, std::string_view name,
                         std::string_view arguments) = 0;
  // A JSON object on one line that has to come back with the message.
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
  bool quoted = false;  // the message is a text of the provider or the network: for the log, not for clients
};

// A count that the provider did not report for the whole answer is the least that is known.
struct usage {
  bool input_reported = false, output_reported = false;
  std::int64_t input = 0, output = 0, cached = 0;  // cached: at most input
  std::int64_t cache_write = 0;                    // written into the provider's cache; part of input
  bool reported() const noexcept { return input_reported && output_reported; }
};

// Reads one streamed answer, event by event. Sans-io.
class answer_reader {
 public:
  virtual ~answer_reader() = default;
  // One event. After it, look at ended() and failed().
  virtual void event(std::string_view name, std::string_view data, receiver& to) = 0;
  // A JSON object that came in the place of a stream: a whole answer, one piece of it, or an error.
  virtual void document(const boost::json::object& o, receiver& to) = 0;
  // The connection closed in good order (or broke: `broken`). Makes up its mind: ended or failed.
  virtual void closed(receiver& to) = 0;
  // An answer with an HTTP status that is no success.
  virtual failure refused(unsigned http_status, std::string_view body) const = 0;

  bool ended() const noexcept { return ended_; }  // nothing more will come
  // The answer has said why it ends: only its usage and its terminator may follow.
  bool finish_seen() const noexcept { return finish_seen_; }
  const std::optional<failure>& failed() const noexcept { return failed_; }
  std::int32_t finish() const noexcept { return finish_; }
  const usage& used() const noexcept { return usage_; }
  // Bytes of text, reasoning and arguments so far; for an estimate.
  std::size_t produced() const noexcept { return produced_; }

  // The answer cannot be used.
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

// About four bytes make a token.
inline std::int64_t estimate_tokens(std::size_t bytes) {
  return static_cast<std::int64_t>((bytes + 3) / 4);
}

// What an answer with `produced` bytes used: as the provider reported, otherwise estimated. A zero is no report, unless
// nothing was produced.
usage with_estimates(usage u, std::int64_t input_estimate, std::size_t produced);

// A member that counts tokens, rounded; nullopt when it is no number from 0 to a billion.
std::optional<std::int64_t> count_at(const boost::json::object& o, std::string_view key);
// The data of an event; nullopt when it is no JSON. Bytes that are no UTF-8, and an escape of half a surrogate pair, as
// left by gateways that cut text between bytes or UTF-16 units, read as U+FFFD.
std::optional<boost::json::value> parse_event(std::string_view data);

// The failure behind an HTTP status when its body says nothing better.
failure failure_of_status(unsigned http_status, std::string message);
// A sentence for clients in the place of a quoted message.
std::string_view sentence_of(const failure& f);
// A text for people: one line, at most 500 bytes, without `secrets` and what looks like a key.
std::string presentable(std::string_view text, const std::vector<std::string>& secrets);

}  // namespace llm
