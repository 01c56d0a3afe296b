#include "store/repository.hpp"

namespace notifications {

ry::task<void> repository::create_broadcast(audit_action audit, ry::uuid id, std::string workflow,
                                            std::string payload_json, std::optional<std::string> at) const {
  (co_await ctx_.db().query("select notifications.create_broadcast($1, $2::jsonb, $3, $4, $5::jsonb, $6::timestamptz)",
                            audit.actor, audit.detail_json, id, workflow, payload_json, at))
      .value();
}

ry::task<std::string> repository::audience(std::string workflow) const {
  const auto channels = static_cast<std::int64_t>(channels_of(workflow));
  const auto rows = (co_await ctx_.db().query_with(
                         {RY_DB_READ_ONLY}, "select notifications.audience($1, $2::int)::text", workflow, channels))
                        .value();
  co_return std::string(rows.front().text(0));
}

ry::task<ry::page_of_rows> repository::broadcasts(std::optional<ry::uuid> before, std::int64_t limit) const {
  const auto rows =
      (co_await ctx_.db().query_with(
           {RY_DB_READ_ONLY},
           "select b.id, notifications.broadcast_json(b)::text as doc from notifications.broadcast b"
           " where $1::uuid is null or (b.created_at, b.id) < (select o.created_at, o.id from notifications.broadcast o where o.id = $1)"
           " order by b.created_at desc, b.id desc limit $2",
           before, limit + 1))
          .value();
  co_return ry::read_page(rows, limit);
}

ry::task<std::optional<std::string>> repository::broadcast_details(ry::uuid id) const {
  const auto rows =
      (co_await ctx_.db().query_with(
           {RY_DB_READ_ONLY},
           "select (notifications.broadcast_json(b) || jsonb_build_object('notifications', coalesce((select jsonb_object_agg(c.state, c.n)"
           "   from (select n.state, count(*) as n from notifications.notification n where n.broadcast_id = b.id group by n.state) c),"
           "   '{}')))::text as doc from notifications.broadcast b where b.id = $1",
           id))
          .value();
  if (rows.empty()) co_return std::nullopt;
  co_return std::string(rows.front().text("doc"));
}

ry::task<std::optional<std::string>> repository::change_broadcast_state(std::string actor, ry::uuid id,
                                                                        std::string action) const {
  const auto rows =
      (co_await ctx_.db().query("select notifications.steer_broadcast($1, $2, $3) as state", actor, id, action))
          .value();
  const auto state = rows.front().opt_text("state");
  co_return state ? std::optional<std::string>(*state) : std::nullopt;
}

ry::task<std::optional<ry::uuid>> repository::broadcast_progress(ry::uuid id) const {
  const auto rows = (co_await ctx_.db().query("select after from notifications.broadcast where id = $1", id)).value();
  if (rows.empty()) co_return std::nullopt;
  co_return rows.front().opt_uuid("after");
}

ry::task<std::string> repository::advance_broadcast(ry::uuid id, std::optional<ry::uuid> after, std::int64_t written,
                                                    bool finished) const {
  const auto rows = (co_await ctx_.db().query("select notifications.broadcast_step($1, $2::uuid, $3, $4)", id, after,
                                              written, finished))
                        .value();
  co_return std::string(rows.front().text(0));
}

}  // namespace notifications
