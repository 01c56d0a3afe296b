#include "cancellation.hpp"

#include <json/exact.hpp>
#include <json/members.hpp>

#include <boost/json/serialize.hpp>

namespace mcp_server {
namespace {

constexpr std::size_t max_key_bytes = 255;

// FNV-1a. A collision only affects requests of one client: the topic contains its account and session.
std::string hash_of(std::string_view text) {
  std::uint64_t h = 14695981039346656037u;
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 1099511628211u;
  std::string out;
  for (int shift = 56; shift >= 0; shift -= 8) ry::append_hex(out, static_cast<std::uint8_t>(h >> shift));
  return out;
}

}  // namespace

std::string cancel_topic(const ry::uuid& account, std::string_view session, const json::value& request_id) {
  if (session.empty() || request_id.is_null()) return {};
  return "mcp_server." + account.to_string() + "." + std::string(session) + "." +
         hash_of(std::string_view(json::serialize(request_id)));
}

std::string dismissal_topic(const ry::uuid& account, std::string_view run_id) {
  return "mcp_server.dismissed." + account.to_string() + "." + std::string(run_id);
}

std::string start_key(std::string_view session, const json::value& request_id) {
  if (session.empty()) return {};
  std::string key = "mcp:" + std::string(session) + ":" + std::string(json::serialize(request_id));
  return key.size() <= max_key_bytes ? key : std::string();
}

ry::subscription subscribe_cancel(const ry::context& ctx, const std::string& topic, ry_exec* exec,
                                  const ry::cancel_source& abort) {
  if (topic.empty()) return {};
  return ctx.events().live_subscribe(topic, exec, [abort](const ry::live_message& m) {
    // Cursor 0: the connection that delivers messages of other nodes was re-established.
    if (m.cursor != 0) abort.cancel(RY_REASON_USER);
  });
}

void publish_cancel(const ry::context& ctx, const std::string& topic) {
  if (!topic.empty()) ctx.events().live_publish(topic, 1, "cancelled");
}

namespace {

// Answers are cursors, because another node may get a message without its bytes, which are the decision with its reason.
constexpr std::uint64_t approved = 1, denied = 2, undecided = 3;

bool approves(const std::string& decision) {
  boost::system::error_code failed;
  const json::value v = module_json::parse_exactly(decision, 8, failed);
  const json::object* o = failed ? nullptr : v.if_object();
  return o != nullptr && module_json::text_at(*o, "decision") == "approve";
}

std::string answer_topic(const ry::uuid& account, const ry::uuid& call) {
  return "mcp_server.answer." + account.to_string() + "." + call.to_string();
}

}  // namespace

void publish_answer(const ry::context& ctx, const ry::uuid& account, const ry::uuid& call,
                    const std::optional<std::string>& decision) {
  const std::uint64_t answer = !decision ? undecided : approves(*decision) ? approved : denied;
  ctx.events().live_publish(answer_topic(account, call), answer, decision ? std::string_view(*decision) : "");
}

ry::subscription subscribe_answer(const ry::context& ctx, const ry::uuid& account, const ry::uuid& call, ry_exec* exec,
                                  std::function<void(std::optional<std::string>)> on_answer) {
  return ctx.events().live_subscribe(answer_topic(account, call), exec,
                                     [on_answer = std::move(on_answer)](const ry::live_message& m) {
                                       // Cursor 0: the connection to other nodes was re-established.
                                       if (m.cursor == approved) on_answer(R"({"decision":"approve"})");
                                       if (m.cursor == denied)
                                         on_answer(m.bytes.empty() ? R"({"decision":"deny"})" : std::string(m.bytes));
                                       if (m.cursor == undecided) on_answer(std::nullopt);
                                     });
}

}  // namespace mcp_server
