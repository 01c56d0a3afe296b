// Responses to the egress client: interim responses, heads, bodies with every framing. The result does not depend on how the
// bytes are split; it has one meaning (RFC 9112) and obeys the limits.
#include <algorithm>
#include <charconv>
#include <string>

#include "check.hpp"
#include "core/http/client/response_reader.hpp"
#include "core/http/field_text.hpp"

namespace {

using ry::http::response_reader;
using outcome = response_reader::outcome;

struct answer {
  outcome end = outcome::more;
  bool at_eof = false;
  std::string head, body;
  std::size_t unused = 0, fed = 0;
};

void check_head(response_reader& r) {
  const auto& h = r.head();
  fuzz::promise(h.status >= 200 && h.status <= 999, "the real answer has a final status");
  fuzz::promise(h.fields.size() <= response_reader::max_fields, "no more fields than allowed");
  std::size_t lengths = 0, codings = 0;
  for (const auto& f : h.fields) {
    fuzz::promise(ry::http::is_token(h.name(f)), "the name of a field is a token");
    fuzz::promise(ry::http::is_field_value(h.value(f)), "a value has no control characters");
    std::string name(h.name(f));
    for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    lengths += name == "content-length";
    codings += name == "transfer-encoding";
  }
  fuzz::promise(codings <= 1 && (codings == 0 || lengths == 0), "a body has one framing");
}

answer read(std::string_view bytes, response_reader::body_rule rule, std::uint32_t seed) {
  answer out;
  response_reader r(rule);
  const auto feed = [&](std::string_view piece) {
    std::string buffer(piece);  // of exactly that size, so that the sanitizer detects reads beyond it
    response_reader::piece got;
    out.end = r.feed({buffer.data(), buffer.size()}, got);
    out.fed += piece.size();
    fuzz::promise(out.end != outcome::malformed || !r.problem().empty(), "what is malformed is named");
    if (out.end != outcome::malformed) {
      if (got.head) {
        check_head(r);
        out.head = std::to_string(r.head().status) + (r.head().keep_alive ? "+" : "-");
        for (const auto& f : r.head().fields)
          out.head.append("|").append(r.head().name(f)).append(":").append(r.head().value(f));
      }
      fuzz::promise(r.head_complete() || got.body.empty(), "no body before the head");
      out.body += got.body;
      out.unused = got.unused;
      fuzz::promise(got.unused == 0 || out.end == outcome::done, "all is consumed before the end");
    }
    return out.end == outcome::more;
  };
  if (seed == 0)
    feed(bytes);
  else
    fuzz::in_pieces(bytes, seed, feed);
  if (out.end == outcome::more) {
    out.end = r.eof();
    out.at_eof = true;
    fuzz::promise(out.end != outcome::done || !r.head().keep_alive, "an answer that the close ended is the last one");
  }
  if (out.end == outcome::done) {
    const auto length = r.head().find("content-length");
    const bool has_body =
        rule == response_reader::body_rule::normal && r.head().status != 204 && r.head().status != 304;
    if (has_body && !length.empty()) {
      std::uint64_t n = 0;
      std::from_chars(length.data(), length.data() + length.size(), n);
      fuzz::promise(out.body.size() == n, "a body has the length that was told");
    }
    fuzz::promise(has_body || out.body.empty(), "answers without a body have none");
  }
  fuzz::promise(out.body.size() <= bytes.size(), "no more body than bytes");
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view input = fuzz::view(data, size);
  const std::uint8_t choice = fuzz::take(input);
  const auto rule = choice % 4 == 0 ? response_reader::body_rule::head_only : response_reader::body_rule::normal;
  const answer whole = read(input, rule, 0), pieces = read(input, rule, choice + 1u);
  fuzz::promise(whole.end == pieces.end, "cut or not, the same end");
  fuzz::promise(whole.head == pieces.head || whole.end == outcome::malformed, "cut or not, the same head");
  if (whole.end != outcome::done) return 0;
  fuzz::promise(whole.body == pieces.body, "cut or not, the same body");
  fuzz::promise(whole.fed - whole.unused == pieces.fed - pieces.unused, "cut or not, it ends at the same byte");
  return 0;
}
