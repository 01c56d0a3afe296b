// Hands messages to the relay, over connections that are kept for the next one.
//
// libcurl does the talking. Everything here blocks: it runs on threads that may. Any number of
// threads may call send() at once; each takes a connection of its own.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "settings.hpp"

namespace mail {

// One message as it goes out.
struct letter {
  std::string id;  // left part of Message-ID; the same at every attempt
  std::string address;  // checked again here
  std::string subject;
  std::string text;
  std::string html;  // empty: text only
  std::string unsubscribe_url;  // empty: no List-Unsubscribe
  std::string brand_name;  // in From if the settings have no name
  std::int64_t date_unix_s = 0;
};

// Where in the dialogue an attempt ended.
enum class phase { connect, hello, starttls, auth, mail, rcpt, data, body };

// The result of an attempt.
struct attempt {
  int curl_code = 0;  // CURLcode
  int reply_code = 0;  // of the relay's last reply; 0: it said nothing
  std::string reply;  // its text, cut
  phase at = phase::connect;
  bool all_sent = false;  // the relay may have had the whole message
  std::string
      unsupported;  // why the message cannot be sent to this address; the address was not sent to the relay. Otherwise empty
};

// Whether the relay takes UTF-8 before the @ (RFC 6531), by its last greeting.
enum class utf8_support { unknown, no, yes };

enum class verdict {
  sent,
  retry,  // not now: again later
  refused,  // the relay does not want this message, ever
  bounced,  // the relay does not know this recipient
  relay_trouble,  // the relay or our settings are wrong: it says nothing about this message
};

// There was no connection to the relay.
bool is_unreachable(const attempt& a) noexcept;

// What an attempt means for the message. Replies decide, not libcurl's own codes: 4xx is for now, 5xx for good.
verdict judge(const attempt& a) noexcept;

// A sentence for operators, without secrets.
std::string describe(const attempt& a);

class smtp {
 public:
  explicit smtp(const settings& s);
  ~smtp();
  smtp(const smtp&) = delete;
  smtp& operator=(const smtp&) = delete;

  attempt send(const letter& l);
  // Connects and logs in, and sends nothing.
  attempt probe();
  // Attempts that have not begun to hand over a message end; others go on.
  void stop() noexcept { stopping_.store(true, std::memory_order_relaxed); }

 private:
  struct connection;
  struct watcher;
  void prepare(void* curl, watcher& w) const;
  std::unique_ptr<connection> take();
  void give_back(std::unique_ptr<connection> c);

  const settings& settings_;
  std::atomic<bool> stopping_{false};
  std::mutex mutex_;
  std::vector<std::unique_ptr<connection>> idle_;
};

}  // namespace mail
