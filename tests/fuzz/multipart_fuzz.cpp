// multipart/form-data: the parser comes to the same parts however the body is cut, and hands out no byte
// that was not sent.
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
    fuzz::promise(!open, "a part begins inside a part");
    open = true;
    seen +=
        "<" + head.name + "|" + head.filename + "|" + head.content_type + "|" + (head.is_file ? "file" : "field") + ">";
    return true;
  }
  bool part_data(std::string_view data) override {
    fuzz::promise(open, "data outside of a part");
    seen += data;
    bytes += data.size();
    return true;
  }
  bool part_end() override {
    fuzz::promise(open, "a part ends that did not begin");
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
  fuzz::promise(state != multipart_parser::state::more, "finish() decides");
  fuzz::promise(state != multipart_parser::state::malformed || *p.error() != 0, "an error has a sentence");
  return state;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view input = fuzz::view(data, size);
  const std::uint32_t seed = fuzz::take(input) + 1u;
  // A header line first: Content-Type, up to a line feed.
  const std::size_t line = input.find('\n');
  const std::string_view type = input.substr(0, line);
  const std::string_view body = line == std::string_view::npos ? std::string_view() : input.substr(line + 1);
  std::string boundary = multipart_boundary(type);
  fuzz::promise(boundary.size() <= 200, "a boundary is short");
  if (boundary.empty()) boundary.push_back('b');
  recorder whole, pieces;
  const auto a = parse(boundary, body, whole, 0);
  const auto b = parse(boundary, body, pieces, seed);
  fuzz::promise(a == b, "cut or not, the same end");
  fuzz::promise(a != multipart_parser::state::done || whole.seen == pieces.seen, "cut or not, the same parts");
  fuzz::promise(whole.bytes <= body.size(), "no more data than was sent");
  fuzz::promise(a != multipart_parser::state::done || !whole.open, "all parts are closed at the end");
  return 0;
}
