// Responses to the egress client: interim responses, heads, bodies with every framing. The result does not depend on
// how the bytes are split; it has one meaning (RFC 9112) and obeys the limits.
#include <algorithm>
#include <charconv>
#include <string>

#include "check.hpp"
#include "core/http/client/response_reader.hpp"
#include "core/http/field_text.hpp"

namespace {

using ry::http::response_reader;
using outcome = response_reader::outcome;

struct response {
  outcome end = outcome::more;
  bool at_eof = false;
  std::string head, body;
  std::size_t unused = 0, fed = 0;
};

void check_head(response_reader& r) {
  const auto& h = r.head();
  fuzz::check(h.status >= 200 && h.status <= 999, "the final response has a final status");
  fuzz::check(h.fields.size() <= response_reader::max_fields, "no more fields than allowed");
  std::size_t lengths = 0, codings = 0;
  for (const auto& f : h.fields) {
    fuzz::check(ry::http::is_token(h.name(f)), "the name of a field is a token");
    fuzz::check(ry::http::is_field_value(h.value(f)), "a value has no control characters");
    std::string name(h.name(f));
    for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    lengths += name == "content-length";
    codings += name == "transfer-encoding";
  }
  fuzz::check(codings <= 1 && (codings == 0 || lengths == 0), "a body has one framing");
}

response read(std::string_view bytes, response_reader::body_rule rule, std::uint32_t seed) {
  response out;
  response_reader r(rule);
  const auto feed = [&](std::string_view piece) {
    std::string buffer(piece);  // a buffer of exactly this size, so that the sanitizer detects reads beyond it
    response_reader::piece parsed;
    out.end = r.feed({buffer.data(), buffer.size()}, parsed);
    out.fed += piece.size();
    fuzz::check(out.end != outcome::malformed || !r.problem().empty(), "a malformed response has a problem");
    if (out.end != outcome::malformed) {
      if (parsed.head) {
        check_head(r);
        out.head = std::to_string(r.head().status) + (r.head().keep_alive ? "+" : "-");
        for (const auto& f : r.head().fields)
          out.head.append("|").append(r.head().name(f)).append(":").append(r.head().value(f));
      }
      fuzz::check(r.head_complete() || parsed.body.empty(), "no body before the head");
      out.body += parsed.body;
      out.unused = parsed.unused;
      fuzz::check(parsed.unused == 0 || out.end == outcome::done, "an incomplete response consumes all bytes");
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
    fuzz::check(out.end != outcome::done || !r.head().keep_alive,
                "a response ended by the close of the connection is not keep-alive");
  }
  if (out.end == outcome::done) {
    const auto length = r.head().find("content-length");
    const bool has_body =
        rule == response_reader::body_rule::normal && r.head().status != 204 && r.head().status != 304;
    if (has_body && !length.empty()) {
      std::uint64_t n = 0;
      std::from_chars(length.data(), length.data() + length.size(), n);
      fuzz::check(out.body.size() == n, "a body has the announced length");
    }
    fuzz::check(has_body || out.body.empty(), "responses without a body have none");
  }
  fuzz::check(out.body.size() <= bytes.size(), "no more body than bytes");
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view input = fuzz::view(data, size);
  const std::uint8_t choice = fuzz::take(input);
  const auto rule = choice % 4 == 0 ? response_reader::body_rule::head_only : response_reader::body_rule::normal;
  const response unsplit = read(input, rule, 0), split = read(input, rule, choice + 1u);
  fuzz::check(unsplit.end == split.end, "the outcome does not depend on how the input is split");
  fuzz::check(unsplit.head == split.head || unsplit.end == outcome::malformed,
              "the head does not depend on how the input is split");
  if (unsplit.end != outcome::done) return 0;
  fuzz::check(unsplit.body == split.body, "the body does not depend on how the input is split");
  fuzz::check(unsplit.fed - unsplit.unused == split.fed - split.unused,
              "the end of the response does not depend on how the input is split");
  return 0;
}
