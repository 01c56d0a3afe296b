// Streams of model providers: the event parser and the response parsers of all protocols. The result does not depend on
// how the response is split, and every response ends.
#include <boost/json/parse.hpp>
#include <memory>
#include <string>
#include <vector>

#include "check.hpp"
#include "modules/runs/llm/anthropic/messages_reader.hpp"
#include "modules/runs/llm/common/body_reader.hpp"
#include "modules/runs/llm/common/json_text.hpp"
#include "modules/runs/llm/common/retry_hint.hpp"
#include "modules/runs/llm/openai/chat_reader.hpp"
#include "modules/runs/llm/openai/responses_reader.hpp"

namespace {

struct recorder final : llm::receiver {
  std::string text_out, reasoning_out, calls, blocks;
  void text(std::string_view s) override {
    fuzz::check(!llm::with_valid_utf8(s), "text is UTF-8");
    text_out += s;
  }
  void reasoning(std::string_view s) override {
    fuzz::check(!llm::with_valid_utf8(s), "reasoning is UTF-8");
    reasoning_out += s;
  }
  void tool_call(std::string_view id, std::string_view name, std::string_view arguments) override {
    fuzz::check(!id.empty() && !name.empty(), "a call has an id and a name");
    fuzz::check(!llm::with_valid_utf8(arguments), "arguments are UTF-8");
    calls.append(id).append("|").append(name).append("|").append(arguments).append(";");
  }
  void reasoning_block(std::string_view json) override {
    boost::system::error_code bad;
    const auto v = boost::json::parse(json, bad);
    fuzz::check(!bad && v.is_object(), "a block is a JSON object");
    fuzz::check(json.find('\n') == std::string_view::npos, "a block has one line");
    blocks.append(json).append(";");
  }
};

struct outcome {
  recorder received;
  bool fits = true, failed = false;
  std::int32_t finish = 0, status = 0;
  llm::usage used;
};

outcome read(llm::answer_reader& reader, std::string_view bytes, std::uint32_t seed) {
  outcome out;
  llm::body_reader body(64 * 1024);
  const auto feed = [&](std::string_view piece) {
    out.fits = body.feed(piece, reader, out.received, [] { return true; });
    return out.fits && !reader.ended();
  };
  if (seed == 0)
    feed(bytes);
  else
    fuzz::in_pieces(bytes, seed, feed);
  body.closed(reader, out.received);
  fuzz::check(reader.ended(), "closed() ends the response");
  out.failed = reader.failed().has_value();
  if (out.failed) {
    out.status = reader.failed()->status;
    fuzz::check(out.status != 0 && !reader.failed()->reason.empty(), "a failure has a status and a reason");
  }
  out.finish = reader.finish();
  out.used = reader.used();
  fuzz::check(out.used.input >= 0 && out.used.output >= 0 && out.used.cached >= 0, "no negative usage");
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view input = fuzz::view(data, size);
  const std::uint8_t choice = fuzz::take(input);
  const std::uint32_t seed = choice / 2 + 1u;
  const auto make = [&]() -> std::unique_ptr<llm::answer_reader> {
    using refusals = openai::reasoning_refusals;
    if (choice >= 192)
      return std::make_unique<openai::responses_reader>(openai::reasoning_origin{"p", "m"},
                                                        std::make_shared<refusals>(), std::vector<refusals::mark>{1});
    if (choice % 2 == 0) return std::make_unique<openai::chat_reader>("m", choice % 4 == 0);
    return std::make_unique<anthropic::messages_reader>("m");
  };
  const auto one = make(), two = make();
  const outcome a = read(*one, input, 0), b = read(*two, input, seed);
  fuzz::check(a.fits == b.fits, "the limit does not depend on how the input is split");
  if (a.fits) {
    fuzz::check(a.received.text_out == b.received.text_out, "the text does not depend on how the input is split");
    fuzz::check(a.received.reasoning_out == b.received.reasoning_out,
                "the reasoning does not depend on how the input is split");
    fuzz::check(a.received.calls == b.received.calls, "the calls do not depend on how the input is split");
    fuzz::check(a.received.blocks == b.received.blocks, "the blocks do not depend on how the input is split");
    fuzz::check(a.failed == b.failed && a.status == b.status && a.finish == b.finish,
                "the outcome does not depend on how the input is split");
    fuzz::check(a.used.input == b.used.input && a.used.output == b.used.output,
                "the usage does not depend on how the input is split");
  }
  // The same bytes as the body of an error response.
  const llm::failure error = make()->refused(400 + choice, input);
  fuzz::check(error.status != 0, "an error response is a failure");
  (void)llm::presentable(error.message, {"sk-secret"});
  (void)llm::retry_after(input, 784111777);
  return 0;
}
