// multipart/form-data: the parts do not depend on how the body is split, and the parser outputs only bytes that were
// sent.
#include <string>

#include "check.hpp"
#include "core/http/multipart.hpp"

namespace {

using namespace ry::http::serving;

struct recorder final : multipart_parser::sink {
  std::string seen;
  std::size_t bytes = 0;
  bool open = false;
  bool part_begin(const multipart_parser::part_head& head) override {
    fuzz::check(!open, "a part does not begin inside another part");
    open = true;
    seen +=
        "<" + head.name + "|" + head.filename + "|" + head.content_type + "|" + (head.is_file ? "file" : "field") + ">";
    return true;
  }
  bool part_data(std::string_view data) override {
    fuzz::check(open, "data is inside a part");
    seen += data;
    bytes += data.size();
    return true;
  }
  bool part_end() override {
    fuzz::check(open, "only an open part ends");
    open = false;
    seen += "</>";
    return true;
  }
};

multipart_parser::state parse(std::string_view boundary, std::string_view body, recorder& to, std::uint32_t seed) {
  multipart_parser p(boundary, to);
  auto state = multipart_parser::state::more;
  const auto feed = [&](std::string_view piece) {
    state = p.feed(piece);
    return state == multipart_parser::state::more;
  };
  if (seed == 0)
    feed(body);
  else
    fuzz::in_pieces(body, seed, feed);
  if (state == multipart_parser::state::more) state = p.finish();
  fuzz::check(state != multipart_parser::state::more, "finish() returns a final state");
  fuzz::check(state != multipart_parser::state::malformed || *p.error() != 0, "an error has a message");
  return state;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view input = fuzz::view(data, size);
  const std::uint32_t seed = fuzz::take(input) + 1u;
  // The first line is the Content-Type, the rest is the body.
  const std::size_t line = input.find('\n');
  const std::string_view type = input.substr(0, line);
  const std::string_view body = line == std::string_view::npos ? std::string_view() : input.substr(line + 1);
  std::string boundary = multipart_boundary(type);
  fuzz::check(boundary.size() <= 200, "a boundary is short");
  if (boundary.empty()) boundary.push_back('b');
  recorder unsplit, split;
  const auto a = parse(boundary, body, unsplit, 0);
  const auto b = parse(boundary, body, split, seed);
  fuzz::check(a == b, "the final state does not depend on how the input is split");
  fuzz::check(a != multipart_parser::state::done || unsplit.seen == split.seen,
              "the parts do not depend on how the input is split");
  fuzz::check(unsplit.bytes <= body.size(), "no more data than was sent");
  fuzz::check(a != multipart_parser::state::done || !unsplit.open, "all parts are closed at the end");
  return 0;
}
