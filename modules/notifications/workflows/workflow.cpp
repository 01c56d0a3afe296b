#include "workflows/workflow.hpp"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <cmath>

#include "common/argument_text.hpp"
#include "json/members.hpp"
#include "workflows/templates.hpp"

namespace notifications {

namespace json = boost::json;

namespace {

constexpr std::int64_t micro_per_credit = 1'000'000;
constexpr std::size_t max_arguments_text = 1500;

// Returns the value unchanged; null if it is missing, not a scalar, or not a finite number.
json::value scalar_in(const json::object& o, std::string_view name) {
  const auto* v = o.if_contains(json::string_view(name.data(), name.size()));
  if (v == nullptr || v->is_structured() || (v->is_double() && !std::isfinite(v->get_double()))) return nullptr;
  return *v;
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (auto at = text.find(from); at != text.npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

std::string task_url(const json::object& event, const links& to) {
  if (to.app_url.empty() && to.task_url.find("{app_url}") != to.task_url.npos) return {};
  auto out = replaced(to.task_url, "{app_url}", to.app_url);
  for (const char* id : {"thread_id", "project_id", "run_id"}) {
    out = replaced(std::move(out), "{" + std::string(id) + "}", module_json::text_of(event, id));
  }
  return out;
}

notification_event task_end(std::string_view kind, const json::object& event, const person& recipient,
                            const links& to) {
  notification_event out;
  const bool completed = kind == "run.completed";
  auto title = module_json::text_of(event, "title");
  out.workflow = completed ? "task-completed" : "task-failed";
  out.payload = {{"first_name", recipient.first_name()},
                 {"task_name", title.empty() ? std::string("Your task") : std::move(title)},
                 {"task_url", task_url(event, to)}};
  if (!completed) {
    auto reason = module_json::text_of(event, "error");
    if (reason.empty()) reason = module_json::text_of(event, "reason");
    out.payload["failure_reason"] = reason;
  }
  for (const char* name : {"duration_ms", "charged_micro"}) {
    if (const auto* v = event.if_contains(name); v != nullptr && v->is_int64() && v->get_int64() >= 0)
      out.details[name] = *v;
  }
  if (auto result = module_json::text_of(event, "result"); !result.empty()) out.details["result"] = result;
  out.thread_id = module_json::text_of(event, "thread_id");
  const auto* viewed = event.if_contains("viewed");
  out.viewed = viewed != nullptr && viewed->is_bool() && viewed->get_bool();
  return out;
}

notification_event approval_request(const json::object& event, const person& recipient, const links& to) {
  notification_event out;
  const auto title = module_json::text_of(event, "title");
  const auto agent = module_json::text_of(event, "agent_name");
  out.workflow = "approval-requested";
  out.payload = {{"first_name", recipient.first_name()},
                 {"agent_name", agent.empty() ? std::string("Your agent") : agent},
                 {"tool_name", module_json::text_of(event, "tool")},
                 {"task_name", title},
                 {"task_url", task_url(event, to)},
                 {"expires_at", module_json::text_of(event, "expires_at")}};
  for (const char* id : {"approval_id", "run_id", "thread_id"}) out.payload[id] = module_json::text_of(event, id);
  auto arguments = ry_arguments::show(module_json::text_at(event, "arguments"), max_arguments_text);
  out.details = {{"arguments", std::move(arguments.text)},
                 {"on_timeout", module_json::text_of(event, "on_timeout")},
                 {"decidable", true}};
  out.thread_id = module_json::text_of(event, "thread_id");
  out.approval = module_json::text_of(event, "approval_id");
  return out;
}

void fill(json::value& v, const fields& values) {
  if (v.is_string()) {
    const auto& s = v.get_string();
    v = fill_known(std::string_view(s.data(), s.size()), values);
  } else if (v.is_array()) {
    for (auto& e : v.get_array()) fill(e, values);
  } else if (v.is_object()) {
    for (auto& e : v.get_object()) fill(e.value(), values);
  }
}

}  // namespace

const std::vector<std::string_view>& known_workflows() {
  static const std::vector<std::string_view> all{"welcome-email",       "task-completed",     "task-failed",
                                                 "payment-succeeded",   "payment-failed",     "credits-low",
                                                 "referral-successful", "approval-requested", "promotional"};
  return all;
}

bool is_transactional(std::string_view workflow) noexcept {
  const auto& all = known_workflows();
  return workflow != "promotional" && std::find(all.begin(), all.end(), workflow) != all.end();
}

std::uint32_t channels_of(std::string_view workflow) noexcept {
  return workflow == "welcome-email" ? RY_NOTIFY_EMAIL : all_channels;
}

std::optional<notification_event> notification_event_of(std::string_view kind, std::string_view payload_json,
                                                        const person& recipient, const links& to) {
  json::error_code bad;
  const auto doc = json::parse(json::string_view(payload_json.data(), payload_json.size()), bad);
  if (bad || !doc.is_object()) return std::nullopt;
  const auto& event = doc.get_object();
  notification_event out;
  if (kind == "run.completed" || kind == "run.failed") return task_end(kind, event, recipient, to);
  if (kind == "approval.requested") {
    if (!ry::uuid::parse(module_json::text_at(event, "approval_id"))) return std::nullopt;
    return approval_request(event, recipient, to);
  }
  if (kind == "account.created") {
    out = notification_event_from_template("welcome-email", {}, recipient);
  } else if (kind == "payment.succeeded") {
    out.workflow = "payment-succeeded";
    out.payload = {{"account_id", module_json::text_of(event, "account_id")},
                   {"amount", scalar_in(event, "amount")},
                   {"currency", module_json::text_of(event, "currency")},
                   {"plan_name", module_json::text_of(event, "plan_name")}};
  } else if (kind == "payment.failed") {
    out.workflow = "payment-failed";
    out.payload = {{"account_id", module_json::text_of(event, "account_id")},
                   {"amount", scalar_in(event, "amount")},
                   {"currency", module_json::text_of(event, "currency")},
                   {"reason", module_json::text_of(event, "reason")}};
  } else if (kind == "credits.low") {
    out.workflow = "credits-low";
    const auto balance = module_json::integer_at(event, "balance_micro");
    out.payload = {{"account_id", module_json::text_of(event, "account_id")},
                   {"remaining_credits", std::max<std::int64_t>(balance, 0) / micro_per_credit},
                   {"threshold_percentage", module_json::integer_at(event, "threshold_percent")}};
  } else if (kind == "referral.successful") {
    // For the referrer, who does not learn the identity of the friend.
    out.workflow = "referral-successful";
    out.payload = {{"account_id", module_json::text_of(event, "referrer_id")},
                   {"credits_awarded", module_json::integer_at(event, "credits_awarded")}};
  } else {
    return std::nullopt;
  }
  return out;
}

notification_event notification_event_from_template(std::string workflow, const json::object& pattern,
                                                    const person& recipient) {
  notification_event out;
  if (workflow == "welcome-email" && recipient.email.empty()) out.refused = "The account has no email";
  out.workflow = std::move(workflow);
  out.payload = fill_template(pattern, recipient);
  return out;
}

bool can_be_stored(const json::value& v) noexcept {
  const auto good = [](std::string_view text) { return text.find('\0') == text.npos; };
  if (v.is_string()) return good(v.get_string());
  if (v.is_double()) return std::isfinite(v.get_double());
  if (v.is_array()) return std::all_of(v.get_array().begin(), v.get_array().end(), can_be_stored);
  if (!v.is_object()) return true;
  return std::all_of(v.get_object().begin(), v.get_object().end(),
                     [&](const auto& m) { return good(m.key()) && can_be_stored(m.value()); });
}

json::object fill_template(const json::object& pattern, const person& recipient) {
  json::value out(pattern);
  fill(out, fields_of(recipient));
  return std::move(out.get_object());
}

}  // namespace notifications
