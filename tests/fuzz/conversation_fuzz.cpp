// JSON in the provider-neutral form and from models: arguments of calls, bodies of messages, complete requests. The
// requests built from it are valid JSON that all drivers accept.
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <ry/cpp/utf8.hpp>
#include <string>
#include <vector>

#include "check.hpp"
#include "modules/runs/agent/context.hpp"
#include "modules/runs/llm/anthropic/messages_request.hpp"
#include "modules/runs/llm/common/json_text.hpp"
#include "modules/runs/llm/common/request.hpp"
#include "modules/runs/llm/openai/chat_request.hpp"
#include "modules/runs/llm/openai/responses_request.hpp"
#include "modules/runs/run/conversation.hpp"
#include "modules/runs/run/loop_guard.hpp"
#include "modules/runs/text.hpp"

namespace {

namespace json = boost::json;

bool is_object(std::string_view text) {
  boost::system::error_code bad;
  const json::value v = json::parse(text, bad, {}, runs::body_options());
  return !bad && v.is_object();
}

// An arbitrary request in the neutral form.
void check_any_request(std::string_view text) {
  json::object request;
  try {
    request = llm::parse_request(text);
  } catch (const llm::bad_request&) {
    return;
  }
  using enum openai::dialect;
  anthropic::request_options a;
  a.extra_body = {{"thinking", {{"type", "enabled"}}}};
  try {
    for (const openai::dialect d : {compatible, openai, mistral, gemini}) {
      openai::request_options o = openai::options_of(d);
      o.send_reasoning = true;
      fuzz::check(is_object(openai::build_request(request, o).body), "a request is a JSON object");
      openai::responses_options r = openai::responses_options_of(d);
      r.provider = "p";
      fuzz::check(is_object(openai::build_responses_request(request, r, {}).body), "a request is a JSON object");
    }
    fuzz::check(is_object(anthropic::build_request(request, a).body), "a request is a JSON object");
  } catch (const llm::bad_request&) {
  }
}

// A conversation whose texts come from a model, a tool and a user.
void check_conversation(std::string_view input) {
  using namespace runs;
  std::vector<chat_message> messages;
  loop_guard guard;
  while (!input.empty() && messages.size() < 12) {
    const std::uint8_t kind = fuzz::take(input);
    const std::size_t length = fuzz::take(input);
    const std::size_t n = std::min(length, input.size());  // the length byte may exceed the remaining input
    const std::string_view text = input.substr(0, n);
    input.remove_prefix(n);
    const belongs run = kind & 0x80 ? belongs::to_an_earlier_run : belongs::to_this_run;
    switch (kind % 4) {
      case 0:
        messages.push_back({"user", user_body(text), run, 1});
        break;
      case 1:
        messages.push_back({"assistant", assistant_body(text, {}), run, 1});
        break;
      default: {
        std::vector<tool_call> calls;
        for (int i = 0; i <= kind % 3; ++i)
          calls.push_back(read_tool_call(i == 0 ? text.substr(0, 3) : "x", text.substr(0, 8), text, calls));
        for (const tool_call& call : calls) fuzz::check(is_object(call.arguments), "arguments are a JSON object");
        std::string body = assistant_body(text, calls);
        constexpr std::string_view thought =
            R"([{"driver":"anthropic","model":"m","type":"thinking","thinking":"t","signature":"s"}])";
        if (kind & 0x40) body = with_reasoning(std::move(body), thought);
        messages.push_back({"assistant", std::move(body), run, 1});
        for (const tool_call& call : calls) {
          if (kind & 0x20) continue;  // interrupted
          messages.push_back({"tool", tool_body(call, {std::string(text), false, {}}), run, 1});
          guard.note(call, text);
          (void)guard.judge(call, 2);
        }
      }
    }
  }
  for (const chat_message& m : messages) {
    fuzz::check(is_object(m.body), "a body is a JSON object");
    fuzz::check(m.body.find('\n') == std::string::npos, "a body has one line");
  }
  (void)decide(messages);
  guard.read(messages);
  constexpr std::int64_t max_tokens = 512;
  std::vector<chat_message> fitted = messages;
  fuzz::check(shorten_old(fitted, max_tokens) == estimate_tokens(fitted),
              "the returned estimate is that of the shortened messages");
  const std::size_t count = to_summarise(fitted, max_tokens);
  fuzz::check(count == 0 || (count < fitted.size() && fitted[count].role != "tool"),
              "a summary does not separate calls from their results");
  fuzz::check(is_object(summary_body(transcript(fitted, count, max_tokens), fitted, count, max_tokens)),
              "a summary is a JSON object");
  shorten_recent(fitted, max_tokens);
  const std::string request = build_request({"m", "be brief", "[]", 100}, fitted);
  if (messages.empty()) return;
  const json::object neutral = llm::parse_request(request);
  fuzz::check(is_object(openai::build_request(neutral, {}).body), "the Chat Completions request is a JSON object");
  fuzz::check(is_object(openai::build_responses_request(neutral, {}, {}).body),
              "the Responses request is a JSON object");
  fuzz::check(is_object(anthropic::build_request(neutral, {}).body), "the Messages request is a JSON object");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view input = fuzz::view(data, size);
  const std::uint8_t choice = fuzz::take(input);
  if (choice % 2 == 0) {
    check_any_request(input);
    (void)runs::content_of(input);
    (void)runs::calls_of(input);
  } else {
    check_conversation(input);
  }
  // The fast path for streamed strings agrees with the parser.
  if (llm::check_json_body(input)) {
    std::string decoded;
    boost::system::error_code bad;
    const json::value v = json::parse("\"" + std::string(input) + "\"", bad);
    if (llm::decode_json_body(input, decoded) && ry::is_utf8(input))
      fuzz::check(!bad && v.is_string() && std::string_view(v.get_string()) == decoded,
                  "a string is decoded in the same way as by the parser");
  }
  fuzz::check(is_object("{\"x\":" + runs::json_string(input) + "}"), "json_string() returns valid JSON for any bytes");
  return 0;
}
