#include "results.hpp"

#include <json/exact.hpp>
#include <json/members.hpp>

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <ry/cpp/utf8.hpp>

#include "elicitation.hpp"

namespace mcp_server {
namespace {

using module_json::text_at;
using module_json::text_of;

constexpr std::int64_t poll_interval_ms = 2000;
constexpr std::int64_t discover_ttl_ms = 3'600'000;
constexpr std::string_view truncation_note =
    "\n[The answer is longer. Its complete text is in the messages of the thread.]";
constexpr std::string_view instructions =
    "Each tool except get_run and stop_run is an agent that works autonomously and returns its final answer. Its calls "
    "may take minutes. To continue a conversation with an agent, pass the thread_id of its last result.";

constexpr std::string_view servers_instructions =
    "The tools of several MCP servers; the name of a tool begins with the name of its server. The operator decides which "
    "calls are made, need an approval of the user, or are denied.";

std::string_view instructions_of(offer what) {
  return what == offer::agents ? instructions : servers_instructions;
}

json::array text_content(std::initializer_list<std::string_view> texts) {
  json::array out;
  for (const auto text : texts) {
    if (text.empty()) continue;
    json::object part;
    part["type"] = "text";
    part["text"] = jv(text);
    out.push_back(std::move(part));
  }
  return out;
}

std::string text_of_content(const json::object& message) {
  const json::array* parts = module_json::array_at(message, "content");
  if (parts == nullptr) return text_of(message, "content");
  std::string out;
  for (const json::value& part : *parts) {
    const json::object* o = part.if_object();
    if (o != nullptr && text_at(*o, "type") == "text") out += text_at(*o, "text");
  }
  return out;
}

json::object structured(const run_info& run, std::string_view text) {
  json::object o;
  o["run_id"] = jv(run.id);
  o["thread_id"] = jv(run.thread_id);
  o["status"] = jv(run.status);
  o["text"] = jv(text);
  if (!run.error.empty()) o["error"] = jv(run.error);
  if (!run.error_code.empty()) o["error_code"] = jv(run.error_code);
  if (!run.waiting_for.empty()) o["waiting_for"] = run.waiting_for;
  return o;
}

std::string describe(const run_info& run) {
  if (run.status == "failed") {
    std::string out = "The run failed: " + run.error;
    if (!run.error_code.empty()) out += " (" + run.error_code + ")";
    return out;
  }
  if (run.status == "stopped") return "The run was stopped.";
  if (run.status == "completed") return "The run has completed without an answer.";
  if (!run.waiting_for.empty()) return waiting_text(run);
  if (run.queue_position > 0)
    return "The run waits in the queue at position " + std::to_string(run.queue_position) + ".";
  return "The run is in progress.";
}

std::uint32_t http_status_of(const ry::error& e) {
  if (e.http_status() != 0) return e.http_status();
  switch (e.status()) {
    case RY_INVALID_ARGUMENT:
    case RY_OUT_OF_RANGE:
      return 400;
    case RY_UNAUTHENTICATED:
      return 401;
    case RY_PERMISSION_DENIED:
      return 403;
    case RY_NOT_FOUND:
      return 404;
    case RY_ALREADY_EXISTS:
    case RY_ABORTED:
    case RY_FAILED_PRECONDITION:
      return 409;
    case RY_RESOURCE_EXHAUSTED:
      return 429;
    case RY_UNAVAILABLE:
    case RY_CANCELLED:
    case RY_DEADLINE_EXCEEDED:
      return 503;
    default:
      return 500;
  }
}

// The member error_code of the error's detail.
std::string code_in_detail(const ry::error& e) {
  if (e.detail_json().empty()) return {};
  boost::system::error_code failed;
  const json::value v = module_json::parse_exactly(e.detail_json(), 32, failed);
  return !failed && v.is_object() ? text_of(v.get_object(), "error_code") : std::string();
}

json::object task(const run_info& run) {
  json::object o;
  o["taskId"] = jv(run.id);
  o["statusMessage"] = jv(describe(run));
  o["createdAt"] = jv(run.started_at);
  o["lastUpdatedAt"] = jv(run.completed_at.empty() ? run.started_at : run.completed_at);
  return o;
}

const char* running_status(const run_info& run, bool elicits) {
  const bool asks = std::any_of(run.waiting_for.begin(), run.waiting_for.end(), [](const json::value& v) {
    return v.is_object() && text_at(v.get_object(), "type") == "approval" && is_call_approval(v.get_object());
  });
  return elicits && asks ? "input_required" : "working";
}

}  // namespace

run_info read_run(std::string_view text) {
  boost::system::error_code failed;
  const json::value v = module_json::parse_exactly(text, max_service_json_depth, failed);
  if (failed || !v.is_object()) throw ry::internal("mcp_server.run", "runs/1 returned a run that is not a JSON object");
  return read_run(v.get_object());
}

run_info read_run(const json::object& o) {
  run_info out;
  out.id = text_of(o, "agent_run_id");
  out.thread_id = text_of(o, "thread_id");
  out.status = text_of(o, "status");
  out.error = text_of(o, "error");
  out.error_code = text_of(o, "error_code");
  out.started_at = text_of(o, "started_at");
  out.completed_at = text_of(o, "completed_at");
  out.agent_id = text_of(o, "agent_id");
  if (const json::array* waiting = module_json::array_at(o, "waiting_for")) out.waiting_for = *waiting;
  out.queue_position = module_json::integer_at(o, "queue_position");
  return out;
}

bool final_answer::add(const json::object& message) {
  if (text_at(message, "agent_run_id") != run_id_) return begun_;
  if (text_at(message, "role") != "assistant") return true;
  if (begun_) {
    const auto finish = text_at(message, "finish");
    if (finish != "length" && finish != "pause") return true;
  }
  begun_ = true;
  text_.insert(0, text_of_content(message));
  return false;
}

std::string final_answer::text() const {
  if (text_.size() <= max_answer_bytes) return text_;
  const auto head = std::string_view(text_).substr(0, max_answer_bytes - truncation_note.size());
  return std::string(head.substr(0, ry::whole_characters(head))).append(truncation_note);
}

json::object call_result(const run_info& run, std::string_view text, outcome what, revision rev) {
  const bool completed = run.status == "completed";
  const std::string about = completed && !text.empty() ? std::string() : describe(run);
  json::object o;
  o["content"] = text_content({text, about});
  if (rev >= revision::v2025_06_18) o["structuredContent"] = structured(run, text);
  o["isError"] = what == outcome::of_agent && !completed;
  return o;
}

json::object refused_result(std::string_view text) {
  json::object o;
  o["content"] = text_content({text});
  o["isError"] = true;
  return o;
}

json::object interrupted_result(const run_info& run, revision rev) {
  json::object o;
  o["content"] = text_content({"The server restarts. The run " + run.id +
                               " continues; get its answer later with the tool " + std::string("get_run") + "."});
  if (rev >= revision::v2025_06_18) o["structuredContent"] = structured(run, {});
  o["isError"] = true;
  return o;
}

std::string waiting_text(const run_info& run) {
  std::string out = "The run " + run.id + " waits:";
  for (const json::value& v : run.waiting_for) {
    const json::object* o = v.if_object();
    if (o == nullptr) continue;
    const std::string name = clipped(text_at(*o, "name"), 100);
    if (text_at(*o, "type") == "tool_result") {
      out += " the client that started it has to return the result of the tool " + name + ".";
      continue;
    }
    out += " the call of the tool " + name + " needs the approval " + text_of(*o, "approval_id") + ".";
  }
  return out +
         " Approvals are decided with POST /approvals/{id} or with the link in a notification, and not by the caller "
         "of this tool. The run continues afterwards; get its answer with the tool get_run.";
}

json::object waiting_result(const run_info& run, revision rev) {
  json::object o;
  o["content"] = text_content({waiting_text(run)});
  if (rev >= revision::v2025_06_18) o["structuredContent"] = structured(run, {});
  o["isError"] = true;
  return o;
}

std::optional<std::string> refusal(const ry::error& e) {
  const std::uint32_t status = http_status_of(e);
  if (status >= 500 && status != 503 && status != 507) return std::nullopt;
  const std::string code = code_in_detail(e);
  // Messages of errors that no client caused may contain internals.
  const bool own_text = status < 500 || !code.empty();
  std::string out = own_text ? std::string(e.message()) : "The server cannot start the run at the moment";
  if (!code.empty()) out += " (" + code + ")";
  if (e.retry_after_s() != 0) out += ". Try again in " + std::to_string(e.retry_after_s()) + " s";
  return out;
}

rpc_error as_rpc_error(const ry::error& e) {
  const std::uint32_t status = http_status_of(e);
  const std::string text = status < 500    ? std::string(e.message())
                           : status == 503 ? "The server is not available at the moment"
                                           : "Internal error";
  return rpc_error(rpc_code::internal_error, text, status).with_retry_after(e.retry_after_s());
}

json::object task_2025(const run_info& run, bool elicits) {
  json::object o = task(run);
  o["status"] = run.status == "running"     ? running_status(run, elicits)
                : run.status == "completed" ? "completed"
                : run.status == "stopped"   ? "cancelled"
                                            : "failed";
  o["ttl"] = nullptr;
  o["pollInterval"] = poll_interval_ms;
  return o;
}

json::object task_2026(const run_info& run, bool elicits) {
  json::object o = task(run);
  // "failed" is reserved for JSON-RPC errors: a failed run is a completed task whose result has isError.
  o["status"] = run.status == "running"   ? running_status(run, elicits)
                : run.status == "stopped" ? "cancelled"
                                          : "completed";
  o["ttlMs"] = nullptr;
  o["pollIntervalMs"] = poll_interval_ms;
  return o;
}

json::object task_page(std::string_view runs, bool elicits) {
  boost::system::error_code failed;
  const json::value v = module_json::parse_exactly(runs, max_service_json_depth, failed);
  if (failed || !v.is_object()) throw ry::internal("mcp_server.runs", "runs/1 returned an invalid page");
  json::array tasks;
  if (const json::array* all = module_json::array_at(v.get_object(), "agent_runs")) {
    for (const json::value& each : *all) {
      if (each.is_object()) tasks.push_back(task_2025(read_run(each.get_object()), elicits));
    }
  }
  json::object o;
  o["tasks"] = std::move(tasks);
  const auto next = text_at(v.get_object(), "next_cursor");
  if (!next.empty()) o["nextCursor"] = jv(next);
  return o;
}

json::object implementation(const server_info& s, revision rev) {
  json::object o;
  o["name"] = "runyard";
  if (rev >= revision::v2025_06_18) o["title"] = jv(s.title);
  o["version"] = jv(s.version);
  return o;
}

json::object complete_result(json::object result, const client& c, const server_info& s, std::string_view type) {
  if (!c.stateless()) return result;
  result["resultType"] = jv(type);
  json::object meta;
  meta["io.modelcontextprotocol/serverInfo"] = implementation(s, c.rev);
  result["_meta"] = std::move(meta);
  return result;
}

json::object initialize_result(revision rev, const server_info& s, offer what) {
  json::object capabilities;
  capabilities["tools"] = json::object();
  if (rev == revision::v2025_11_25 && what == offer::agents) {
    json::object tools;
    tools["call"] = json::object();
    json::object requests;
    requests["tools"] = std::move(tools);
    json::object tasks;
    tasks["list"] = json::object();
    tasks["cancel"] = json::object();
    tasks["requests"] = std::move(requests);
    capabilities["tasks"] = std::move(tasks);
  }
  json::object o;
  o["protocolVersion"] = jv(name_of(rev));
  o["capabilities"] = std::move(capabilities);
  o["serverInfo"] = implementation(s, rev);
  o["instructions"] = jv(instructions_of(what));
  return o;
}

json::object discover_result(offer what) {
  json::array versions;
  for (const auto name : revision_names) versions.push_back(json::string(jv(name)));
  json::object capabilities;
  capabilities["tools"] = json::object();
  if (what == offer::agents) {
    json::object extensions;
    extensions["io.modelcontextprotocol/tasks"] = json::object();
    capabilities["extensions"] = std::move(extensions);
  }
  json::object o;
  o["supportedVersions"] = std::move(versions);
  o["capabilities"] = std::move(capabilities);
  o["instructions"] = jv(instructions_of(what));
  o["ttlMs"] = discover_ttl_ms;
  o["cacheScope"] = "private";
  return o;
}

}  // namespace mcp_server
