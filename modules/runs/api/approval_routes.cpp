#include "api/approval_routes.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <cmath>
#include <ry/cpp/text.hpp>
#include <set>
#include <utility>

#include "api/caller.hpp"
#include "api/service_start.hpp"
#include "error_response.hpp"
#include "json/exact.hpp"
#include "json/members.hpp"
#include "run/conversation.hpp"
#include "text.hpp"
#include "types/question.hpp"

namespace runs {
namespace {

namespace json = boost::json;

constexpr std::int64_t approvals_per_page = 50, due_batch = 100;
constexpr std::size_t max_reason = 2000, max_arguments_bytes = 1 << 20;

struct decision_body {
  std::string status;  // approved, denied or cancelled
  std::optional<std::string> arguments, reason;
  std::optional<std::string> content;  // the answer to a question; approved only
  std::string remember = "none";
};

[[noreturn]] void reject(const std::string& message) {
  throw refusal(422, message);
}

// False if a number was too large for a double, so that JSON cannot represent it.
bool is_finite(const json::value& v) {
  if (v.is_double()) return std::isfinite(v.get_double());
  if (v.is_array()) return std::all_of(v.get_array().begin(), v.get_array().end(), is_finite);
  if (v.is_object())
    return std::all_of(v.get_object().begin(), v.get_object().end(),
                       [](const auto& m) { return is_finite(m.value()); });
  return true;
}

json::object read_body(std::string_view text) {
  boost::system::error_code bad;
  json::value v = module_json::parse_exactly(text, json::parse_options().max_depth, bad);
  if (bad || !v.is_object()) throw refusal(400, "The body must be a JSON object");
  return std::move(v.get_object());
}

// Validates the answer to a question; nullptr: none was given. A client that supports only approvals sends no
// content, so it cannot agree to something that it has not shown to the person.
void set_answer(const repository::shown_question& asked, const json::value* content, decision_body& to) {
  if (to.status != "approved") {
    if (content != nullptr) reject("content requires the decision approve");
    return;
  }
  if (asked.kind == "url") {
    if (content == nullptr || !content->is_object() || !content->get_object().empty())
      reject("content must be an empty object, which confirms that the person has agreed to open the URL");
  } else {
    if (content == nullptr) reject("content is required: it is the answer to the question");
    const json::value question = json::parse(asked.question);
    const std::string problem = check_answer(json::serialize(question.as_object().at("schema")), *content);
    if (!problem.empty()) throw refusal(400, problem);
  }
  to.content = one_line(*content);
}

decision_body read_decision(std::string_view text, const repository::shown_question& asked) {
  const json::object body = read_body(text);
  const bool is_question = asked.kind != "approval";
  decision_body out;
  const json::value* content = nullptr;
  for (const auto& member : body) {
    const std::string name(member.key());
    const json::value& value = member.value();
    if (value.is_null()) continue;
    if (is_question ? name == "arguments" || name == "remember" : name == "content")
      reject(name + " is not used with the kind " + asked.kind);
    const std::string given = value.is_string() ? std::string(value.as_string()) : std::string();
    if (name == "decision") {
      if (given != "approve" && given != "deny" && !(given == "cancel" && is_question))
        reject(is_question ? "decision must be approve, deny or cancel" : "decision must be approve or deny");
      out.status = given == "approve" ? "approved" : given == "deny" ? "denied" : "cancelled";
    } else if (name == "content") {
      content = &value;
    } else if (name == "arguments") {
      if (!value.is_object()) reject("arguments must be an object");
      if (!is_finite(value)) reject("arguments has a number that is too large");
      out.arguments = escape_line_ends(json::serialize(value));
      if (out.arguments->size() > max_arguments_bytes)
        reject("arguments must have at most " + size_text(max_arguments_bytes));
    } else if (name == "reason") {
      if (!value.is_string() || given.size() > max_reason)
        reject("reason must be a string of at most " + std::to_string(max_reason) + " bytes");
      if (!given.empty()) out.reason = plain_sentence(given);
    } else if (name == "remember") {
      if (given != "none" && given != "run" && given != "agent") reject("remember must be none, run or agent");
      out.remember = given;
    } else {
      reject("Unknown member \"" + plain_sentence(name.substr(0, 100)) + "\"");
    }
  }
  if (out.status.empty()) reject("decision must be approve or deny");
  if (out.arguments && out.status == "denied") reject("arguments require the decision approve");
  if (is_question) set_answer(asked, content, out);
  return out;
}

std::vector<client_result> read_result_body(std::string_view text) {
  const json::object body = read_body(text);
  for (const auto& member : body)
    if (member.key() != "tool_results")
      reject("Unknown member \"" + plain_sentence(std::string(member.key()).substr(0, 100)) + "\"");
  std::vector<client_result> out;
  const json::value* list = body.if_contains("tool_results");
  const std::string problem =
      list != nullptr ? read_client_results(*list, out) : std::string("tool_results must be an array of results");
  if (!problem.empty()) reject(problem);
  if (out.empty()) reject("tool_results must not be empty");
  return out;
}

std::optional<std::string> status_of(const query_values& query) {
  const std::string status = ry::lower_ascii(value_of(query, "status").value_or(""));
  if (status.empty()) return std::nullopt;
  for (const char* known : {"pending", "approved", "denied", "expired", "cancelled"})
    if (status == known) return status;
  throw refusal(422, "status must be pending, approved, denied, expired or cancelled");
}

// The id in the cursor of the page.
std::optional<std::string> id_before(const query_values& query, const std::string& list) {
  const std::optional<cursor> at = page_cursor(query, list);
  if (!at) return std::nullopt;
  std::optional<std::string> out = canonical_uuid(at->first);
  if (!out) throw refusal(400, "cursor is not valid for this list");
  return out;
}

}  // namespace

ry::task<std::string> approval_routes::list_json(std::string account, std::optional<std::string> run,
                                                 query_values query) const {
  const std::int64_t limit = page_limit(query, approvals_per_page);
  const std::optional<std::string> status = status_of(query);
  const std::string list = "approvals:" + run.value_or("") + ":" + status.value_or("");
  const std::optional<std::string> before = id_before(query, list);
  ry::result<repository::page> page = co_await repo_.approvals_page(account, run, status, before, limit);
  co_return page_json("approvals", list, page.value());
}

ry::task<ry::response> approval_routes::list(ry::request request) {
  const caller requester = co_await caller_of(accounts_, request);
  co_return ry::response::json(200, co_await list_json(requester.id, std::nullopt, query_of(request)));
}

ry::task<ry::response> approval_routes::of_run(ry::request request) {
  const std::string id = uuid_param(request.param("id"));
  const caller requester = co_await caller_of(accounts_, request);
  ry::result<std::optional<std::string>> run = co_await repo_.run_json(requester.id, id);
  if (!run.value()) throw refusal(404, "Run not found");
  co_return ry::response::json(200, co_await list_json(requester.id, id, query_of(request)));
}

ry::task<std::string> approval_routes::decide_json(std::string account, std::string id, std::string body) const {
  ry::result<std::optional<repository::shown_question>> asked = co_await repo_.question_of(account, id);
  if (!asked.value()) throw refusal(404, "Approval not found");
  const decision_body given = read_decision(body, **asked);
  ry::result<approval_decision> decided =
      co_await repo_.decide_approval(account, id, given.status, given.arguments, given.reason, given.remember,
                                     config_.max_remembered_approvals, given.content);
  const approval_decision& decision = decided.value();
  if (decision.outcome == "not_found") throw refusal(404, "Approval not found");
  if (decision.outcome == "remember_limit") {
    const std::string sentence = "remember: the account already has " +
                                 std::to_string(config_.max_remembered_approvals) +
                                 " remembered approvals. Revoke some with DELETE /approvals/remembered/{id}";
    throw refusal(409, sentence,
                  "{\"message\":" + json_string(sentence) + ",\"error_code\":\"REMEMBERED_APPROVALS_LIMIT\"}");
  }
  if (decision.outcome == "other") {
    boost::system::error_code bad;
    const json::value made = module_json::parse_exactly(decision.approval, 2 * json::parse_options().max_depth, bad);
    const std::string status = made.is_object() ? module_json::text_of(made.get_object(), "status") : std::string();
    const std::string sentence = status == "expired"     ? "The approval has expired"
                                 : status == "cancelled" ? "The approval was cancelled"
                                                         : "A different decision has already been made";
    throw refusal(409, sentence,
                  "{\"message\":" + json_string(sentence) +
                      ",\"error_code\":\"APPROVAL_DECIDED\",\"approval\":" + decision.approval + "}");
  }
  announce(decision.run_id);
  co_return decision.approval;
}

ry::task<ry::response> approval_routes::remembered(ry::request request) {
  const query_values query = query_of(request);
  const std::int64_t limit = page_limit(query, approvals_per_page);
  std::optional<std::string> agent = request.query("agent_id");
  if (agent) {
    agent = canonical_uuid(*agent);
    if (!agent) throw refusal(422, "agent_id must be a UUID");
  }
  const std::string list = "remembered_approvals:" + agent.value_or("");
  const std::optional<std::string> before = id_before(query, list);
  const caller requester = co_await caller_of(accounts_, request);
  ry::result<repository::page> page = co_await repo_.remembered_approvals(requester.id, agent, before, limit);
  co_return ry::response::json(200, page_json("remembered_approvals", list, page.value()));
}

ry::task<ry::response> approval_routes::revoke(ry::request request) {
  const std::string id = uuid_param(request.param("id"));
  const caller requester = co_await caller_of(accounts_, request);
  ry::result<bool> revoked = co_await repo_.revoke_remembered_approval(requester.id, id);
  if (!revoked.value()) throw refusal(404, "Remembered approval not found");
  co_return ry::response::empty();
}

ry::task<ry::response> approval_routes::decide(ry::request request) {
  const std::string id = uuid_param(request.param("id"));
  const caller requester = co_await caller_of(accounts_, request);
  co_return ry::response::json(200, co_await decide_json(requester.id, id, std::string(request.body())));
}

ry::task<std::string> approval_routes::tool_results_json(std::string account, std::string run, std::string body) const {
  const std::vector<client_result> results = read_result_body(body);
  ry::result<repository::results_outcome> stored_results = co_await repo_.put_tool_results(account, run, results);
  const repository::results_outcome& out = stored_results.value();
  if (out.outcome == "not_found") throw refusal(404, "Run not found");
  if (out.outcome != "ok")
    throw refusal(409, "tool_results[" + std::to_string(out.at - 1) + "]" +
                           (out.outcome == "conflict" ? ": the call already has another result"
                                                      : ".tool_call_id is not a call that waits for a result"));
  announce(run);
  co_return "{\"status\":\"accepted\"}";
}

ry::task<ry::response> approval_routes::tool_results(ry::request request) {
  const std::string id = uuid_param(request.param("id"));
  const caller requester = co_await caller_of(accounts_, request);
  co_return ry::response::json(200, co_await tool_results_json(requester.id, id, std::string(request.body())));
}

void approval_routes::announce(const std::string& run) const {
  ctx_.jobs().wake("runs");
  if (const auto id = ry::uuid::parse(run)) (void)ctx_.events().live_publish(topic_of(*id), 0, {}, 0);
}

ry::task<ry::job_outcome> approval_routes::expire(ry::job) {
  std::set<std::string> failed;
  for (;;) {
    // Those that failed come first again.
    const std::int64_t batch = due_batch + static_cast<std::int64_t>(failed.size());
    ry::result<std::vector<due_approval>> due = co_await repo_.due_approvals(batch);
    std::int64_t ended = 0;
    for (const due_approval& a : due.value()) {
      if (failed.contains(a.id)) continue;
      ry::result<approval_decision> made =
          co_await repo_.decide_approval(std::nullopt, a.id, "expired", std::nullopt, std::nullopt, "none", 0);
      if (!made) {
        ctx_.log_error("an approval could not be ended", made.error());  // must not prevent the end of the others
        failed.insert(a.id);
        continue;
      }
      ++ended;
      if (made->outcome != "ok") continue;
      announce(made->run_id);
      if (a.on_timeout != "stop") continue;
      try {
        (void)co_await stopper_.stop_run(a.account, a.run);
      } catch (const ry::error& e) {
        if (e.http_status() != 404) throw;  // the thread was deleted meanwhile
      }
    }
    if (ended == 0 || static_cast<std::int64_t>(due->size()) < batch) co_return ry::job_outcome::done();
  }
}

}  // namespace runs
