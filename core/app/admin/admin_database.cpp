#include "core/app/admin/admin_database.hpp"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <future>
#include <memory>

#include "core/db/value.hpp"
#include "core/observe/log.hpp"

namespace ry::app {

using observe::level;

http::host_answer error_answer(std::uint32_t status, const std::string& why) {
  return {status, "application/json", boost::json::serialize(boost::json::object{{"detail", why}})};
}

http::host_answer run_on_database(db::database* database, std::function<http::host_answer(db::connection&)> work) {
  const std::string unavailable = "The database does not respond";
  if (!database) return error_answer(503, unavailable);
  const auto answer = std::make_shared<std::promise<http::host_answer>>();
  auto done = answer->get_future();
  database->submit([answer, work = std::move(work), unavailable](db::connection& c) {
    http::host_answer out;
    try {
      out = work(c);
    } catch (const db::failure& e) {
      observe::log(level::error, "host", "the database query of an admin request failed", {{"error", e.what()}});
      out = error_answer(503, unavailable);
    } catch (...) {
      answer->set_exception(std::current_exception());
      return;
    }
    answer->set_value(std::move(out));
  });
  return done.get();
}

void publish_audit_event(db::database& database, const std::string& actor, const std::string& action,
                         const std::string& detail) {
  database.submit([actor, action, detail](db::connection& c) {
    c.exec(
        "select core.event_publish('admin.act', $1, jsonb_build_object('actor', $1::text, 'action', $2::text, "
        "'detail', $3::jsonb))",
        {db::value::text(actor), db::value::text(action), db::value::text(detail)});
  });
}

}  // namespace ry::app
