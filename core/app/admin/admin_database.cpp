#include "core/app/admin/admin_database.hpp"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <future>
#include <memory>

#include "core/db/value.hpp"
#include "core/observe/log.hpp"

namespace ry::app {

using observe::level;

http::host_answer refusal(std::uint32_t status, const std::string& why) {
  return {status, "application/json", boost::json::serialize(boost::json::object{{"detail", why}})};
}

http::host_answer ask(db::database* database, std::function<http::host_answer(db::connection&)> work) {
  const std::string away = "The database does not respond";
  if (!database) return refusal(503, away);
  const auto answer = std::make_shared<std::promise<http::host_answer>>();
  auto done = answer->get_future();
  database->submit([answer, work = std::move(work), away](db::connection& c) {
    http::host_answer out;
    try {
      out = work(c);
    } catch (const db::failure& e) {
      observe::log(level::error, "host", "the database query of an admin request failed", {{"error", e.what()}});
      out = refusal(503, away);
    } catch (...) {
      answer->set_exception(std::current_exception());
      return;
    }
    answer->set_value(std::move(out));
  });
  return done.get();
}

void write_audit(db::database& database, const std::string& actor, const std::string& action,
                 const std::string& detail) {
  database.submit([actor, action, detail](db::connection& c) {
    c.exec(
        "select core.event_publish('admin.act', $1, jsonb_build_object('actor', $1::text, 'action', $2::text, "
        "'detail', $3::jsonb))",
        {db::value::text(actor), db::value::text(action), db::value::text(detail)});
  });
}

}  // namespace ry::app
