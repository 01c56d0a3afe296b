// Server-sent events in both readers: of model providers, and of the SDK, which MCP transports and the command line use. The
// result does not depend on how the bytes are split; for input that follows the standard (WHATWG HTML, 9.2.6), both agree.
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

stream read_llm(std::string_view bytes, std::uint32_t seed, std::size_t most) {
  stream out;
  llm::sse_reader reader(most);
  const auto take = [&](std::string_view name, std::string_view data) {
    out.names.emplace_back(name);
    out.data.emplace_back(data);
    fuzz::promise(data.size() <= most, "an event obeys its limit");
    return true;
  };
  feed_all(bytes, seed, [&](std::string_view piece) { return out.fits = reader.feed(piece, take); });
  if (out.fits) reader.finish(take);
  fuzz::promise(reader.count() == out.data.size(), "events are counted");
  return out;
}

stream read_sdk(std::string_view bytes, std::uint32_t seed, std::size_t most) {
  stream out;
  ry::sse_parser reader(most);
  feed_all(bytes, seed, [&](std::string_view piece) {
    return out.fits = reader.feed(piece, [&](std::string_view name, std::string_view data) {
      fuzz::promise(!data.empty() && data.size() <= most, "an event has data and obeys its limit");
      fuzz::promise(data.find('\r') == data.npos, "an end of a line is a line feed");
      out.names.emplace_back(name);
      out.data.emplace_back(data);
    });
  });
  out.last_id = reader.last_id();
  fuzz::promise(out.last_id.find_first_of(std::string_view("\0\r\n", 3)) == out.last_id.npos,
                "an id is a valid header value");
  return out;
}

// Extensions of the reader for model providers.
bool has_extensions(std::string_view bytes) {
  return bytes.find("error:") != bytes.npos || bytes.find('{') != bytes.npos;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view input = fuzz::view(data, size);
  const std::uint32_t seed = fuzz::take(input) + 1u;
  for (const std::size_t most : {max_event, std::size_t{1} << 20}) {
    fuzz::promise(read_llm(input, 0, most) == read_llm(input, seed, most),
                  "the reader for providers gives the same for any split");
    fuzz::promise(read_sdk(input, 0, most) == read_sdk(input, seed, most),
                  "the reader of the SDK gives the same for any split");
  }
  const stream sdk = read_sdk(input, 0, 1 << 20);
  // finish() hands out an event without its end; the standard drops it.
  if (has_extensions(input) || !(input.ends_with("\n\n") || input.ends_with("\r\r") || input.ends_with("\r\n\r\n")))
    return 0;
  stream llm = read_llm(input, 0, 1 << 20);
  std::erase(llm.data, "");  // an event with empty data only sets the id
  fuzz::promise(llm.data == sdk.data, "both readers find the same events");
  return 0;
}
