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

void must(CURLcode code, const char* what) {
  if (code != CURLE_OK) {
    throw ry::internal("mail.curl", std::string(what) + ": " + curl_easy_strerror(code));
  }
}

std::size_t discard(char*, std::size_t size, std::size_t n, void*) noexcept {
  return size * n;
}

template <class Value>
void set_option(CURL* h, CURLoption o, Value value) {
  must(curl_easy_setopt(h, o, value), "option");
}

void add_part(curl_mime* to, const std::string& body, const char* type) {
  curl_mimepart* part = curl_mime_addpart(to);
  if (part == nullptr) throw std::bad_alloc();
  must(curl_mime_data(part, body.data(), body.size()), "mime data");
  must(curl_mime_type(part, type), "mime type");
  must(curl_mime_encoder(part, "quoted-printable"), "mime encoder");
}

}  // namespace

// Follows the dialogue: the last command, the relay's replies, and whether the body was sent.
struct smtp::watcher {
  attempt out;
  std::string tail;  // of the body
  bool ended = false;  // libcurl is quitting; replies no longer matter
  bool continues = false;  // the reply has more lines
  const std::atomic<bool>* stopping = nullptr;
  utf8_support* utf8 = nullptr;  // of the connection

  void said(std::string_view line) {
    if (ended || line.size() < 3 ||
        !std::all_of(line.begin(), line.begin() + 3, [](char c) { return c >= '0' && c <= '9'; })) {
      return;
    }
    while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.remove_suffix(1);
    out.reply_code = std::stoi(std::string(line.substr(0, 3)));
    if (continues && out.reply.size() < max_reply) {
      out.reply += ' ';
      out.reply += line.substr(std::min<std::size_t>(4, line.size()), max_reply - out.reply.size());
    } else if (!continues) {
      out.reply.assign(line.substr(0, max_reply));
    }
    continues = line.size() > 3 && line[3] == '-';
    if (out.at == phase::hello && line.size() >= 12 && ry::iequals(line.substr(4, 8), "SMTPUTF8"))
      *utf8 = utf8_support::yes;
  }
  void sent(std::string_view line) {
    const auto verb = line.substr(0, line.find_first_of(" \r\n"));
    if (verb == "QUIT") ended = true;
    continues = false;
    if (verb == "EHLO" || verb == "HELO") {
      // The last greeting: a relay may offer more after STARTTLS.
      if (out.at <= phase::starttls) out.at = phase::hello;
      *utf8 = utf8_support::no;
    }
    if (verb == "STARTTLS") out.at = phase::starttls;
    if (verb == "AUTH") out.at = phase::auth;
    if (verb == "MAIL") out.at = phase::mail;
    if (verb == "RCPT") out.at = phase::rcpt;
    if (verb == "DATA") out.at = phase::data;
  }
  void body(std::string_view bytes) {
    out.at = phase::body;
    // The end of the last part. libcurl before 8.10 does not show the lone dot that follows; later versions do.
    constexpr std::string_view end = "--\r\n", dot = ".\r\n";
    constexpr std::size_t most = end.size() + dot.size();
    tail.append(bytes.substr(bytes.size() - std::min(bytes.size(), most)));
    if (tail.size() > most) tail.erase(0, tail.size() - most);
    std::string_view last = tail;
    if (last.ends_with("\n.\r\n")) last.remove_suffix(dot.size());
    out.all_sent = last.ends_with(end);
  }
  static int on_debug(CURL*, curl_infotype kind, char* data, std::size_t n, void* p) noexcept {
    auto* w = static_cast<watcher*>(p);
    const std::string_view bytes(data, n);
    (void)ry::guard([&] {
      if (kind == CURLINFO_HEADER_IN) w->said(bytes);
      if (kind == CURLINFO_HEADER_OUT) w->sent(bytes);
      if (kind == CURLINFO_DATA_OUT) w->body(bytes);
    });
    return 0;
  }
  static std::size_t on_write(char*, std::size_t size, std::size_t n, void*) noexcept { return size * n; }
  static int on_progress(void* p, curl_off_t, curl_off_t, curl_off_t, curl_off_t) noexcept {
    const auto* w = static_cast<watcher*>(p);
    return w->stopping->load(std::memory_order_relaxed) && w->out.at < phase::data ? 1 : 0;
  }
};

namespace {

list headers_of(const settings& s, const email& l, const std::string& address) {
  list out;
  append(out, "Date: " + header_date(l.date_unix_s));
  append(out, "From: " + mailbox(s.from_name.empty() ? l.brand_name : s.from_name, s.from));
  if (!s.reply_to.empty()) append(out, "Reply-To: " + s.reply_to);
  append(out, "To: " + address);
  append(out, "Subject: " + header_text(l.subject));
  append(out, "Message-ID: <" + l.id + "@" + s.from.substr(s.from.find('@') + 1) + ">");
  append(out, "Auto-Submitted: auto-generated");
  append(out, "X-Auto-Response-Suppress: All");
  if (!l.unsubscribe_url.empty()) {
    std::string ways = "<" + l.unsubscribe_url + ">";
    if (!s.unsubscribe_mailto.empty()) ways += ", <mailto:" + s.unsubscribe_mailto + ">";
    append(out, "List-Unsubscribe: " + ways);
    append(out, "List-Unsubscribe-Post: List-Unsubscribe=One-Click");
  }
  // Without this, libcurl wraps the alternatives in multipart/mixed.
  append(out, "Content-Type: multipart/alternative");
  return out;
}

}  // namespace

struct smtp::connection {
  CURL* curl = curl_easy_init();
  utf8_support utf8 = utf8_support::unknown;  // extensions in the relay's last greeting
  connection() {
    if (curl == nullptr) throw std::bad_alloc();
  }
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;
  ~connection() { curl_easy_cleanup(curl); }
};

smtp::smtp(const settings& s) : settings_(s) {
  must(curl_global_init(CURL_GLOBAL_DEFAULT), "curl_global_init");
}

smtp::~smtp() {
  idle_.clear();
  curl_global_cleanup();
}

std::unique_ptr<smtp::connection> smtp::take() {
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

void smtp::give_back(std::unique_ptr<connection> c) {
  std::lock_guard lock(mutex_);
  if (idle_.size() < settings_.connections) idle_.push_back(std::move(c));
}

// Everything except the message. libcurl copies texts.
void smtp::prepare(void* curl, watcher& w) const {
  CURL* h = curl;
  // Resets options, keeps connections.
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
  set(CURLOPT_DEBUGFUNCTION, &watcher::on_debug);
  set(CURLOPT_DEBUGDATA, &w);
  // libcurl writes replies to NOOP to stdout otherwise, into the report of `check --mail --json`.
  set(CURLOPT_WRITEFUNCTION, &watcher::on_write);
  set(CURLOPT_NOPROGRESS, 0L);
  set(CURLOPT_XFERINFOFUNCTION, &watcher::on_progress);
  set(CURLOPT_XFERINFODATA, &w);
  // By default libcurl writes replies, such as the one to NOOP, to standard output.
  set(CURLOPT_WRITEFUNCTION, &discard);
}

attempt smtp::probe() {
  auto c = take();
  watcher w;
  w.stopping = &stopping_;
  w.utf8 = &c->utf8;
  prepare(c->curl, w);
  set_option(c->curl, CURLOPT_CUSTOMREQUEST, "NOOP");
  w.out.curl_code = curl_easy_perform(c->curl);
  curl_easy_reset(c->curl);
  give_back(std::move(c));
  return w.out;
}

attempt smtp::send(const email& l) {
  // The outbox contains only valid addresses; an invalid one could inject commands.
  const auto address = on_the_wire(l.address);
  if (!address) {
    attempt invalid;
    invalid.unsupported = "the address is not valid";
    return invalid;
  }
  auto c = take();
  CURL* h = c->curl;
  watcher w;
  w.stopping = &stopping_;
  w.utf8 = &c->utf8;
  if (needs_smtputf8(*address)) {
    // Ask the relay first: it must not get such an address without the extension.
    prepare(h, w);
    set_option(h, CURLOPT_CUSTOMREQUEST, "NOOP");
    w.out.curl_code = curl_easy_perform(h);
    if (w.out.curl_code == CURLE_OK && c->utf8 != utf8_support::yes) {
      w.out.unsupported = "the relay does not offer SMTPUTF8, which this address needs";
    }
    if (w.out.curl_code != CURLE_OK || !w.out.unsupported.empty()) {
      curl_easy_reset(h);
      give_back(std::move(c));
      return w.out;
    }
    w.out = {};
  }
  prepare(h, w);
  const auto from = "<" + settings_.envelope_sender() + ">";
  list to;
  append(to, "<" + *address + ">");
  const list head = headers_of(settings_, l, *address);
  std::unique_ptr<curl_mime, decltype(&curl_mime_free)> mime(curl_mime_init(h), curl_mime_free);
  if (!mime) throw std::bad_alloc();
  add_part(mime.get(), l.text, "text/plain; charset=utf-8");
  if (!l.html.empty()) add_part(mime.get(), l.html, "text/html; charset=utf-8");

  set_option(h, CURLOPT_MAIL_FROM, from.c_str());
  set_option(h, CURLOPT_MAIL_RCPT, to.get());
  set_option(h, CURLOPT_HTTPHEADER, head.get());
  set_option(h, CURLOPT_MIMEPOST, mime.get());
  w.out.curl_code = curl_easy_perform(h);
  curl_easy_reset(h);
  give_back(std::move(c));
  return w.out;
}

bool is_unreachable(const attempt& a) noexcept {
  return a.curl_code == CURLE_COULDNT_CONNECT || a.curl_code == CURLE_COULDNT_RESOLVE_HOST ||
         (a.curl_code == CURLE_OPERATION_TIMEDOUT && a.reply_code == 0 && a.at == phase::connect);
}

verdict judge(const attempt& a) noexcept {
  if (!a.unsupported.empty()) return verdict::refused;
  if (a.curl_code == CURLE_OK) return verdict::sent;
  if (is_unreachable(a)) return verdict::relay_trouble;
  switch (a.curl_code) {
    case CURLE_LOGIN_DENIED:
    case CURLE_USE_SSL_FAILED:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
      return verdict::relay_trouble;
    default:
      break;
  }
  if (a.reply_code < 500 || a.reply_code > 599) return verdict::retry;
  const auto why = classify(a.reply);
  if (why == refusal::later) return verdict::retry;
  // Refused before the recipient was named: because of the relay, our host name or our sender address.
  if (a.at < phase::rcpt) return verdict::relay_trouble;
  return why == refusal::recipient ? verdict::bounced : verdict::refused;
}

std::string describe(const attempt& a) {
  if (!a.unsupported.empty()) return a.unsupported;
  if (a.curl_code == CURLE_OK) return a.reply;
  std::string out = curl_easy_strerror(static_cast<CURLcode>(a.curl_code));
  if (!a.reply.empty() && a.reply_code >= 400) out += ": " + a.reply;
  return out;
}

}  // namespace mail
