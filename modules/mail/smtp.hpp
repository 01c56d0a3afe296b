// Sends messages to the relay over reused connections, with libcurl. Every function blocks, so call them on blocking
// threads. Threads may call send() concurrently; each call uses its own connection.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "settings.hpp"

namespace mail {

// One message.
struct email {
  std::string id;  // part of Message-ID before the @; the same in every attempt
  std::string address;  // send() validates it again
  std::string subject;
  std::string text;
  std::string html;  // empty: text only
  std::string unsubscribe_url;  // empty: no List-Unsubscribe
  std::string brand_name;  // in From if the settings have no name
  std::int64_t date_unix_s = 0;
};

// The step of the dialogue at which an attempt ended.
enum class phase { connect, hello, starttls, auth, mail, rcpt, data, body };

// The result of an attempt.
struct attempt {
  int curl_code = 0;  // CURLcode
  int reply_code = 0;  // of the relay's last reply; 0: no reply
  std::string reply;  // its text, truncated
  phase at = phase::connect;
  bool all_sent = false;  // the relay may have received the complete message
  // If the address is invalid or the relay does not support it, the reason; the message was then not sent. Otherwise
  // empty.
  std::string unsupported;
};

// Whether the relay supports UTF-8 before the @ (RFC 6531), according to its reply to the last EHLO.
enum class utf8_support { unknown, no, yes };

enum class verdict {
  sent,
  retry,  // temporary: retry later
  refused,  // the relay rejected this message permanently
  bounced,  // the relay reported that this recipient does not exist
  relay_error,  // a fault of the relay or our settings, unrelated to this message
};

// Whether there was no connection to the relay.
bool is_unreachable(const attempt& a) noexcept;

// Classifies an attempt, by the relay's reply if there is one: 4xx is temporary, 5xx is permanent.
verdict classify_attempt(const attempt& a) noexcept;

// A message for operators, without secrets.
std::string describe(const attempt& a);

class smtp {
 public:
  explicit smtp(const settings& s);
  ~smtp();
  smtp(const smtp&) = delete;
  smtp& operator=(const smtp&) = delete;

  attempt send(const email& message);
  // Connects and logs in without sending anything.
  attempt probe();
  // Aborts attempts that have not begun to send a message; others continue.
  void stop() noexcept { stopping_.store(true, std::memory_order_relaxed); }

 private:
  struct connection;
  struct dialogue_monitor;
  void prepare(void* curl, dialogue_monitor& monitor) const;
  std::unique_ptr<connection> acquire();
  void release(std::unique_ptr<connection> c);

  const settings& settings_;
  std::atomic<bool> stopping_{false};
  std::mutex mutex_;
  std::vector<std::unique_ptr<connection>> idle_;
};

}  // namespace mail
