#include "smtp.hpp"

#include <curl/curl.h>
#include <ry/cpp/types.hpp>

#include <algorithm>

#include "address.hpp"
#include "smtp_reply.hpp"

namespace mail {
namespace {

constexpr std::size_t max_reply = 500;

struct list_end {
  void operator()(curl_slist* l) const noexcept { curl_slist_free_all(l); }
};
using list = std::unique_ptr<curl_slist, list_end>;

void append(list& to, const std::string& line) {
  curl_slist* longer = curl_slist_append(to.get(), line.c_str());
  if (longer == nullptr) throw std::bad_alloc();
  (void)to.release();
  to.reset(longer);
}

void check_curl(CURLcode code, const char* what) {
  if (code != CURLE_OK) {
    throw ry::internal("mail.curl", std::string(what) + ": " + curl_easy_strerror(code));
  }
}

std::size_t discard_body(char*, std::size_t size, std::size_t n, void*) noexcept {
  return size * n;
}

template <class Value>
void set_option(CURL* h, CURLoption o, Value value) {
  check_curl(curl_easy_setopt(h, o, value), "option");
}

void add_part(curl_mime* to, const std::string& body, const char* type) {
  curl_mimepart* part = curl_mime_addpart(to);
  if (part == nullptr) throw std::bad_alloc();
  check_curl(curl_mime_data(part, body.data(), body.size()), "mime data");
  check_curl(curl_mime_type(part, type), "mime type");
  check_curl(curl_mime_encoder(part, "quoted-printable"), "mime encoder");
}

}  // namespace

// Monitors the dialogue: the last command, the relay's replies, and whether the body was sent.
struct smtp::dialogue_monitor {
  attempt out;
  std::string tail;  // last bytes of the body
  bool quitting = false;  // libcurl has sent QUIT; replies no longer matter
  bool multiline = false;  // the reply has more lines
  const std::atomic<bool>* stopping = nullptr;
  utf8_support* utf8 = nullptr;  // member of the connection

  void on_reply(std::string_view line) {
    if (quitting || line.size() < 3 ||
        !std::all_of(line.begin(), line.begin() + 3, [](char c) { return c >= '0' && c <= '9'; })) {
      return;
    }
    while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.remove_suffix(1);
    out.reply_code = std::stoi(std::string(line.substr(0, 3)));
    if (multiline && out.reply.size() < max_reply) {
      out.reply += ' ';
      out.reply += line.substr(std::min<std::size_t>(4, line.size()), max_reply - out.reply.size());
    } else if (!multiline) {
      out.reply.assign(line.substr(0, max_reply));
    }
    multiline = line.size() > 3 && line[3] == '-';
    if (out.at == phase::hello && line.size() >= 12 && ry::iequals(line.substr(4, 8), "SMTPUTF8"))
      *utf8 = utf8_support::yes;
  }
  void on_command(std::string_view line) {
    const auto verb = line.substr(0, line.find_first_of(" \r\n"));
    if (verb == "QUIT") quitting = true;
    multiline = false;
    if (verb == "EHLO" || verb == "HELO") {
      // Only the reply to the last EHLO counts: a relay may offer more after STARTTLS.
      if (out.at <= phase::starttls) out.at = phase::hello;
      *utf8 = utf8_support::no;
    }
    if (verb == "STARTTLS") out.at = phase::starttls;
    if (verb == "AUTH") out.at = phase::auth;
    if (verb == "MAIL") out.at = phase::mail;
    if (verb == "RCPT") out.at = phase::rcpt;
    if (verb == "DATA") out.at = phase::data;
  }
  void on_body(std::string_view bytes) {
    out.at = phase::body;
    // The end of the last MIME part. libcurl from 8.10 on also reports the lone dot that follows; earlier versions do
    // not.
    constexpr std::string_view end = "--\r\n", dot = ".\r\n";
    constexpr std::size_t max_tail = end.size() + dot.size();
    tail.append(bytes.substr(bytes.size() - std::min(bytes.size(), max_tail)));
    if (tail.size() > max_tail) tail.erase(0, tail.size() - max_tail);
    std::string_view last = tail;
    if (last.ends_with("\n.\r\n")) last.remove_suffix(dot.size());
    out.all_sent = last.ends_with(end);
  }
  static int on_debug(CURL*, curl_infotype kind, char* data, std::size_t n, void* p) noexcept {
    auto* monitor = static_cast<dialogue_monitor*>(p);
    const std::string_view bytes(data, n);
    (void)ry::guard([&] {
      if (kind == CURLINFO_HEADER_IN) monitor->on_reply(bytes);
      if (kind == CURLINFO_HEADER_OUT) monitor->on_command(bytes);
      if (kind == CURLINFO_DATA_OUT) monitor->on_body(bytes);
    });
    return 0;
  }
  static std::size_t on_write(char*, std::size_t size, std::size_t n, void*) noexcept { return size * n; }
  static int on_progress(void* p, curl_off_t, curl_off_t, curl_off_t, curl_off_t) noexcept {
    const auto* monitor = static_cast<dialogue_monitor*>(p);
    return monitor->stopping->load(std::memory_order_relaxed) && monitor->out.at < phase::data ? 1 : 0;
  }
};

namespace {

list headers_of(const settings& s, const email& message, const std::string& address) {
  list out;
  append(out, "Date: " + header_date(message.date_unix_s));
  append(out, "From: " + mailbox(s.from_name.empty() ? message.brand_name : s.from_name, s.from));
  if (!s.reply_to.empty()) append(out, "Reply-To: " + s.reply_to);
  append(out, "To: " + address);
  append(out, "Subject: " + header_text(message.subject));
  append(out, "Message-ID: <" + message.id + "@" + s.from.substr(s.from.find('@') + 1) + ">");
  append(out, "Auto-Submitted: auto-generated");
  append(out, "X-Auto-Response-Suppress: All");
  if (!message.unsubscribe_url.empty()) {
    std::string targets = "<" + message.unsubscribe_url + ">";
    if (!s.unsubscribe_mailto.empty()) targets += ", <mailto:" + s.unsubscribe_mailto + ">";
    append(out, "List-Unsubscribe: " + targets);
    append(out, "List-Unsubscribe-Post: List-Unsubscribe=One-Click");
  }
  // Without this, libcurl wraps the alternatives in multipart/mixed.
  append(out, "Content-Type: multipart/alternative");
  return out;
}

}  // namespace

struct smtp::connection {
  CURL* curl = curl_easy_init();
  utf8_support utf8 = utf8_support::unknown;  // from the relay's reply to the last EHLO
  connection() {
    if (curl == nullptr) throw std::bad_alloc();
  }
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;
  ~connection() { curl_easy_cleanup(curl); }
};

smtp::smtp(const settings& s) : settings_(s) {
  check_curl(curl_global_init(CURL_GLOBAL_DEFAULT), "curl_global_init");
}

smtp::~smtp() {
  idle_.clear();
  curl_global_cleanup();
}

std::unique_ptr<smtp::connection> smtp::acquire() {
  {
    std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      auto out = std::move(idle_.back());
      idle_.pop_back();
      return out;
    }
  }
  return std::make_unique<connection>();
}

void smtp::release(std::unique_ptr<connection> c) {
  std::lock_guard lock(mutex_);
  if (idle_.size() < settings_.connections) idle_.push_back(std::move(c));
}

// Sets all options except those of the message. libcurl copies strings.
void smtp::prepare(void* curl, dialogue_monitor& monitor) const {
  CURL* h = curl;
  // Resets the options, but keeps the connection.
  curl_easy_reset(h);
  const bool implicit = settings_.security == security::tls;
  const auto url =
      std::string(implicit ? "smtps://" : "smtp://") + settings_.host + ":" + std::to_string(settings_.port);
  const auto set = [h](CURLoption o, auto value) { set_option(h, o, value); };
  set(CURLOPT_URL, url.c_str());
  set(CURLOPT_PROTOCOLS_STR, "smtp,smtps");
  set(CURLOPT_PROXY, "");
  set(CURLOPT_NOSIGNAL, 1L);
  if (settings_.security == security::starttls) {
    set(CURLOPT_USE_SSL, static_cast<long>(CURLUSESSL_ALL));
  }
  if (!settings_.ca_file.empty()) set(CURLOPT_CAINFO, settings_.ca_file.c_str());
  if (!settings_.username.empty()) {
    set(CURLOPT_USERNAME, settings_.username.c_str());
    set(CURLOPT_PASSWORD, settings_.password.c_str());
  }
  const auto timeout = static_cast<long>(settings_.timeout_ms);
  set(CURLOPT_TIMEOUT_MS, timeout);
  set(CURLOPT_CONNECTTIMEOUT_MS, std::min(timeout, 15'000L));
  set(CURLOPT_VERBOSE, 1L);
  set(CURLOPT_DEBUGFUNCTION, &dialogue_monitor::on_debug);
  set(CURLOPT_DEBUGDATA, &monitor);
  // libcurl writes replies to NOOP to stdout otherwise, into the report of `check --mail --json`.
  set(CURLOPT_WRITEFUNCTION, &dialogue_monitor::on_write);
  set(CURLOPT_NOPROGRESS, 0L);
  set(CURLOPT_XFERINFOFUNCTION, &dialogue_monitor::on_progress);
  set(CURLOPT_XFERINFODATA, &monitor);
  // By default libcurl writes replies, such as the one to NOOP, to standard output.
  set(CURLOPT_WRITEFUNCTION, &discard_body);
}

attempt smtp::probe() {
  auto c = acquire();
  dialogue_monitor monitor;
  monitor.stopping = &stopping_;
  monitor.utf8 = &c->utf8;
  prepare(c->curl, monitor);
  set_option(c->curl, CURLOPT_CUSTOMREQUEST, "NOOP");
  monitor.out.curl_code = curl_easy_perform(c->curl);
  curl_easy_reset(c->curl);
  release(std::move(c));
  return monitor.out;
}

attempt smtp::send(const email& message) {
  // The outbox contains only valid addresses; an invalid one could inject commands.
  const auto address = with_ascii_domain(message.address);
  if (!address) {
    attempt invalid;
    invalid.unsupported = "the address is not valid";
    return invalid;
  }
  auto c = acquire();
  CURL* h = c->curl;
  dialogue_monitor monitor;
  monitor.stopping = &stopping_;
  monitor.utf8 = &c->utf8;
  if (needs_smtputf8(*address)) {
    // Query the relay first: it must not receive such an address without the extension.
    prepare(h, monitor);
    set_option(h, CURLOPT_CUSTOMREQUEST, "NOOP");
    monitor.out.curl_code = curl_easy_perform(h);
    if (monitor.out.curl_code == CURLE_OK && c->utf8 != utf8_support::yes) {
      monitor.out.unsupported = "the relay does not offer SMTPUTF8, which this address requires";
    }
    if (monitor.out.curl_code != CURLE_OK || !monitor.out.unsupported.empty()) {
      curl_easy_reset(h);
      release(std::move(c));
      return monitor.out;
    }
    monitor.out = {};
  }
  prepare(h, monitor);
  const auto from = "<" + settings_.envelope_sender() + ">";
  list to;
  append(to, "<" + *address + ">");
  const list head = headers_of(settings_, message, *address);
  std::unique_ptr<curl_mime, decltype(&curl_mime_free)> mime(curl_mime_init(h), curl_mime_free);
  if (!mime) throw std::bad_alloc();
  add_part(mime.get(), message.text, "text/plain; charset=utf-8");
  if (!message.html.empty()) add_part(mime.get(), message.html, "text/html; charset=utf-8");

  set_option(h, CURLOPT_MAIL_FROM, from.c_str());
  set_option(h, CURLOPT_MAIL_RCPT, to.get());
  set_option(h, CURLOPT_HTTPHEADER, head.get());
  set_option(h, CURLOPT_MIMEPOST, mime.get());
  monitor.out.curl_code = curl_easy_perform(h);
  curl_easy_reset(h);
  release(std::move(c));
  return monitor.out;
}

bool is_unreachable(const attempt& a) noexcept {
  return a.curl_code == CURLE_COULDNT_CONNECT || a.curl_code == CURLE_COULDNT_RESOLVE_HOST ||
         (a.curl_code == CURLE_OPERATION_TIMEDOUT && a.reply_code == 0 && a.at == phase::connect);
}

verdict classify_attempt(const attempt& a) noexcept {
  if (!a.unsupported.empty()) return verdict::refused;
  if (a.curl_code == CURLE_OK) return verdict::sent;
  if (is_unreachable(a)) return verdict::relay_error;
  switch (a.curl_code) {
    case CURLE_LOGIN_DENIED:
    case CURLE_USE_SSL_FAILED:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
      return verdict::relay_error;
    default:
      break;
  }
  if (a.reply_code < 500 || a.reply_code > 599) return verdict::retry;
  const auto reason = classify(a.reply);
  if (reason == refusal::later) return verdict::retry;
  // Rejected before RCPT: because of the relay, our host name or our sender address.
  if (a.at < phase::rcpt) return verdict::relay_error;
  return reason == refusal::recipient ? verdict::bounced : verdict::refused;
}

std::string describe(const attempt& a) {
  if (!a.unsupported.empty()) return a.unsupported;
  if (a.curl_code == CURLE_OK) return a.reply;
  std::string out = curl_easy_strerror(static_cast<CURLcode>(a.curl_code));
  if (!a.reply.empty() && a.reply_code >= 400) out += ": " + a.reply;
  return out;
}

}  // namespace mail
