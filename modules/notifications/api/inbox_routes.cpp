#include "api/inbox_routes.hpp"

#include <ry/cpp/input.hpp>

#include <boost/algorithm/string/case_conv.hpp>
#include <charconv>
#include <locale>

#include "api/request_bodies.hpp"
#include "api/routes.hpp"

namespace notifications {

namespace {

constexpr std::uint64_t ping_ms = 10'000;
constexpr std::string_view ping = "data: {\"type\": \"ping\"}\n\n";
// Wake-ups may be lost, so the stream also checks at this interval.
constexpr std::uint64_t poll_ms = 30'000;
// Browsers reconnect with the same URL, and the stream of an inbox never ends.
constexpr std::uint64_t token_ms = 24 * 3600 * 1000;
constexpr std::int64_t batch_size = 100;

std::string count_json(std::int64_t unread) {
  return "\"unread_count\": " + std::to_string(unread);
}

// The number in the header Last-Event-ID or the parameter last_event_id; nullopt if there is none.
std::optional<std::int64_t> last_event_id(const ry::request& r) {
  const char* name = "Last-Event-ID";
  std::string text(r.header(name));
  if (text.empty()) {
    name = "last_event_id";
    text = r.query(name).value_or("");
  }
  if (text.empty()) return std::nullopt;
  std::int64_t out = 0;
  const auto [end, bad] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (bad != std::errc() || end != text.data() + text.size() || out < 0) {
    throw ry::bad_request("notifications.last_event_id", std::string(name) + " must be the number of an event");
  }
  return out;
}

// Wakes a stream after a wake-up message, or periodically.
struct stream_waker {
  ry::signal signal;
};

ry::task<void> wake_periodically(const ry::context& ctx, std::shared_ptr<stream_waker> waker) {
  for (;;) {
    const auto slept = co_await ctx.sleep(poll_ms);
    if (!slept) co_return;
    waker->signal.set();
  }
}

}  // namespace

void inbox_routes::add_to(ry::registrar& reg) {
  for (const std::string prefix : {"/notifications", "/api/notifications"}) {
    const auto at = prefix + "/inbox";
    reg.route("GET", at, 0, this, &inbox_routes::list);
    reg.route("GET", at + "/unread-count", 0, this, &inbox_routes::unread_count);
    reg.route("POST", at + "/read-all", 0, this, &inbox_routes::read_all);
    reg.route("POST", at + "/{id}/read", 0, this, &inbox_routes::read);
    reg.route("GET", at + "/stream", RY_ROUTE_QUERY_TOKEN | RY_ROUTE_LONG, this, &inbox_routes::stream);
    const auto path = at + "/stream";
    reg.route("POST", at + "/stream-token", 0,
              [this, path](ry::request r) { return stream_token(std::move(r), path); });
  }
}

ry::task<ry::response> inbox_routes::list(ry::request r) {
  require_enabled(context_);
  const auto limit = limit_of(r);
  const auto unread = boost::algorithm::to_lower_copy(r.query("unread").value_or("false"), std::locale::classic());
  if (unread != "true" && unread != "false") throw invalid("unread", "must be true or false");
  const auto account = co_await context_.caller(r);
  const auto list = "notifications:inbox:" + unread + account.to_string();
  const auto before = ry::query_number_cursor(r, list);
  const auto rows = co_await context_.repo.inbox(account, unread == "true", before, limit);
  const auto head = co_await context_.repo.inbox_head(account);
  auto doc = ry::page_json("notifications", list, rows);
  doc.pop_back();
  co_return ry::response::json(doc + "," + count_json(head.unread) + "}");
}

ry::task<ry::response> inbox_routes::unread_count(ry::request r) {
  require_enabled(context_);
  const auto account = co_await context_.caller(r);
  const auto head = co_await context_.repo.inbox_head(account);
  co_return ry::response::json("{\"success\":true," + count_json(head.unread) + "}");
}

ry::task<ry::response> inbox_routes::mark_as_read(ry::uuid account, std::optional<ry::uuid> id) const {
  const auto mark = co_await context_.repo.mark_read(account, id);
  if (!mark) throw ry::not_found("notifications.not_found", "Notification not found");
  if (mark->marked > 0) context_.inbox_changed(account, mark->version);
  co_return ry::response::json("{\"success\":true,\"marked\":" + std::to_string(mark->marked) + "," +
                               count_json(mark->unread) + "}");
}

ry::task<ry::response> inbox_routes::read(ry::request r) {
  require_enabled(context_);
  const auto id = ry::require_uuid(r.param("id"));
  const auto account = co_await context_.caller(r);
  co_return co_await mark_as_read(account, id);
}

ry::task<ry::response> inbox_routes::read_all(ry::request r) {
  require_enabled(context_);
  const auto account = co_await context_.caller(r);
  co_return co_await mark_as_read(account, std::nullopt);
}

ry::task<ry::response> inbox_routes::stream_token(ry::request r, std::string path) {
  require_enabled(context_);
  co_await context_.caller(r);
  auto token = context_.ctx.auth().mint_query_token(*r.principal(), path, token_ms);
  co_return ry::response::json("{\"token\":" + ry::json_string(token.value()) +
                               ",\"expires_in\":" + std::to_string(token_ms / 1000) + "}");
}

ry::task<void> inbox_routes::stream(ry::request r) {
  require_enabled(context_);
  const auto from = last_event_id(r);
  const auto account = co_await context_.caller(r);
  const auto head = co_await context_.repo.inbox_head(account);
  // Without a number, the stream starts with the next entry.
  std::int64_t seq = from ? std::min(*from, head.last) : head.last;
  std::int64_t version = -1;
  auto* const exec = co_await ry::this_exec();
  auto wake = std::make_shared<stream_waker>();
  const auto topic = context_.ctx.events().live_subscribe(inbox_topic(account), exec,
                                                          [wake](const ry::live_message&) { wake->signal.set(); });
  ry::sse out = r.open_sse();
  out.raw().keepalive(ping_ms, ping);
  ry::cancel_source periodic(out.cancel());
  if (!context_.ctx.spawn(wake_periodically(context_.ctx, wake), exec, periodic.token())) co_return;
  bool connected = true;
  while (connected) {
    connected = co_await catch_up(out, account, seq, version);
    if (connected) {
      const auto woken = co_await wake->signal.wait();
      connected = static_cast<bool>(woken);
    }
  }
  periodic.cancel();
  out.close();
}

ry::task<bool> inbox_routes::catch_up(ry::sse& out, ry::uuid account, std::int64_t& seq, std::int64_t& version) const {
  for (;;) {
    const auto head = co_await context_.repo.inbox_head(account);
    if (head.version == version) co_return true;
    if (head.last <= seq) {
      version = head.version;
      const auto sent = out.send("{\"type\": \"unread_count\", " + count_json(head.unread) + "}");
      co_return sent == RY_OK;
    }
    const auto rows = co_await context_.repo.inbox_after(account, seq, batch_size);
    for (const auto& row : rows) {
      seq = row.seq;
      const auto sent =
          out.send("{\"type\": \"notification\", \"notification\": " + row.json + ", " + count_json(head.unread) + "}",
                   std::to_string(row.seq));
      if (sent != RY_OK) co_return false;
    }
    if (rows.empty()) seq = head.last;  // the entries were removed
    const auto ready = co_await out.ready();
    if (!ready) co_return false;
    if (seq >= head.last) {
      version = head.version;
      co_return true;
    }
  }
}

}  // namespace notifications
