// Pipelined HTTP requests: heads and bodies in sequence on one connection. The result does not depend on how the bytes are
// split; an accepted request obeys the limits and has one meaning (RFC 9112).
#include <algorithm>
#include <string>
#include <vector>

#include "check.hpp"
#include "core/http/field_text.hpp"
#include "core/http/message.hpp"
#include "core/http/uri.hpp"

namespace {

using namespace ry::http::serving;

constexpr head_limits limits{.header_bytes = 1024, .target_bytes = 256};
constexpr std::uint64_t max_body = 2048;

// Names, in any case, of fields of which a request has one at most.
std::size_t count_of(const std::vector<ry_header>& headers, std::string_view name, std::string* value = nullptr) {
  std::size_t n = 0;
  for (const auto& h : headers) {
    if (!iequals({h.name.ptr, h.name.len}, name)) continue;
    ++n;
    if (value) value->assign(h.value.ptr, h.value.len);
  }
  return n;
}

void check_head(std::string_view head, const std::vector<ry_header>& headers, const head_info& info) {
  fuzz::promise(head.size() <= limits.header_bytes, "a head obeys its limit");
  for (const auto& h : headers) {
    const std::string_view name(h.name.ptr, h.name.len), value(h.value.ptr, h.value.len);
    fuzz::promise(ry::http::is_token(name), "the name of a field is a token");
    fuzz::promise(ry::http::is_field_value(value), "a value has no control characters");
    fuzz::promise(
        value.empty() || (value.front() != ' ' && value.front() != '\t' && value.back() != ' ' && value.back() != '\t'),
        "a value is trimmed");
  }
  std::string length, coding;
  const auto lengths = count_of(headers, "content-length", &length);
  const auto codings = count_of(headers, "transfer-encoding", &coding);
  fuzz::promise(lengths + codings <= 1, "a body has one framing");
  fuzz::promise(info.chunked == (codings == 1), "chunked when the coding says so");
  fuzz::promise(codings == 0 || (iequals(coding, "chunked") && info.version == 11), "no other coding is accepted");
  fuzz::promise(length.find_first_not_of("0123456789") == length.npos, "a length consists of digits");
  if (lengths == 1) {
    length.erase(0, std::min(length.find_first_not_of('0'), length.size()));
    if (length.empty()) length = "0";
    fuzz::promise(std::to_string(info.content_length) == length, "a length is read as it is written");
  } else {
    fuzz::promise(info.content_length == 0, "without the field there is no length");
  }
  fuzz::promise(count_of(headers, "host") <= 1 && (info.version == 10 || count_of(headers, "host") == 1), "one Host");
  fuzz::promise(is_authority(info.host), "Host is an authority");
  fuzz::promise(count_of(headers, "authorization") <= 1, "one Authorization");
  fuzz::promise(count_of(headers, "idempotency-key") <= 1, "one Idempotency-Key");
  fuzz::promise(ry::http::is_token(info.method) && (info.version == 10 || info.version == 11), "method and version");
  const auto shown = first_line(head);
  fuzz::promise(shown.method == info.method && shown.path.find('?') == shown.path.npos, "the log shows no query");
  if (const auto t = split_target(info.target)) {
    fuzz::promise(t->path == "*" || t->path.starts_with('/'), "a path is absolute");
    fuzz::promise(t->path.find_first_of("?# \r\n") == t->path.npos, "a path ends where the query begins");
    std::string rest;
    (void)take_token(t->query, rest);
    fuzz::promise(!query_value(rest, "token"), "no token is left in a query");
    fuzz::promise(rest.size() <= t->query.size(), "a query does not grow");
  }
}

struct seen {
  std::vector<std::string> requests;  // those that came whole, in order
  std::string last;  // that did not
  bool refused = false;
};

class server_side {
 public:
  bool feed(std::string_view bytes) {
    buffer_.append(bytes);
    while (!out_.refused && step()) {
    }
    return !out_.refused;
  }
  const seen& result() const { return out_; }

 private:
  bool refuse(std::string_view detail, std::uint32_t status) {
    fuzz::promise(status >= 400 && status < 600 && !detail.empty(), "a refusal has a status and a sentence");
    out_.refused = true;
    return false;
  }
  // False: more bytes are needed.
  bool step() {
    if (in_body_) {
      std::string body;
      const auto used = parser_.back().decode(buffer_, body, max_body);
      fuzz::promise(used <= buffer_.size() && body.size() <= used, "no more body than bytes");
      buffer_.erase(0, used);
      if (const auto r = parser_.back().refused()) return refuse(r.detail, r.status);
      out_.last += body;
      fuzz::promise(parser_.back().body_bytes() <= max_body, "a body obeys its limit");
      if (!parser_.back().body_done()) {
        fuzz::promise(buffer_.empty(), "all bytes are consumed before the end");
        return false;
      }
      in_body_ = false;
      complete();
      return !buffer_.empty();
    }
    const auto n = scanner_.scan(buffer_, limits);
    if (const auto& r = scanner_.refused()) return refuse(r.detail, r.status);
    if (n == 0) return false;
    scanner_.reset();
    const std::string head = buffer_.substr(0, n);
    buffer_.erase(0, n);
    parser_.clear();
    parser_.emplace_back();
    std::vector<ry_header> headers;
    head_info info;
    if (const auto r = parser_.back().parse_head(head, headers, info)) return refuse(r.detail, r.status);
    check_head(head, headers, info);
    if (info.content_length > max_body) return refuse("larger than the limit", 413);
    out_.last.append("<").append(info.method).append(" ").append(info.target);
    for (const auto& h : headers)
      out_.last.append("|").append(h.name.ptr, h.name.len).append(":").append(h.value.ptr, h.value.len);
    out_.last += info.keep_alive ? ">" : "!>";
    in_body_ = info.has_body;
    fuzz::promise(parser_.back().body_done() == !info.has_body, "the head determines whether a body follows");
    if (!in_body_) complete();
    return true;
  }
  void complete() {
    out_.requests.push_back(std::move(out_.last));
    out_.last.clear();
  }

  std::string buffer_;
  head_scanner scanner_;
  std::vector<message_parser> parser_;  // at most one; it cannot be assigned
  bool in_body_ = false;
  seen out_;
};

seen read(std::string_view bytes, std::uint32_t seed) {
  server_side s;
  const auto feed = [&](std::string_view piece) { return s.feed(piece); };
  if (seed == 0)
    feed(bytes);
  else
    fuzz::in_pieces(bytes, seed, feed);
  return s.result();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view input = fuzz::view(data, size);
  const std::uint32_t seed = fuzz::take(input) + 1u;
  const seen whole = read(input, 0), pieces = read(input, seed);
  fuzz::promise(whole.refused == pieces.refused, "cut or not, the same end");
  fuzz::promise(whole.requests == pieces.requests, "cut or not, the same requests");
  // Of a body that is refused, more or less of its begin may have been handed out.
  fuzz::promise(whole.refused || whole.last == pieces.last, "cut or not, the same begin of the last one");
  return 0;
}
