// Pipelined HTTP requests: heads and bodies in sequence on one connection. The result does not depend on how the bytes
// are split; an accepted request obeys the limits and has one meaning (RFC 9112).
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

// Counts the fields with this name (case-insensitive) and returns the last value.
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
  fuzz::check(head.size() <= limits.header_bytes, "a head obeys its limit");
  for (const auto& h : headers) {
    const std::string_view name(h.name.ptr, h.name.len), value(h.value.ptr, h.value.len);
    fuzz::check(ry::http::is_token(name), "the name of a field is a token");
    fuzz::check(ry::http::is_field_value(value), "a value has no control characters");
    fuzz::check(
        value.empty() || (value.front() != ' ' && value.front() != '\t' && value.back() != ' ' && value.back() != '\t'),
        "a value is trimmed");
  }
  std::string length, coding;
  const auto lengths = count_of(headers, "content-length", &length);
  const auto codings = count_of(headers, "transfer-encoding", &coding);
  fuzz::check(lengths + codings <= 1, "a body has one framing");
  fuzz::check(info.chunked == (codings == 1), "chunked follows from Transfer-Encoding");
  fuzz::check(codings == 0 || (iequals(coding, "chunked") && info.version == 11), "no other coding is accepted");
  fuzz::check(length.find_first_not_of("0123456789") == length.npos, "a length consists of digits");
  if (lengths == 1) {
    length.erase(0, std::min(length.find_first_not_of('0'), length.size()));
    if (length.empty()) length = "0";
    fuzz::check(std::to_string(info.content_length) == length, "the parsed length is that of the field");
  } else {
    fuzz::check(info.content_length == 0, "without Content-Length the length is 0");
  }
  fuzz::check(count_of(headers, "host") <= 1 && (info.version == 10 || count_of(headers, "host") == 1),
              "at most one Host, required in HTTP/1.1");
  fuzz::check(is_authority(info.host), "Host is an authority");
  fuzz::check(count_of(headers, "authorization") <= 1, "at most one Authorization");
  fuzz::check(count_of(headers, "idempotency-key") <= 1, "at most one Idempotency-Key");
  fuzz::check(ry::http::is_token(info.method) && (info.version == 10 || info.version == 11),
              "method and version are valid");
  const auto logged = first_line(head);
  fuzz::check(logged.method == info.method && logged.path.find('?') == logged.path.npos, "the log shows no query");
  if (const auto t = split_target(info.target)) {
    fuzz::check(t->path == "*" || t->path.starts_with('/'), "a path is absolute");
    fuzz::check(t->path.find_first_of("?# \r\n") == t->path.npos, "a path contains no query, fragment or white space");
    std::string rest;
    (void)take_token(t->query, rest);
    fuzz::check(!query_value(rest, "token"), "the token is removed from the query");
    fuzz::check(rest.size() <= t->query.size(), "a query does not grow");
  }
}

struct parsed_requests {
  std::vector<std::string> requests;  // the complete ones, in order
  std::string last;  // the incomplete one
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
  const parsed_requests& result() const { return out_; }

 private:
  bool refuse(std::string_view detail, std::uint32_t status) {
    fuzz::check(status >= 400 && status < 600 && !detail.empty(), "an error has a status and a message");
    out_.refused = true;
    return false;
  }
  // False: more bytes are needed.
  bool step() {
    if (in_body_) {
      std::string body;
      const auto used = parser_.back().decode(buffer_, body, max_body);
      fuzz::check(used <= buffer_.size() && body.size() <= used, "no more body than bytes");
      buffer_.erase(0, used);
      if (const auto r = parser_.back().refused()) return refuse(r.detail, r.status);
      out_.last += body;
      fuzz::check(parser_.back().body_bytes() <= max_body, "a body obeys its limit");
      if (!parser_.back().body_done()) {
        fuzz::check(buffer_.empty(), "an incomplete body consumes all bytes");
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
    fuzz::check(parser_.back().body_done() == !info.has_body, "the head determines whether a body follows");
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
  parsed_requests out_;
};

parsed_requests read(std::string_view bytes, std::uint32_t seed) {
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
  const parsed_requests unsplit = read(input, 0), split = read(input, seed);
  fuzz::check(unsplit.refused == split.refused, "the outcome does not depend on how the input is split");
  fuzz::check(unsplit.requests == split.requests, "the requests do not depend on how the input is split");
  // If a body is rejected, the amount of data that was output before depends on the split.
  fuzz::check(unsplit.refused || unsplit.last == split.last,
              "the incomplete request does not depend on how the input is split");
  return 0;
}
