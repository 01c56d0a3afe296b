#include "stream_route.hpp"

#include "text.hpp"

namespace runs {
namespace {

constexpr std::uint64_t ping_ms = 10'000;
constexpr std::uint64_t poll_ms = 1'000;
constexpr std::uint64_t retry_ms = 100;
constexpr std::uint64_t token_ms = 10 * 60 * 1000;

// Waits for a hint, at most `ms`.
ry::task<void> wait_for(const ry::context& ctx, ry::signal& hint, std::uint64_t ms) {
  ry::cancel_source timer(co_await ry::this_cancel());
  const auto ring = [](const ry::context& c, ry::signal& s, std::uint64_t after) -> ry::task<void> {
    ry::result<void> slept = co_await c.sleep(after);
    if (slept) s.set();
  };
  const auto listen = [](ry::signal& s, ry::cancel_source done) -> ry::task<void> {
    (void)co_await s.wait();
    done.cancel();
  };
  std::vector<ry::task<void>> both;
  both.push_back(ry::with_cancel(timer.token(), ring(ctx, hint, ms)));
  both.push_back(listen(hint, timer));
  (void)co_await ry::when_all(std::move(both));
}

}  // namespace

std::uint64_t resume_point(const ry::request& request) {
  std::string text(request.header("Last-Event-ID"));
  for (const char* name : {"last_event_id", "last_id"})
    if (text.empty()) text = request.query(name).value_or("");
  text = trim(text);
  if (text.empty()) return 1;
  const auto last = parse_int(text);
  if (!last || *last < 0) throw refusal(400, "Last-Event-ID must be a number");
  return static_cast<std::uint64_t>(*last) + 1;
}

ry::task<void> stream_route::serve(ry::request request) {
  const std::string id = uuid_param(request.param("id"));
  const ry::uuid uuid = *ry::uuid::parse(id);
  std::uint64_t next = resume_point(request);
  const caller who = co_await caller_of(parts_, request);
  std::shared_ptr<live_run> live = parts_.live.find(uuid);
  if (live) {
    if (!(live->who.account == who.uuid)) throw refusal(404, "Run not found");
  } else {
    ry::result<std::optional<run_head>> head = co_await parts_.repo.head(id);
    if (!head.value() || (*head)->account_id != who.id) throw refusal(404, "Run not found");
    if ((*head)->status != "running" && next > (*head)->last_seq) {
      request.respond(ry::response::empty(204));
      co_return;
    }
  }
  ry::stream to = request.open_stream(200, {{"Content-Type", "text/event-stream"},
                                            {"Cache-Control", "no-cache, no-transform"},
                                            {"X-Accel-Buffering", "no"}});
  to.keepalive(ping_ms, ping_event);

  // Shared with the subscription: its last call may come while this chain is elsewhere already.
  std::shared_ptr<ry::signal> hint;
  ry::subscription topic;
  for (;;) {
    step_result at = step_result::again;
    if (live) {
      co_await parts_.ctx.switch_to(live->exec);
      at = co_await from_feed(to, next, live);
    } else {
      bool caught_up = false;
      at = co_await from_log(to, next, id, caught_up);
      if (at == step_result::again && caught_up) {
        // The hints come on this executor, which stays the same while there is no live run.
        if (!topic) {
          ry_exec* exec = co_await ry::this_exec();
          hint = std::make_shared<ry::signal>();
          topic = parts_.ctx.events().live_subscribe(topic_of(uuid), exec,
                                                     [hint](const ry::live_message&) { hint->set(); });
        }
        co_await wait_for(parts_.ctx, *hint, poll_ms);
      }
    }
    if (at == step_result::over) break;
    if (to.cancel().cancelled()) {
      if (to.cancel().why() == RY_WHY_SHUTDOWN) to.write(draining_event);
      break;
    }
    live = parts_.live.find(uuid);
    if (live) topic.reset();
  }
  to.close();
}

ry::task<stream_route::step_result> stream_route::from_feed(ry::stream& to, std::uint64_t& next,
                                                            std::shared_ptr<live_run> run) {
  const std::string id = run->who.run.to_string();
  while (!to.cancel().cancelled()) {
    reader r(to, next);
    struct attached {
      live_run& run;
      reader& r;
      ~attached() { run.detach(r); }
    } here{*run, r};
    run->attach(r);
    if (r.at == reader::state::attached) (void)co_await r.woken.wait();
    next = r.next;
    switch (r.at) {
      case reader::state::finished:
      case reader::state::gone: co_return step_result::over;
      case reader::state::attached: co_return step_result::again;  // called off
      case reader::state::behind: break;
    }
    bool caught_up = false;
    if (co_await from_log(to, next, id, caught_up) == step_result::over) co_return step_result::over;
    if (run->ended()) co_return step_result::again;
    if (caught_up) (void)co_await parts_.ctx.sleep(retry_ms);  // the log could not be read
  }
  co_return step_result::again;
}

ry::task<stream_route::step_result> stream_route::from_log(ry::stream& to, std::uint64_t& next,
                                                           const std::string& run, bool& caught_up) {
  ry::result<log_page> page = co_await parts_.repo.log(run, next);
  if (!page) {
    if (page.status() == RY_CANCELLED) co_return step_result::again;
    parts_.ctx.complain("the event log could not be read", page.error());
    caught_up = true;
    co_return step_result::again;
  }
  if (page->last == 0) {
    // Nothing there: the run may have ended and been pruned, or its end may have been read already.
    ry::result<std::optional<run_head>> head = co_await parts_.repo.head(run);
    if (head && *head && (*head)->status != "running") {
      if (next <= (*head)->last_seq) {
        std::string gap;
        event_text(gap, (*head)->last_seq, "gap")
            .integer("from", static_cast<std::int64_t>(next))
            .integer("to", static_cast<std::int64_t>((*head)->last_seq));
        to.write(gap);
      }
      co_return step_result::over;
    }
    if (head && !*head) co_return step_result::over;
    caught_up = true;
    co_return step_result::again;
  }
  std::string out;
  if (page->first > next) {
    event_text(out, page->first - 1, "gap")
        .integer("from", static_cast<std::int64_t>(next))
        .integer("to", static_cast<std::int64_t>(page->first - 1));
  }
  out += page->wire;
  std::string_view tail = page->wire;
  // The last event alone: payloads hold no line breaks, so "\n\nid: " begins an event.
  const std::size_t begin = tail.rfind("\n\nid: ");
  tail.remove_prefix(begin == std::string_view::npos ? 0 : begin + 2);
  const event_view end = next_event(tail);
  const ry_status st = to.write(out);
  next = page->last + 1;
  if (is_terminal(end.payload) || st != RY_OK) co_return step_result::over;
  ry::result<void> ready = co_await to.ready();
  if (!ready) co_return step_result::over;
  co_return step_result::again;
}

ry::task<ry::response> stream_route::token(ry::request request) {
  const std::string id = uuid_param(request.param("id"));
  const caller who = co_await caller_of(parts_, request);
  const std::shared_ptr<live_run> live = parts_.live.find(*ry::uuid::parse(id));
  bool mine = live && live->who.account == who.uuid;
  if (!live) {
    ry::result<std::optional<run_head>> head = co_await parts_.repo.head(id);
    mine = head.value().has_value() && (*head)->account_id == who.id;
  }
  if (!mine) throw refusal(404, "Run not found");
  ry::result<std::string> token = parts_.ctx.auth().mint_query_token(
      *request.principal(), "/agent-run/" + id + "/stream", token_ms);
  co_return ry::response::json(
      200, "{\"token\":" + json_string(token.value()) + ",\"expires_in\":" + std::to_string(token_ms / 1000) + "}");
}

}  // namespace runs
