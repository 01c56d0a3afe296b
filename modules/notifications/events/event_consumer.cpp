#include "events/event_consumer.hpp"

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>

#include "json/members.hpp"

namespace notifications {

namespace json = boost::json;

void event_consumer::add_to(ry::registrar& reg) {
  reg.subscribe("workflows",
                "account.created,account.deleted,run.completed,run.failed,payment.succeeded,payment.failed,credits.low,"
                "referral.successful,approval.requested,approval.resolved",
                this, &event_consumer::on_event);
  reg.subscribe("subscriptions", "mail.subscription", this, &event_consumer::subscription_changed);
}

ry::task<void> event_consumer::on_event(ry::event e) {
  const auto account = ry::uuid::parse(e.key());
  if (!account) co_return;
  if (e.kind() == "account.deleted") {
    co_await context_.repo.delete_account(*account);
    context_.ctx.jobs().wake("notifications");
    co_return;
  }
  if (e.kind() == "approval.resolved") co_return co_await approval_resolved(*account, std::move(e));
  if (!context_.enabled()) co_return;
  const auto recipient = co_await context_.repo.find_person(*account);
  if (!recipient) co_return;
  auto event = notification_event_of(e.kind(), e.payload(), *recipient, context_.task_links);
  if (!event) co_return;
  const auto driver = context_.driver();
  const bool keeps_subscribers = driver && (driver->table->capabilities & RY_NOTIFY_STORES_SUBSCRIBERS) != 0;
  if (e.kind() == "account.created" && keeps_subscribers) co_await context_.repo.queue_subscriber_update(*account);
  const std::string workflow = event->workflow;
  auto key = workflow + ":" + std::to_string(e.id()) + ":" + account->to_string();
  const auto out = co_await context_.notify(std::move(key), *account, *std::move(event), *recipient);
  context_.ctx.debug("an event was received",
                     {{"kind", e.kind()}, {"workflow", workflow}, {"notification", out.id}, {"outcome", out.outcome}});
}

ry::task<void> event_consumer::approval_resolved(ry::uuid account, ry::event e) {
  json::error_code bad;
  const auto doc = json::parse(json::string_view(e.payload().data(), e.payload().size()), bad);
  if (bad || !doc.is_object()) co_return;
  const auto approval = ry::uuid::parse(module_json::text_at(doc.get_object(), "approval_id"));
  if (!approval) co_return;
  const auto version =
      co_await context_.repo.resolve_approval(account, *approval, module_json::text_of(doc.get_object(), "status"));
  if (version) context_.inbox_changed(account, *version);
  context_.ctx.jobs().wake("notifications");  // another entry of a digest may be ready
}

// The event's payload: {address, category, subscribed}.
ry::task<void> event_consumer::subscription_changed(ry::event e) {
  const auto text = e.payload();
  json::error_code bad;
  const auto doc = json::parse(json::string_view(text.data(), text.size()), bad);
  const auto* o = bad ? nullptr : doc.if_object();
  const auto* address = o ? o->if_contains("address") : nullptr;
  const auto* category = o ? o->if_contains("category") : nullptr;
  const auto* subscribed = o ? o->if_contains("subscribed") : nullptr;
  if (!address || !address->is_string() || !category || !category->is_string() || !subscribed || !subscribed->is_bool())
    co_return;
  const auto account = co_await context_.repo.find_by_email(std::string(address->get_string()));
  if (account)
    co_await context_.repo.apply_subscription(*account, std::string(category->get_string()), subscribed->get_bool());
}

}  // namespace notifications
