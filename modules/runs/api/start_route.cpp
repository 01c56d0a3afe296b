#include "api/start_route.hpp"

#include <boost/json.hpp>
#include <ry/cpp/text.hpp>
#include <ry/cpp/utf8.hpp>

#include "api/start_form.hpp"
#include "error_response.hpp"
#include "module_context.hpp"
#include "text.hpp"
#include "workspace/upload_parser.hpp"

namespace runs {
namespace {

constexpr std::uint32_t retry_after_s = 5;  // of a transient error, for example if the database is unavailable
constexpr std::uint64_t max_field_bytes = 1 << 20;
constexpr std::uint32_t max_parts = 1000;

// A member of the host's {"message", "limit", "field"}.
std::string member_of(const boost::json::object& o, std::string_view key) {
  const boost::json::value* v = o.if_contains(key);
  if (v == nullptr) return {};
  if (v->is_string()) return std::string(v->as_string());
  return v->is_number() ? std::to_string(v->to_number<std::uint64_t>()) : std::string();
}

[[noreturn]] void reject_total_size(std::int64_t limit) {
  const std::string sentence =
      "The files of a start must not exceed " + size_text(static_cast<std::uint64_t>(limit)) + " in total";
  refuse_upload(limit, sentence);
}

enum class body_kind { none, some };

// Converts the host's errors about exceeded form limits to the errors of the API contract.
[[noreturn]] void throw_form_error(const ry::error& e, const ry_tier_view& tier, const ry_form_limits& limits,
                                   body_kind body) {
  if (e.is("http.form_file_too_large")) {
    const std::string sentence = "A file is larger than your plan allows (" +
                                 size_text(static_cast<std::uint64_t>(tier.upload_file_bytes)) + ")";
    refuse_upload(tier.upload_file_bytes, sentence);
  }
  if (e.is("http.form_too_many_files")) {
    const std::string sentence = "Too many files: your plan allows " + std::to_string(tier.upload_files) + " per start";
    refuse_upload(tier.upload_files, sentence);
  }
  if (e.is("http.form_too_many_parts"))
    throw refusal(400, "The form has too many parts: at most " + std::to_string(limits.max_parts) + " are allowed");
  if (e.is("http.form_too_large")) {
    boost::system::error_code bad;
    const boost::json::value error_detail = boost::json::parse(std::string(e.detail_json()), bad);
    const auto none = boost::json::object();
    const boost::json::object& o = !bad && error_detail.is_object() ? error_detail.as_object() : none;
    const std::string limit = member_of(o, "limit"), field = member_of(o, "field");
    if (limit == std::to_string(limits.max_total_bytes))
      reject_total_size(static_cast<std::int64_t>(limits.max_total_bytes));
    if (limit != std::to_string(limits.max_value_bytes))
      throw refusal(400, "The fields of the form are too long in total; the limit was exceeded in " +
                             (field.empty() ? "the last field" : field.substr(0, 100)) + ": at most " +
                             size_text(static_cast<std::uint64_t>(parse_int(limit).value_or(0))));
    throw refusal(400, (field.empty() ? "A field" : field.substr(0, 100)) + " is too long: at most " +
                           size_text(limits.max_value_bytes));
  }
  // A body that is not a form contains no prompt. An empty body needs no content type.
  if (e.is("http.form_malformed") && e.http_status() == 415) {
    const std::string sentence = "prompt required when creating new thread";
    if (body == body_kind::none) throw refusal(400, sentence);
    throw refusal(400, sentence + ": " + std::string(e.message()));
  }
  if (e.status() == RY_INVALID_ARGUMENT && e.http_status() == 0) throw refusal(400, std::string(e.message()));
  throw e;
}

}  // namespace

ry::task<void> start_route::serve(ry::request request) {
  try {
    const ry::response out = co_await create_response(request);
    request.respond(out);
  } catch (const ry::error& e) {
    const ry_status st = e.status();
    if (st == RY_CANCELLED && request.cancel().why() == RY_REASON_SHUTDOWN)
      throw refusal(503, "The server is stopping");
    const bool is_server_fault = st == RY_INTERNAL || st == RY_UNKNOWN || st == RY_UNAVAILABLE || st == RY_ABORTED ||
                                 st == RY_DEADLINE_EXCEEDED || st == RY_DATA_LOSS;
    if (e.http_status() != 0 || !is_server_fault) throw;
    context_.ctx.log_error("a run could not be started", e);
    // Uses fail(), because the host hides the message of a thrown internal error from the client.
    const bool is_transient = st == RY_UNAVAILABLE || st == RY_ABORTED || st == RY_DEADLINE_EXCEEDED;
    if (is_transient) {
      const std::string sentence = "Failed to start agent: a part of the server does not respond; try again later";
      request.fail(refusal(503, sentence, json_string(sentence)).with_retry_after(retry_after_s));
    } else {
      const std::string sentence = "Failed to start agent: internal error";
      request.fail(refusal(500, sentence, json_string(sentence)));
    }
  }
}

ry::task<ry::response> start_route::create_response(ry::request request) {
  const std::int64_t started_us = context_.ctx.mono_us();
  run_starter::order order;
  order.exec = request.exec();
  order.requester = co_await caller_of(context_.accounts, request);
  if (const std::string_view key = request.header("Idempotency-Key"); !key.empty()) {
    if (key.size() > 255 || !ry::is_utf8(key)) throw refusal(400, "Idempotency-Key must be UTF-8 of at most 255 bytes");
    order.key = std::string(key);
  }
  co_await starter_.check_room(order.requester, order.key);  // before the files are read
  ry_form_limits limits{};
  limits.max_files = static_cast<std::uint32_t>(order.requester.tier->upload_files);
  limits.max_file_bytes = static_cast<std::uint64_t>(order.requester.tier->upload_file_bytes);
  limits.max_total_bytes = static_cast<std::uint64_t>(context_.config.upload_total_bytes);
  limits.max_value_bytes = max_field_bytes;
  limits.max_parts = max_parts;
  if (const auto length = parse_int(request.header("Content-Length"));
      length && *length > context_.config.upload_total_bytes)
    reject_total_size(context_.config.upload_total_bytes);
  ry::result<ry::form> form = co_await request.read_form(limits);
  if (!form) {
    const bool has_body =
        !request.header("Transfer-Encoding").empty() || parse_int(request.header("Content-Length")).value_or(0) != 0;
    throw_form_error(form.error(), *order.requester.tier, limits, has_body ? body_kind::some : body_kind::none);
  }

  for (const ry::form_part& part : form->parts()) {
    if (!part.is_file)
      order.fields.push_back({part.name, part.value});
    else if (is_start_field(part.name))
      throw refusal(400, std::string(part.name) + " must not be a file");
    else if (!part.filename.empty() || part.size != 0)  // browsers send an empty part if no file is selected
      order.files.push_back(part);
  }
  auto parsed = parse_start(order.fields);
  if (auto* refused = std::get_if<form_refusal>(&parsed)) throw refusal(refused->http_status, refused->detail);
  order.form = std::move(std::get<start_request>(parsed));
  const std::uint32_t role = order.requester.role;
  const run_starter::started started = co_await starter_.start(std::move(order));
  const start_result& run = started.run;

  const std::int64_t elapsed_us = context_.ctx.mono_us() - started_us;
  std::string body = "{\"thread_id\":\"" + run.thread_id + "\",\"agent_run_id\":\"" + run.run_id +
                     "\",\"project_id\":\"" + run.project_id + "\"";
  if (!run.sandbox_id.empty()) body += ",\"sandbox_id\":\"" + run.sandbox_id + "\"";
  body += ",\"status\":\"running\"";
  if (!run.message_id.empty()) body += ",\"steered\":true,\"message_id\":\"" + run.message_id + "\"";
  if (!started.queue_position.empty()) body += ",\"queue_position\":" + started.queue_position;
  if (role == RY_ROLE_SUPER_ADMIN && ry::lower_ascii(trim(request.header("X-Emit-Timing"))) == "true")
    body += ",\"timing_breakdown\":{\"setup_ms\":" + milliseconds_text(elapsed_us) + "}";
  body += "}";
  ry::response out = ry::response::json(200, std::move(body));
  out.header("Server-Timing", "setup;dur=" + milliseconds_text(elapsed_us));
  if (run.outcome == start_outcome::replay) out.header("Idempotency-Replayed", "true");
  co_return out;
}

}  // namespace runs
