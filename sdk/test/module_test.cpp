// A typical module, run in the fake host.
#include <ry/cpp/page.hpp>
#include <ry/testing.hpp>

#include <gtest/gtest.h>

#include <thread>

namespace {

struct probe {
  int destroyed = 0;
  int stopped = 0;
  int background_ended = 0;
};
probe* g_probe = nullptr;

class sample {
 public:
  sample(ry::context& ctx, ry::registrar& reg) : ctx_(ctx) {
    if (ctx.settings().find("refuse") != std::string_view::npos) {
      throw ry::precondition("sample.settings", "settings.refuse was set");
    }
    reg.route("GET", "/items/{id}", 0, this, &sample::get);
    reg.route("GET", "/sync", RY_ROUTE_PUBLIC, [](const ry::request& r) {
      return ry::response::json(200, "{\"q\":" + ry::json_string(r.query("q").value_or("")) + "}");
    });
    reg.route("GET", "/list", RY_ROUTE_PUBLIC, [](const ry::request& r) {
      const auto limit = ry::query_integer(r, "limit", 1, 20).value_or(5);
      const auto after = ry::query_number_cursor(r, "numbers").value_or(0);
      return ry::response::json(std::to_string(limit) + ":" + std::to_string(after));
    });
    reg.route("GET", "/ids", RY_ROUTE_PUBLIC, [](const ry::request& r) {
      const auto after = ry::query_uuid_cursor(r, "ids");
      return ry::response::json(after ? after->to_string() : "null");
    });
    reg.route("GET", "/throws", 0,
              [](const ry::request&) -> ry::response { throw std::runtime_error("secret path /etc/x"); });
    reg.route("GET", "/bad_header", 0,
              [](const ry::request&) { return ry::response::json("{}").header("X-Bad", "refuse me"); });
    reg.route("GET", "/dropped", 0, [](ry::request) -> ry::task<void> { co_return; });
    reg.route("GET", "/hasty", 0, [](ry::request) -> ry::task<ry::response> {
      // A contract violation of drivers: they complete inside the starting call, on this thread or on another.
      std::string received;
      for (int i = 0; i < 50'000; ++i) {  // would overflow the stack if each were resumed inside the previous one
        ry::result<std::string> got = co_await ry::call<std::string, ry_str>(
            [](ry_exec*, auto* fn, void* ctx, ry_op_id* op) {
              *op = 7;
              fn(ctx, RY_OK, ry::str("x"), nullptr);
              return RY_OK;
            },
            [](ry_str s) { return ry::text(s); });
        received += got.value();
      }
      ry::result<void> failed = co_await ry::call_done([](ry_exec*, ry_done done) {
        std::thread([done] { done.fn(done.ctx, RY_NOT_FOUND, nullptr); }).join();
        return RY_OK;
      });
      co_return ry::response::text(200, std::to_string(received.size()) + " " + std::to_string(failed.status()));
    });
    reg.route("GET", "/events", RY_ROUTE_LONG, this, &sample::events);
    reg.route("GET", "/fetch", 0, this, &sample::fetch);
    reg.route("POST", "/echo", RY_ROUTE_STREAM_BODY, this, &sample::echo);
    reg.job("sample.work", this, &sample::work);
    reg.subscribe("sample", "account.created", this, &sample::on_account);
    reg.migration("0001_init", "create table t (a text)");
  }
  ~sample() { ++g_probe->destroyed; }

  ry::task<void> start() {
    ctx_.spawn(background());
    ry::result<void> slept = co_await ctx_.sleep(5);  // start() may wait
    slept.value();
    if (ctx_.settings().find("start_fails") != std::string_view::npos) {
      throw ry::unavailable("sample.start", "the port is taken");
    }
  }
  ry::task<void> stop() {
    ++g_probe->stopped;
    co_return;
  }
  ry::result<void> health() const {
    if (healthy_) return {};
    return ry::unavailable("sample.sick", "the provider does not answer");
  }

 private:
  ry::task<void> background() {
    for (;;) {
      ry::result<void> slept = co_await ctx_.sleep(1'000'000'000);
      if (!slept) break;
    }
    ++g_probe->background_ended;
  }
  ry::task<ry::response> get(ry::request r) {
    ry::result<ry::rows> found = co_await ctx_.db().query("select name from items where id = $1", r.param("id"));
    if (found.value().empty()) throw ry::not_found("sample.not_found", "Item not found");
    co_return ry::response::json(200, ry::json_string(found->front().text("name")))
        .header("X-Who", std::string(r.subject()));
  }
  ry::task<void> events(ry::request r) {
    ry::sse s = r.open_sse();
    s.send("one\ntwo", "7", "note");
    ry::signal never;
    ry::result<void> ended = co_await never.wait();
    s.send(ended.status() == RY_CANCELLED ? "bye" : "?");
  }
  ry::task<ry::response> fetch(ry::request) {
    ry::client_request q("POST", "http://model/x");
    q.header("Authorization", "k").body("{}", "application/json");
    ry::result<ry::client_response> got = co_await ctx_.http_client().fetch(std::move(q));
    co_return ry::response::text(200, got.value().body);
  }
  ry::task<ry::response> echo(ry::request r) {
    std::string all;
    for (;;) {
      ry::result<std::string> piece = co_await r.read_body();
      if (piece.value().empty()) break;
      all += *piece;
    }
    co_return ry::response::text(200, all);
  }
  ry::task<ry::job_outcome> work(ry::job j) {
    if (j.args() == "throw") throw std::runtime_error("no");
    if (j.args() == "snooze") co_return ry::job_outcome::snooze(10);
    co_return ry::job_outcome::done();
  }
  ry::task<void> on_account(ry::event e) {
    if (e.key() == "bad") throw ry::unavailable("x", "later");
    healthy_ = e.key() != "sick";
    co_return;
  }

  ry::context& ctx_;
  bool healthy_ = true;
};

constexpr char schema[] = R"({"type":"object","properties":{"limit":{"type":"integer"}}})";

}  // namespace

RY_MODULE(
    sample, "sample", "1.2.3",
    .needs("ry.http/1", "ry.db/1").wants("mail/1").provides("sample/1").settings(schema).flags(RY_MODULE_NO_RELOAD));

namespace {

using ry::testing::call_options;
using ry::testing::fake_host;

struct module_test : ::testing::Test {
  probe p;
  fake_host host;
  module_test() { g_probe = &p; }
};

TEST_F(module_test, descriptor_and_section_agree) {
  const ry_module_v1& m = *ry_module_entry();
  EXPECT_EQ(m.magic, RY_ABI_MAGIC);
  EXPECT_EQ(m.struct_size, sizeof(ry_module_v1));
  EXPECT_EQ(ry::view(m.name), "sample");
  EXPECT_EQ(ry::view(m.version), "1.2.3");
  EXPECT_EQ(ry::view(m.config_schema_json), schema);
  ASSERT_EQ(m.n_needs, 3u);
  EXPECT_EQ(ry::view(m.needs[2].id), "mail/1");
  EXPECT_EQ(m.needs[2].optional, 1u);
  EXPECT_EQ(m.need_stride, sizeof(ry_need));
  ASSERT_EQ(m.n_provides, 1u);
  EXPECT_EQ(ry::view(m.provides[0]), "sample/1");
  EXPECT_EQ(std::string_view(ry_section_.text, sizeof ry_section_.text),
            R"({"name":"sample","version":"1.2.3","abi_major":1,"abi_minor":0,"min_host_minor":0,)"
            R"("flags":4,"needs":[{"id":"ry.http/1","optional":false},)"
            R"({"id":"ry.db/1","optional":false},{"id":"mail/1","optional":true}],)"
            R"("provides":["sample/1"]})");
}

TEST_F(module_test, create_fails_with_its_message) {
  try {
    host.load(*ry_module_entry(), R"({"refuse":true})");
    FAIL();
  } catch (const std::runtime_error& e) {
    EXPECT_STREQ(e.what(), "create: settings.refuse was set");
  }
}

TEST_F(module_test, missing_interface_fails_create) {
  host.hide("ry.jobs/1");
  EXPECT_THROW(host.load(*ry_module_entry()), std::runtime_error);
  EXPECT_EQ(p.destroyed, 0);
}

TEST_F(module_test, answers_requests) {
  host.db.on("from items", {{"name"}, {{"Lamp"}}});
  host.db.on("from items", {{"name"}, {}});
  host.load(*ry_module_entry());
  EXPECT_EQ(host.migrations.at(0).first, "0001_init");

  auto a = host.call("GET", "/items/5");
  EXPECT_EQ(a.status, 200u);
  EXPECT_EQ(a.body, "\"Lamp\"");
  EXPECT_EQ(a.header("x-who"), "11111111-1111-4111-8111-111111111111");
  EXPECT_EQ(host.db.calls.at(0).params.at(0), "5");

  a = host.call("GET", "/items/6");
  EXPECT_EQ(a.status, 404u);
  EXPECT_EQ(a.body, R"({"detail":"Item not found"})");
  EXPECT_EQ(a.failure.reason(), "sample.not_found");

  a = host.call("GET", "/sync?x=1&q=a%20b+c");
  EXPECT_EQ(a.body, R"({"q":"a b c"})");
  EXPECT_EQ(host.call("GET", "/sync?q=%zz").status, 400u);
}

TEST_F(module_test, a_completion_inside_its_starting_call_is_tolerated) {
  host.load(*ry_module_entry());
  EXPECT_EQ(host.call("GET", "/hasty").body, "50000 " + std::to_string(RY_NOT_FOUND));
}

TEST_F(module_test, pages_are_read_from_the_query) {
  host.load(*ry_module_entry());
  EXPECT_EQ(host.call("GET", "/list").body, "5:0");
  EXPECT_EQ(host.call("GET", "/list?limit=20&cursor=" + ry::make_cursor("numbers", "7")).body, "20:7");
  for (const char* wrong : {"0", "21", "", "x", "1x", "+1", "99999999999999999999"}) {
    const auto a = host.call("GET", "/list?limit=" + std::string(wrong));
    EXPECT_EQ(a.status, 422u) << wrong;
    EXPECT_EQ(a.body, R"({"detail":"limit must be a whole number from 1 to 20"})");
  }
  EXPECT_EQ(host.call("GET", "/list?cursor=" + ry::make_cursor("others", "7")).status, 400u);
  const std::string id = "018f3b1c-0000-7abc-8def-0123456789ab";
  EXPECT_EQ(host.call("GET", "/ids").body, "null");
  EXPECT_EQ(host.call("GET", "/ids?cursor=" + ry::make_cursor("ids", id)).body, id);
  EXPECT_EQ(host.call("GET", "/ids?cursor=" + ry::make_cursor("ids", "7")).status, 400u);
}

TEST_F(module_test, exceptions_of_handlers_are_logged_but_not_sent) {
  host.load(*ry_module_entry());
  const auto a = host.call("GET", "/throws");
  EXPECT_EQ(a.status, 500u);
  EXPECT_EQ(a.body.find("secret"), std::string::npos);
  ASSERT_FALSE(host.log.empty());
  EXPECT_NE(host.log.back().fields.find("secret path"), std::string::npos);
}

TEST_F(module_test, a_response_that_the_host_rejects_becomes_a_500) {
  host.load(*ry_module_entry());
  EXPECT_EQ(host.call("GET", "/bad_header").status, 500u);
  EXPECT_NE(host.log.back().fields.find("http.answer_refused"), std::string::npos);
}

TEST_F(module_test, a_failed_start_leaves_no_task_behind) {
  try {
    host.load(*ry_module_entry(), R"({"start_fails":true})");
    FAIL();
  } catch (const std::runtime_error& e) {
    EXPECT_STREQ(e.what(), "start: the port is taken");
  }
  EXPECT_EQ(p.background_ended, 1);
  EXPECT_EQ(p.destroyed, 1);
  EXPECT_EQ(p.stopped, 0);
}

TEST_F(module_test, a_dropped_request_becomes_a_500) {
  host.load(*ry_module_entry());
  EXPECT_EQ(host.call("GET", "/dropped").status, 500u);
}

TEST_F(module_test, streams_until_the_client_disconnects) {
  host.load(*ry_module_entry());
  const auto a = host.send("GET", "/events");
  EXPECT_TRUE(a->streaming);
  EXPECT_EQ(a->header("content-type"), "text/event-stream");
  EXPECT_EQ(a->body, "id: 7\nevent: note\ndata: one\ndata: two\n\n");
  host.drop_client(*a);
  EXPECT_FALSE(a->streaming);
  EXPECT_NE(a->body.find("data: bye\n\n"), std::string::npos);
}

TEST_F(module_test, fetches_and_reports_failures) {
  host.client.on("model", 200, {"a", "b", "c"});
  host.load(*ry_module_entry());
  EXPECT_EQ(host.call("GET", "/fetch").body, "abc");
  EXPECT_EQ(host.client.requests.at(0).body, "{}");
  EXPECT_EQ(host.client.requests.at(0).fields.size(), 2u);
  host.client.on("model", 200, {"a"}, ry::unavailable("http_client.reset", "The connection broke"));
  EXPECT_EQ(host.call("GET", "/fetch").status, 503u);
}

TEST_F(module_test, reads_bodies_piece_by_piece) {
  host.load(*ry_module_entry());
  call_options o;
  o.body = "hello";
  EXPECT_EQ(host.call("POST", "/echo", o).body, "hello");
}

TEST_F(module_test, jobs_and_events_end_with_the_result_of_their_handlers) {
  host.load(*ry_module_entry());
  EXPECT_EQ(host.run_job("sample.work", "{}"), RY_JOB_DONE);
  EXPECT_EQ(host.run_job("sample.work", "snooze"), RY_JOB_SNOOZE);
  EXPECT_EQ(host.run_job("sample.work", "throw"), RY_JOB_RETRY);
  EXPECT_EQ(host.deliver("sample", "account.created", "good", "{}"), RY_OK);
  EXPECT_EQ(host.deliver("sample", "account.created", "bad", "{}"), RY_UNAVAILABLE);
  EXPECT_TRUE(host.health().ok());
  EXPECT_EQ(host.deliver("sample", "account.created", "sick", "{}"), RY_OK);
  EXPECT_EQ(host.health().error().message(), "the provider does not answer");
}

class always_degraded {
 public:
  always_degraded(ry::context&, ry::registrar&) {}
  std::string degraded() const { return "no control groups"; }
};
class sick_and_degraded : public always_degraded {
 public:
  using always_degraded::always_degraded;
  ry::result<void> health() const { return ry::unavailable("x.sick", "no disk"); }
};
class well_and_degraded : public always_degraded {
 public:
  using always_degraded::always_degraded;
  ry::result<void> health() const { return {}; }
};

// The descriptor of `sample` with the functions of another class.
template <class T>
ry_module_v1 descriptor_of() {
  ry_module_v1 m = *ry_module_entry();
  m.create = &ry::module<T>::create;
  m.start = &ry::module<T>::start;
  m.stop = &ry::module<T>::stop;
  m.destroy = &ry::module<T>::destroy;
  m.health = &ry::module<T>::health;
  return m;
}

TEST_F(module_test, degraded_is_reported_with_and_without_health) {
  const auto plain = descriptor_of<always_degraded>(), well = descriptor_of<well_and_degraded>();
  for (const auto* m : {&plain, &well}) {
    host.load(*m);
    EXPECT_TRUE(host.health().ok());
    EXPECT_EQ(host.degraded(), "no control groups");
    host.unload();
  }
  const auto sick = descriptor_of<sick_and_degraded>();
  host.load(sick);
  EXPECT_EQ(host.health().error().message(), "no disk");
  EXPECT_EQ(host.degraded(), "");
  host.unload();
  host.load(*ry_module_entry());
  EXPECT_EQ(host.degraded(), "");
}

TEST_F(module_test, stop_cancels_and_waits_for_everything) {
  host.load(*ry_module_entry());
  const auto open = host.send("GET", "/events");
  host.unload();
  EXPECT_EQ(p.stopped, 1);
  EXPECT_EQ(p.background_ended, 1);
  EXPECT_EQ(p.destroyed, 1);
  EXPECT_FALSE(open->streaming);
}

TEST(sse, format_keeps_every_line_in_its_field) {
  EXPECT_EQ(ry::sse::format(""), "data: \n\n");
  EXPECT_EQ(ry::sse::format("a\r\nb\n"), "data: a\ndata: b\ndata: \n\n");
}

}  // namespace
