// Data from MCP servers: event streams, JSON-RPC messages and their contents. The events do not depend on how a stream
// is split; any message yields valid JSON within the size limits.
#include <boost/json/parse.hpp>
#include <ry/cpp/sse_parser.hpp>
#include <string>
#include <vector>

#include "check.hpp"
#include "modules/mcp/elicitation.hpp"
#include "modules/mcp/progress.hpp"
#include "modules/mcp/protocol_revision.hpp"
#include "modules/mcp/result.hpp"
#include "modules/mcp/rpc.hpp"
#include "modules/mcp/schema.hpp"
#include "modules/mcp/tool.hpp"
#include "ry/cpp/types.hpp"

namespace {

constexpr std::size_t max_event = 16 * 1024;
constexpr std::size_t max_result = 4 * 1024;

struct stream {
  bool fits = true;
  std::vector<std::string> events;
  std::string last_id;
};

stream read(std::string_view bytes, std::uint32_t seed) {
  stream out;
  ry::sse_parser reader(max_event);
  const auto feed = [&](std::string_view piece) {
    out.fits = reader.feed(piece, [&](std::string_view name, std::string_view data) {
      fuzz::check(!data.empty(), "an event has data");
      out.events.push_back(std::string(name) + "\n" + std::string(data));
    });
    return out.fits;
  };
  if (seed == 0)
    feed(bytes);
  else
    fuzz::in_pieces(bytes, seed, feed);
  out.last_id = reader.last_id();
  return out;
}

void expect_json_object(std::string_view text, const char* property) {
  boost::system::error_code bad;
  const auto v = boost::json::parse(text, bad, {}, {.max_depth = 256});
  fuzz::check(!bad && v.is_object(), property);
}

void exercise_result(const mcp::json::value& body) {
  const auto result = mcp::result_json(body, max_result);
  expect_json_object(result, "a result is a JSON object");
  expect_json_object(mcp::with_note(result, "A note."), "a result with a note is a JSON object");
  (void)mcp::responses_to(body);
  (void)mcp::offered_revisions(body);
  (void)mcp::detect_revision({true, false, body, 200});
  mcp::tool_collector tools({.tools = 16, .pages = 4, .tool_bytes = 4096, .list_bytes = 64 * 1024});
  try {
    (void)tools.add_page(body);
    (void)tools.add_page(body);
  } catch (const ry::error&) {
    return;
  }
  const auto list = tools.finish();
  fuzz::check(list.tools.size() <= 16, "no more tools than allowed");
  for (const auto& t : list.tools) {
    fuzz::check(list.find(t.name) != nullptr, "a tool is found by its name");
    (void)mcp::validate(t.parameters, body);
    (void)mcp::validate(t.output_schema, body);
    if (const auto* arguments = body.if_object()) (void)mcp::mirror_arguments(t.mirrored, *arguments);
  }
}

void exercise_messages(std::string_view text) {
  std::vector<mcp::incoming> messages;
  try {
    messages = mcp::read_messages(text);
  } catch (const ry::error& e) {
    fuzz::check(!std::string_view(e.what()).empty(), "an error has a message");
    return;
  }
  for (const auto& m : messages) {
    switch (m.kind) {
      case mcp::message_kind::result:
        exercise_result(m.body);
        break;
      case mcp::message_kind::failure:
        (void)mcp::code_of(m.body);
        expect_json_object(mcp::error_json(mcp::message_of(m.body)), "an error is a JSON object");
        (void)mcp::detect_revision({true, true, m.body, 400});
        break;
      case mcp::message_kind::request:
        expect_json_object(mcp::failure_text(m.peer_id, -32601, "unknown method"), "a response is a JSON object");
        break;
      case mcp::message_kind::notification:
        if (const auto* params = m.body.if_object()) {
          mcp::progress_tracker mark;
          (void)mark.advances(*params);
          fuzz::check(!mark.advances(*params), "repeated progress does not advance");
          (void)mcp::progress_line(*params);
        }
        break;
      case mcp::message_kind::invalid:
        break;
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view input = fuzz::view(data, size);
  const std::uint8_t choice = fuzz::take(input);
  if (choice % 2 == 1) {  // a line of a local program, or a body without a stream
    exercise_messages(input);
    return 0;
  }
  const stream one = read(input, 0), two = read(input, choice + 1u);
  fuzz::check(one.fits == two.fits, "the limit does not depend on how the input is split");
  if (!one.fits) return 0;
  fuzz::check(one.events == two.events, "the events do not depend on how the input is split");
  fuzz::check(one.last_id == two.last_id, "the last id does not depend on how the input is split");
  for (const auto& e : one.events) exercise_messages(std::string_view(e).substr(e.find('\n') + 1));
  return 0;
}
