// Server-sent events in both parsers: that of model providers, and that of the SDK, which MCP transports and the CLI
// use. The result does not depend on how the bytes are split; for input that follows the standard (WHATWG HTML, 9.2.6),
// both agree.
#include <ry/cpp/sse_parser.hpp>
#include <string>
#include <vector>

#include "check.hpp"
#include "modules/runs/llm/common/sse.hpp"

namespace {

constexpr std::size_t max_event = 64;

struct stream {
  bool fits = true;
  std::vector<std::string> names, data;
  std::string last_id;
  bool operator==(const stream&) const = default;
};

template <class Feed>
void feed_all(std::string_view bytes, std::uint32_t seed, Feed&& feed) {
  if (seed == 0)
    feed(bytes);
  else
    fuzz::in_pieces(bytes, seed, feed);
}

stream read_llm(std::string_view bytes, std::uint32_t seed, std::size_t event_limit) {
  stream out;
  llm::sse_reader reader(event_limit);
  const auto take = [&](std::string_view name, std::string_view data) {
    out.names.emplace_back(name);
    out.data.emplace_back(data);
    fuzz::check(data.size() <= event_limit, "an event obeys its limit");
    return true;
  };
  feed_all(bytes, seed, [&](std::string_view piece) { return out.fits = reader.feed(piece, take); });
  if (out.fits) reader.finish(take);
  fuzz::check(reader.count() == out.data.size(), "events are counted");
  return out;
}

stream read_sdk(std::string_view bytes, std::uint32_t seed, std::size_t event_limit) {
  stream out;
  ry::sse_parser reader(event_limit);
  feed_all(bytes, seed, [&](std::string_view piece) {
    return out.fits = reader.feed(piece, [&](std::string_view name, std::string_view data) {
      fuzz::check(!data.empty() && data.size() <= event_limit, "an event has data and obeys its limit");
      fuzz::check(data.find('\r') == data.npos, "line endings are normalised to line feeds");
      out.names.emplace_back(name);
      out.data.emplace_back(data);
    });
  });
  out.last_id = reader.last_id();
  fuzz::check(out.last_id.find_first_of(std::string_view("\0\r\n", 3)) == out.last_id.npos,
              "an id is a valid header value");
  return out;
}

// Extensions of the parser for model providers.
bool has_extensions(std::string_view bytes) {
  return bytes.find("error:") != bytes.npos || bytes.find('{') != bytes.npos;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view input = fuzz::view(data, size);
  const std::uint32_t seed = fuzz::take(input) + 1u;
  for (const std::size_t event_limit : {max_event, std::size_t{1} << 20}) {
    fuzz::check(read_llm(input, 0, event_limit) == read_llm(input, seed, event_limit),
                "the result of the provider parser does not depend on how the input is split");
    fuzz::check(read_sdk(input, 0, event_limit) == read_sdk(input, seed, event_limit),
                "the result of the SDK parser does not depend on how the input is split");
  }
  const stream sdk = read_sdk(input, 0, 1 << 20);
  // finish() outputs an event without its terminating empty line; the standard drops it.
  if (has_extensions(input) || !(input.ends_with("\n\n") || input.ends_with("\r\r") || input.ends_with("\r\n\r\n")))
    return 0;
  stream llm = read_llm(input, 0, 1 << 20);
  std::erase(llm.data, "");  // an event with empty data only sets the id
  fuzz::check(llm.data == sdk.data, "both parsers find the same events");
  return 0;
}
