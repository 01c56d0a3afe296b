// Sans-io parser of HTTP/1.1 requests: finds, checks and parses the head and decodes the body.
#pragma once

#include <ry/abi.h>

#include <boost/beast/http/basic_parser.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/http/chunk_decoder.hpp"

namespace ry::http::serving {

// Why the server rejects a request before it calls a handler. The connection closes after the answer.
struct refusal {
  std::uint32_t status = 0;  // 0 = not refused
  const char* detail = "";
  explicit operator bool() const noexcept { return status != 0; }
};

struct head_limits {
  std::size_t header_bytes = 32 * 1024;
  std::size_t target_bytes = 8 * 1024;
};

// Finds the end of a head in the bytes received so far. Remembers the scanned position between calls; call reset()
// before the next request.
class head_scanner {
 public:
  // Bytes of the head including the empty line that ends it; 0 = incomplete or refused.
  std::size_t scan(std::string_view data, const head_limits& limits);
  const refusal& refused() const noexcept { return refused_; }
  void reset() noexcept { *this = head_scanner(); }

 private:
  std::size_t looked_ = 0;  // bytes
  std::size_t line_ = 0;  // start of the current line
  refusal refused_;
};

// The fields of a head that the server itself uses; views into the parsed text.
struct head_info {
  std::string_view method, target, host;
  std::string_view authorization, expect, request_id, origin, traceparent, forwarded_for, content_type;
  std::string_view preflight_method, preflight_headers;
  std::string_view tracestate;  // the last one if there are several
  unsigned traceparents = 0, tracestates = 0;
  int version = 11;
  bool keep_alive = true, has_body = false, chunked = false;
  std::uint64_t content_length = 0;
};

// Parses one request: parse_head() takes the whole head, decode() the bytes that follow it. It checks the syntax of
// trailers and drops them.
class message_parser final : public boost::beast::http::basic_parser<true> {
 public:
  // `head` has the size that head_scanner returned, and outlives `headers` and `info`.
  refusal parse_head(std::string_view head, std::vector<ry_header>& headers, head_info& info);
  // Appends decoded body bytes to `out`; returns how many bytes of `data` it consumed. Stops with
  // refused() when the whole body exceeds `limit` bytes.
  std::size_t decode(std::string_view data, std::string& out, std::uint64_t limit);
  const refusal& refused() const noexcept { return refused_; }
  std::uint64_t body_bytes() const noexcept { return body_bytes_; }
  // The head and the complete body have been read.
  bool body_done() const noexcept { return body_done_; }

 private:
  using view = boost::beast::string_view;
  using ec_ref = boost::beast::error_code&;
  void on_request_impl(boost::beast::http::verb, view method, view target, int version, ec_ref) override;
  void on_response_impl(int, view, int, ec_ref) override {}
  void on_field_impl(boost::beast::http::field f, view name, view value, ec_ref ec) override;
  void on_header_impl(ec_ref) override;
  void on_body_init_impl(boost::optional<std::uint64_t> const&, ec_ref) override {}
  // Beast parses only heads; decode() handles bodies.
  std::size_t on_body_impl(view, ec_ref) override { return 0; }
  void on_chunk_header_impl(std::uint64_t, view, ec_ref) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, view, ec_ref) override { return 0; }
  void on_finish_impl(ec_ref) override {}
  void refuse(ec_ref ec, std::uint32_t status, const char* detail);

  std::vector<ry_header>* headers_ = nullptr;
  head_info* info_ = nullptr;
  chunk_decoder chunks_;
  std::uint64_t body_bytes_ = 0, length_ = 0;
  bool chunked_ = false, body_done_ = false;
  unsigned hosts_ = 0, lengths_ = 0, encodings_ = 0, authorizations_ = 0, idempotency_keys_ = 0;
  bool plain_chunked_ = false;
  refusal refused_;
};

// Method and path of a refused head for the log, as far as they have arrived; views into `head`. Omits the query, which
// may contain a token, and any target with a user name; truncates long paths.
struct request_line {
  std::string_view method, path;
};
request_line first_line(std::string_view head) noexcept;

bool iequals(std::string_view a, std::string_view b) noexcept;

}  // namespace ry::http::serving
