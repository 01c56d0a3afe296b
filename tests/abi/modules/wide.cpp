// A module that uses much of the ABI: a migration, a transaction with a job and an event, which are both delivered to
// the module, secrets, live topics and a metric. Its response contains the error.
#include <ry/ry.hpp>

namespace {

class wide {
 public:
  wide(ry::context& ctx, ry::registrar& reg) : ctx_(ctx), asked_(ctx.metrics().counter("asked_total", "Questions")) {
    reg.migration("0001_seen", "create table seen (question text, by text)");
    reg.job("abi_wide.work", this, &wide::work);
    reg.subscribe("hears", "abi_wide.*", this, &wide::hears);
    reg.route("GET", "/abi/wide", RY_ROUTE_PUBLIC, this, &wide::answer);
  }

 private:
  ry::task<void> note(std::string question, std::string by) {
    auto inserted = co_await ctx_.db().query("insert into seen values ($1, $2)", question, by);
    inserted.value();
  }
  ry::task<ry::job_outcome> work(ry::job j) {
    co_await note(std::string(j.args()), "job");
    co_return ry::job_outcome::done();
  }
  ry::task<void> hears(ry::event e) { co_await note(std::string(e.payload()), "event"); }

  ry::task<std::string> ask(ry_exec* exec) {
    const std::string question = "{\"id\": \"" + ctx_.new_uuid().to_string() + "\"}";
    bool heard = false;
    const ry::subscription live =
        ctx_.events().live_subscribe("abi_wide." + question, exec, [&heard](const ry::live_message&) { heard = true; });
    ry::result<ry::tx> begun = co_await ctx_.db().begin();
    ry::tx tx = std::move(begun).value();
    ry::job_request request("abi_wide.work", question);
    auto added = co_await ctx_.jobs().enqueue(tx, request);
    added.value();
    auto published = co_await ctx_.events().publish(tx, "abi_wide.asked", "key", question);
    published.value();
    auto committed = co_await tx.commit();
    committed.value();
    ctx_.jobs().wake();
    (void)ctx_.events().live_publish("abi_wide." + question, 1, "now");

    const std::string sealed = ctx_.secrets().seal("abi_wide", "not for everybody").value();
    const std::string opened = ctx_.secrets().open("abi_wide", sealed).value();
    if (opened != "not for everybody" || sealed.find("everybody") != std::string::npos) co_return "secrets";
    asked_.add();

    std::string by;
    for (int i = 0; i < 400; ++i) {
      auto rows = co_await ctx_.db().query(
          "select coalesce(string_agg(by, ',' order by by), '') from seen where question::jsonb = $1::jsonb", question);
      by = std::string(rows.value().front().text(0));
      if (by == "event,job" && heard) co_return "wide";
      auto slept = co_await ctx_.sleep(20);
      slept.value();
    }
    co_return "only " + by + (heard ? " and live" : " and nothing live");
  }
  ry::task<ry::response> answer(ry::request r) {
    const std::string result = co_await ask(r.exec());
    co_return ry::response::json("{\"lang\":\"" + result + "\"}");
  }

  ry::context& ctx_;
  ry::metric asked_;
};

}  // namespace

RY_MODULE(wide, "abi_wide", "1.0.0",
          .needs("ry.core/1", "ry.http/1", "ry.db/1", "ry.jobs/1", "ry.events/1", "ry.secrets/1", "ry.metrics/1"));
