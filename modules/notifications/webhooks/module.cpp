// Sends domain events to the operator's own systems as signed webhooks.
#include <ry/cpp/module.hpp>
#include <ry/cpp/settings_check.hpp>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <cstdio>
#include <ctime>

#include "migrations.hpp"
#include "openapi.hpp"
#include "settings.hpp"

namespace webhooks {
namespace {

namespace json = boost::json;

// Older events, from a time when the module was not configured, are not sent.
constexpr std::int64_t max_event_age_us = 24LL * 3600 * 1'000'000;

std::string iso(std::int64_t unix_us) {
  const std::time_t s = unix_us / 1'000'000;
  tm utc{};
  ::gmtime_r(&s, &utc);
  char text[40];
  const auto n = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &utc);
  char milliseconds[8];
  std::snprintf(milliseconds, sizeof milliseconds, ".%03dZ", static_cast<int>(unix_us % 1'000'000 / 1000));
  return std::string(text, n) + milliseconds;
}

class module {
 public:
  explicit module(ry::context& ctx, ry::registrar& reg) : ctx_(ctx), settings_(read_settings(ctx.settings(), faults_)) {
    reg.migrations(ry_migrations::all);
    reg.describe(ry_openapi::webhooks);
    reg.contribute(RY_SETTINGS_CHECK_1, "webhooks", &ry::settings_faults::table, &faults_);
    if (!settings_.receivers.empty()) {
      reg.subscribe("out", settings_.kinds(), this, &module::on_event);
    }
    ry::job_options deliver;
    deliver.queue = "webhooks";
    deliver.max_attempts = static_cast<std::uint32_t>(settings_.max_attempts);
    deliver.concurrency = 16;
    deliver.timeout_ms = 60'000;
    deliver.backoff_ms = 5'000;
    reg.job("webhooks.deliver", this, &module::deliver, deliver);
    reg.route("GET", "/admin/webhooks", RY_ROUTE_ADMIN, this, &module::list);
    reg.route("POST", "/admin/webhooks/{name}/test", RY_ROUTE_ADMIN, this, &module::test);
    reg.route("POST", "/admin/webhooks/{name}/enable", RY_ROUTE_ADMIN, this, &module::enable);
    delivered_ = count("delivered");
    retried_ = count("retry");
    disabled_ = count("disabled");
  }

  ry::task<void> start() {
    std::vector<std::string> names, urls;
    for (const auto& r : settings_.receivers) {
      names.push_back(r.name);
      urls.push_back(r.to.url);
    }
    (co_await ctx_.db().query("select webhooks.configure($1::text[], $2::text[])", names, urls)).value();
  }

 private:
  ry::metric count(const char* outcome) const {
    return ctx_.metrics().counter("attempts_total", "Attempts to deliver a webhook message", {{"outcome", outcome}});
  }

  ry::task<void> on_event(ry::event e) {
    if (ctx_.now_unix_us() - e.published_unix_us() > max_event_age_us) co_return;
    json::object body{{"type", e.kind()}, {"timestamp", iso(e.published_unix_us())}};
    body["data"] = json::parse(e.payload());
    const std::string text = json::serialize(body);
    const std::string id = "evt_" + std::to_string(e.id());
    for (const auto& r : settings_.receivers) {
      if (r.wants(e.kind())) (void)co_await enqueue(r.name, id, text);
    }
    ctx_.jobs().wake("webhooks");
  }

  ry::task<bool> enqueue(std::string name, std::string id, std::string body) const {
    const auto rows = (co_await ctx_.db().query("select webhooks.enqueue($1, $2, $3, $4::int)", name, id, body,
                                                static_cast<std::int64_t>(settings_.max_attempts)))
                          .value();
    co_return rows.front().boolean(0);
  }

  ry::task<ry::job_outcome> deliver(ry::job job) {
    const auto doc = json::parse(job.args());
    const json::object& args = doc.as_object();
    const std::string name(args.at("endpoint").as_string());
    const receiver* r = settings_.find(name);
    if (r == nullptr) {
      co_return ry::job_outcome::dead(
          ry::bad_request("webhooks.unknown", "webhooks.endpoints." + name + " is no longer configured"));
    }
    const auto state =
        (co_await ctx_.db().query("select disabled_at is not null from webhooks.endpoint where name = $1", name))
            .value();
    if (state.empty() || state.front().boolean(0)) {
      co_return ry::job_outcome::dead(ry::unavailable("webhooks.disabled", r->to.name + " is disabled"));
    }
    const std::string id(args.at("id").as_string());
    const std::string body(args.at("body").as_string());
    ry::job_outcome out = co_await standard_webhooks::deliver(ctx_, receivers_, r->to, id, body);
    if (out.kind() == RY_JOB_DONE) {
      delivered_.add();
      (co_await ctx_.db().query("select webhooks.succeeded($1)", name)).value();
      co_return out;
    }
    if (out.kind() == RY_JOB_SNOOZE || out.kind() == RY_JOB_RELEASE) co_return out;
    retried_.add();
    const std::int64_t disable_after_s = out.kind() == RY_JOB_DEAD ? 0 : settings_.disable_after_hours * 3600;
    const std::string error_text(out.why().message());
    const auto rows = (co_await ctx_.db().query("select webhooks.failed($1, $2, make_interval(secs => $3))", name,
                                                error_text, static_cast<double>(disable_after_s)))
                          .value();
    if (rows.front().boolean(0)) {
      disabled_.add();
      ctx_.log(RY_LOG_ERROR, "a receiver of webhooks is disabled", {{"webhook", r->to.name}, {"reason", error_text}});
      co_return ry::job_outcome::dead(out.why());
    }
    co_return out;
  }

  // ---- admin ------------------------------------------------------------------------------------

  ry::task<ry::response> list(ry::request) {
    const auto rows = (co_await ctx_.db().query_with(
                           {RY_DB_READ_ONLY},
                           "select name, json_build_object('name', name, 'delivered', delivered,"
                           "  'last_success_at', webhooks.iso(last_success_at), 'failing_since', "
                           "webhooks.iso(failing_since),"
                           "  'last_error', last_error, 'disabled_at', webhooks.iso(disabled_at))::text as doc"
                           "  from webhooks.endpoint order by name"))
                          .value();
    json::array all;
    for (const auto row : rows) {
      const receiver* r = settings_.find(row.text("name"));
      if (r == nullptr) continue;
      json::object o = json::parse(row.text("doc")).as_object();
      // Hide the query and the fragment, because they may contain a secret.
      o["url"] = r->to.url.substr(0, r->to.url.find_first_of("?#"));
      json::array events;
      for (const auto& e : r->events) events.push_back(json::value(e));
      o["events"] = std::move(events);
      all.push_back(std::move(o));
    }
    json::object out;
    out["endpoints"] = std::move(all);
    co_return ry::response::json(json::serialize(out));
  }

  const receiver& find_receiver(const ry::request& r) const {
    const receiver* found = settings_.find(r.param("name"));
    if (found == nullptr) throw ry::not_found("webhooks.not_found", "Webhook receiver not found");
    return *found;
  }

  ry::task<ry::response> test(ry::request r) {
    const receiver& to = find_receiver(r);
    json::object body{{"type", "webhook.test"}, {"timestamp", iso(ctx_.now_unix_us())}};
    body["data"] = json::object{{"endpoint", to.name}};
    const std::string id = "test_" + ctx_.new_uuid().to_string();
    const std::string text = json::serialize(body);
    const bool added = co_await enqueue(to.name, id, text);
    if (!added) throw ry::conflict("webhooks.disabled", "The webhook is disabled");
    ctx_.jobs().wake("webhooks");
    json::object out{{"id", id}};
    co_return ry::response::json(202, json::serialize(out));
  }

  ry::task<ry::response> enable(ry::request r) {
    const receiver& to = find_receiver(r);
    (co_await ctx_.db().query("select webhooks.enable($1)", to.name)).value();
    co_return ry::response::json(R"({"status":"ok"})");
  }

  const ry::context& ctx_;
  ry::settings_faults faults_;
  const settings settings_;
  standard_webhooks::receivers receivers_;
  ry::metric delivered_, retried_, disabled_;
};

}  // namespace
}  // namespace webhooks

RY_MODULE(webhooks::module, "webhooks", "0.1.0",
          .needs(RY_CORE_1, RY_HTTP_1, RY_DB_1, RY_JOBS_1, RY_EVENTS_1, RY_HTTP_CLIENT_1, RY_METRICS_1)
              .wants(RY_SETTINGS_CHECK_1)
              .settings(webhooks::settings_schema));
