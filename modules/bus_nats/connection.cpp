#include "connection.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace bus_nats {
namespace {

constexpr std::int64_t timeout_ms = 2000;
constexpr std::int64_t ping_ms = 2000;
constexpr auto ack_timeout = std::chrono::seconds(2);
constexpr std::size_t max_unacknowledged = 16384;
// A node that has missed more messages reads them from the database, which is faster than replaying them.
constexpr std::uint64_t max_replay = 20000;
// Allowance for the headers of a message, in addition to its bytes and id.
constexpr std::int64_t header_allowance = 64;
// Limits on messages that are queued in this process for on_message, which is fast.
constexpr int max_pending = 65536, max_pending_bytes = 64 * 1024 * 1024;

std::string error_text(const std::string& what, natsStatus st) {
  const std::string general = natsStatus_GetText(st);
  natsStatus last = NATS_OK;
  const char* detail = nats_GetLastError(&last);
  std::string_view more = last == st && detail != nullptr ? detail : "";
  // libnats prefixes the text with "(file:line): ".
  if (const auto end = more.find("): "); more.starts_with('(') && end != more.npos) more.remove_prefix(end + 3);
  return what + ": " + (more.empty() ? general : std::string(more));
}

// This callback may run after the connection was destroyed, so it does nothing: check() detects the failure itself.
// Without a callback, libnats writes to standard error.
void on_error(natsConnection*, natsSubscription*, natsStatus, void*) {}

struct stream_info {
  jsStreamInfo* p = nullptr;
  ~stream_info() { jsStreamInfo_Destroy(p); }
};

struct consumer_info {
  jsConsumerInfo* p = nullptr;
  ~consumer_info() { jsConsumerInfo_Destroy(p); }
};

}  // namespace

connection::connection(const settings& s, callbacks to) : settings_(s), to_(std::move(to)) {}

connection::~connection() {
  if (nc_ != nullptr) natsConnection_Close(nc_);
  natsSubscription_Destroy(consumer_);
  natsSubscription_Destroy(acks_);
  {
    std::unique_lock lock(callbacks_.mutex);
    callbacks_.none.wait(lock, [this] { return callbacks_.running == 0; });
  }
  jsCtx_Destroy(js_);
  natsConnection_Destroy(nc_);
  natsOptions_Destroy(options_);
}

std::string connection::set_options(const std::string& name) {
  std::vector<const char*> urls;
  for (const auto& url : settings_.urls) urls.push_back(url.c_str());
  const settings& s = settings_;
  natsStatus st = natsOptions_Create(&options_);
  const auto set = [&](natsStatus one) {
    if (st == NATS_OK) st = one;
  };
  set(natsOptions_SetServers(options_, urls.data(), static_cast<int>(urls.size())));
  set(natsOptions_SetName(options_, name.c_str()));
  set(natsOptions_SetTimeout(options_, timeout_ms));
  set(natsOptions_SetWriteDeadline(options_, timeout_ms));
  set(natsOptions_SetPingInterval(options_, ping_ms));
  set(natsOptions_SetMaxPingsOut(options_, 2));
  set(natsOptions_SetAllowReconnect(options_, false));
  set(natsOptions_SetSendAsap(options_, true));
  set(natsOptions_SetClosedCB(options_, on_closed, this));
  set(natsOptions_SetErrorHandler(options_, on_error, nullptr));
  if (!s.user.empty()) set(natsOptions_SetUserInfo(options_, s.user.c_str(), s.password.c_str()));
  if (!s.token.empty()) set(natsOptions_SetToken(options_, s.token.c_str()));
  if (!s.credentials_file.empty())
    set(natsOptions_SetUserCredentialsFromFiles(options_, s.credentials_file.c_str(), nullptr));
  if (s.secure()) set(natsOptions_SetSecure(options_, true));
  if (st == NATS_OK && !s.ca_file.empty()) set(natsOptions_LoadCATrustedCertificates(options_, s.ca_file.c_str()));
  if (st == NATS_OK && !s.cert_file.empty())
    set(natsOptions_LoadCertificatesChain(options_, s.cert_file.c_str(), s.key_file.c_str()));
  return st == NATS_OK ? std::string() : error_text("the options are refused", st);
}

std::string connection::open(const std::string& name, const stream_position& from, bool& messages_lost) {
  if (auto no = set_options(name); !no.empty()) return no;
  natsStatus st = natsConnection_Connect(&nc_, options_);
  if (st != NATS_OK) return error_text("no server answers", st);
  callbacks_.add();  // on_closed is called exactly once
  jsOptions jo;
  jsOptions_Init(&jo);
  jo.Wait = timeout_ms;
  st = natsConnection_JetStream(&js_, nc_, &jo);
  if (st != NATS_OK) return error_text("no JetStream", st);

  stream_position now;
  std::uint64_t first = 0;
  if (auto no = ensure_stream(now, first); !no.empty()) return no;
  created_ = now.created;
  const bool known = from.created == now.created && from.received <= now.received;
  const bool can_resume = known && from.received + 1 >= first && now.received - from.received <= max_replay;
  messages_lost = from.created != 0 && !can_resume;
  received_.store(can_resume ? from.received : now.received);

  natsInbox* inbox = nullptr;
  st = natsInbox_Create(&inbox);
  if (st != NATS_OK) return error_text("no inbox", st);
  ack_inbox_ = inbox;
  natsInbox_Destroy(inbox);
  st = natsConnection_Subscribe(&acks_, nc_, (ack_inbox_ + ".*").c_str(), on_ack, this);
  if (st == NATS_OK) st = await_completion_of(acks_);
  if (st != NATS_OK) return error_text("acknowledgements are refused", st);

  jsSubOptions so;
  jsSubOptions_Init(&so);
  so.Stream = settings_.stream.c_str();
  // Does not use an ordered consumer of libnats: when its messages stop, libnats creates a new one on its own thread,
  // which crashed a process under load (3.4.1, natsThread_Detach of a null handle). This class does the same work:
  // on_message detects gaps in the stream's sequence numbers, check() detects silence, and a new connection continues
  // where this one ended.
  so.ManualAck = true;
  so.Config.AckPolicy = js_AckNone;
  so.Config.MaxDeliver = 1;
  so.Config.FlowControl = true;
  so.Config.InactiveThreshold = 10'000'000'000;
  so.Config.Replicas = 1;
  so.Config.DeliverPolicy = js_DeliverByStartSequence;
  so.Config.OptStartSeq = received_.load() + 1;
  so.Config.Heartbeat = 1'000'000'000;
  so.Config.MemoryStorage = true;
  jsErrCode code = static_cast<jsErrCode>(0);
  st = js_Subscribe(&consumer_, js_, (settings_.subject + ".>").c_str(), on_message, this, nullptr, &so, &code);
  if (st == NATS_OK) st = await_completion_of(consumer_);
  if (st == NATS_OK) st = natsSubscription_SetPendingLimits(consumer_, max_pending, max_pending_bytes);
  if (st != NATS_OK) return error_text("no consumer", st);
  return {};
}

// Makes the destructor wait until the subscription's last callback has returned.
natsStatus connection::await_completion_of(natsSubscription* sub) {
  callbacks_.add();
  const natsStatus st = natsSubscription_SetOnCompleteCB(sub, on_complete, this);
  if (st != NATS_OK) callbacks_.remove();
  return st;
}

std::string connection::ensure_stream(stream_position& now, std::uint64_t& first) {
  const std::string subject = settings_.subject + ".>";
  stream_info info;
  jsErrCode code = static_cast<jsErrCode>(0);
  natsStatus st = js_GetStreamInfo(&info.p, js_, settings_.stream.c_str(), nullptr, &code);
  if (st != NATS_OK && code == JSStreamNotFoundErr) {
    const char* subjects[] = {subject.c_str()};
    jsStreamConfig c;
    jsStreamConfig_Init(&c);
    c.Name = settings_.stream.c_str();
    c.Description = "Live topics of Runyard; the database has a copy of everything";
    c.Subjects = subjects;
    c.SubjectsLen = 1;
    c.Retention = js_LimitsPolicy;
    c.Discard = js_DiscardOld;
    c.Storage = settings_.in_memory ? js_MemoryStorage : js_FileStorage;
    c.Replicas = settings_.replicas;
    c.MaxAge = settings_.keep_seconds * 1'000'000'000;
    c.MaxBytes = settings_.keep_bytes;
    c.Duplicates = std::min<std::int64_t>(settings_.keep_seconds, 120) * 1'000'000'000;
    st = js_AddStream(&info.p, js_, &c, nullptr, &code);
    // Another node created the stream first.
    if (st != NATS_OK && code == JSStreamNameExistErr)
      st = js_GetStreamInfo(&info.p, js_, settings_.stream.c_str(), nullptr, &code);
  }
  if (st == NATS_NO_RESPONDERS) return "the servers have no JetStream, or not for this user";
  if (st != NATS_OK) return error_text("the stream " + settings_.stream, st);
  const jsStreamConfig& c = *info.p->Config;
  if (c.SubjectsLen != 1 || subject != c.Subjects[0])
    return "the stream " + settings_.stream + " is not for " + subject +
           ": change bus_nats.stream and bus_nats.subject together";
  now = {info.p->Created, info.p->State.LastSeq};
  first = info.p->State.FirstSeq;
  return {};
}

std::string connection::server() const {
  char url[256] = "";
  if (natsConnection_GetConnectedUrl(nc_, url, sizeof url) != NATS_OK) return "a server";
  return url;
}

stream_position connection::at() const {
  return {created_, received_.load()};
}

bool connection::send(const outgoing_message& what, const std::string& subject, const std::string& id,
                      std::string_view data) {
  // Servers may accept less than the usual megabyte, and they disconnect a client that sends more.
  if (static_cast<std::int64_t>(data.size() + id.size()) + header_allowance > natsConnection_GetMaxPayload(nc_))
    return false;
  std::string reply;
  if (what.bytes.empty()) {
    std::lock_guard lock(mutex_);
    if (unacknowledged_.size() >= max_unacknowledged) return false;
    unacknowledged_.emplace(next_ack_, sent{what, std::chrono::steady_clock::now()});
    reply = ack_inbox_ + "." + std::to_string(next_ack_++);
  }
  natsMsg* msg = nullptr;
  natsStatus st = natsMsg_Create(&msg, subject.c_str(), reply.empty() ? nullptr : reply.c_str(), data.data(),
                                 static_cast<int>(data.size()));
  if (st == NATS_OK && !id.empty()) st = natsMsgHeader_Set(msg, "Nats-Msg-Id", id.c_str());
  if (st == NATS_OK) st = natsConnection_PublishMsg(nc_, msg);
  natsMsg_Destroy(msg);
  if (st != NATS_OK) fail(error_text("a message could not be sent", st));
  return st == NATS_OK;
}

std::string connection::check() {
  {
    std::lock_guard lock(mutex_);
    if (!failure_.empty()) return failure_;
    if (!unacknowledged_.empty() && std::chrono::steady_clock::now() - unacknowledged_.begin()->second.at > ack_timeout)
      return "the servers acknowledge nothing";
  }
  stream_info info;
  jsErrCode code = static_cast<jsErrCode>(0);
  const natsStatus st = js_GetStreamInfo(&info.p, js_, settings_.stream.c_str(), nullptr, &code);
  if (st != NATS_OK) return error_text("the stream " + settings_.stream, st);
  if (info.p->Created != created_) return "the stream was recreated";
  const std::uint64_t received = received_.load();
  // If messages arrive, the consumer exists. Query it only otherwise: for the query, nats-server 2.9 iterates over all
  // subjects, and it delivers no messages meanwhile.
  if (received == received_at_last_check_) {
    consumer_info consumer;
    if (const natsStatus consumer_status = natsSubscription_GetConsumerInfo(&consumer.p, consumer_, nullptr, &code);
        consumer_status != NATS_OK)
      return error_text("this node's consumer", consumer_status);
  }
  if (last_missing_ != 0 && received < last_missing_ && received == received_at_last_check_)
    return "the consumer delivers no messages although the stream has some";
  last_missing_ = info.p->State.LastSeq > received ? info.p->State.LastSeq : 0;
  received_at_last_check_ = received;
  return {};
}

bool connection::has_failed() const {
  std::lock_guard lock(mutex_);
  return !failure_.empty();
}

std::vector<outgoing_message> connection::unacknowledged() {
  std::lock_guard lock(mutex_);
  std::vector<outgoing_message> out;
  for (auto& [n, s] : unacknowledged_) out.push_back(std::move(s.what));
  unacknowledged_.clear();
  return out;
}

void connection::fail(const std::string& reason) {
  {
    std::lock_guard lock(mutex_);
    if (failure_.empty()) failure_ = reason;
  }
  to_.broken();
}

// ---- on threads of libnats -----------------------------------------------------------------------

void connection::on_message(natsConnection*, natsSubscription*, natsMsg* msg, void* self) {
  auto& c = *static_cast<connection*>(self);
  const callback_guard here(c.callbacks_);
  jsMsgMetaData* meta = nullptr;
  // A message that was sent directly to the consumer's inbox has no sequence number in the stream.
  if (natsMsg_GetMetaData(&meta, msg) != NATS_OK) {
    natsMsg_Destroy(msg);
    return;
  }
  const std::uint64_t sequence = meta->Sequence.Stream;
  jsMsgMetaData_Destroy(meta);
  const std::uint64_t before = c.received_.load();
  if (sequence > before) {
    if (sequence != before + 1) c.to_.missed();
    c.received_.store(sequence);
    const char* data = natsMsg_GetData(msg);
    const int length = natsMsg_GetDataLength(msg);
    c.to_.message(natsMsg_GetSubject(msg),
                  {data == nullptr ? "" : data, length < 0 ? 0 : static_cast<std::size_t>(length)});
  }
  natsMsg_Destroy(msg);
}

void connection::on_ack(natsConnection*, natsSubscription*, natsMsg* msg, void* self) {
  auto& c = *static_cast<connection*>(self);
  const callback_guard here(c.callbacks_);
  const char* subject = natsMsg_GetSubject(msg);
  const std::uint64_t n = std::strtoull(subject + std::min(std::strlen(subject), c.ack_inbox_.size() + 1), nullptr, 10);
  const int length = natsMsg_GetDataLength(msg);
  const std::string_view answer(length > 0 ? natsMsg_GetData(msg) : "",
                                length > 0 ? static_cast<std::size_t>(length) : 0);
  // "No responders" means that no stream stores the subject.
  const bool refused = natsMsg_IsNoResponders(msg) || answer.find("\"error\"") != answer.npos;
  if (refused) {
    c.fail("the stream refuses messages");
  } else {
    std::lock_guard lock(c.mutex_);
    c.unacknowledged_.erase(n);
  }
  natsMsg_Destroy(msg);
}

void connection::on_complete(void* self) {
  static_cast<connection*>(self)->callbacks_.remove();
}

void connection::on_closed(natsConnection*, void* self) {
  auto& c = *static_cast<connection*>(self);
  c.fail("the connection was closed");
  c.callbacks_.remove();
}

void connection::callback_counter::add() {
  std::lock_guard lock(mutex);
  ++running;
}

void connection::callback_counter::remove() {
  std::lock_guard lock(mutex);
  --running;
  none.notify_all();
}

}  // namespace bus_nats
