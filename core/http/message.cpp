#include "core/http/message.hpp"

#include <boost/beast/http/error.hpp>
#include <cstring>
#include <ry/cpp/text.hpp>

#include "core/http/field_text.hpp"
#include "core/http/uri.hpp"

namespace ry::http::serving {

namespace bh = boost::beast::http;

namespace {

std::string_view to_sv(boost::beast::string_view v) noexcept {
  return {v.data(), v.size()};
}

// True if an HTTP version such as "HTTP/2.0" follows a target without spaces. Otherwise the parser may take part of an
// invalid target for a version.
bool names_version(std::string_view head) noexcept {
  const auto line = head.substr(0, head.find('\r'));
  const auto target = line.find(' ');
  if (target == std::string_view::npos || line.find(' ', target + 1) != line.rfind(' ')) return false;
  const auto version = line.substr(line.rfind(' ') + 1);
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  return version.size() == 8 && version.starts_with("HTTP/") && digit(version[5]) && version[6] == '.' &&
         digit(version[7]);
}

bool known_method(std::string_view m) noexcept {
  return m == "GET" || m == "POST" || m == "PUT" || m == "DELETE" || m == "PATCH" || m == "HEAD" || m == "OPTIONS";
}

}  // namespace

bool iequals(std::string_view a, std::string_view b) noexcept {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (lower_ascii(a[i]) != lower_ascii(b[i])) return false;
  }
  return true;
}

request_line first_line(std::string_view head) noexcept {
  constexpr std::size_t max_shown = 1024;
  const auto line = head.substr(0, head.find_first_of("\r\n"));
  const auto space = line.find(' ');
  // Unknown methods are not logged: they may be any bytes, such as a TLS ClientHello.
  if (space == std::string_view::npos || !known_method(line.substr(0, space))) return {};
  auto target = line.substr(space + 1);
  target = target.substr(0, target.find_first_of(" ?#"));
  // Never log user name and password of an absolute target.
  if (!target.starts_with('/') && target.find('@') != std::string_view::npos) target = {};
  return {line.substr(0, space), target.substr(0, max_shown)};
}

std::size_t head_scanner::scan(std::string_view data, const head_limits& limits) {
  if (refused_) return 0;
  // Reject garbage (a TLS ClientHello on a plain port) immediately instead of after the timeout.
  if (looked_ == 0 && !data.empty() && !is_token_char(data.front())) {
    refused_ = {400, "Bad request line"};
    return 0;
  }
  while (looked_ < data.size()) {
    const auto* nl = static_cast<const char*>(std::memchr(data.data() + looked_, '\n', data.size() - looked_));
    if (!nl) {
      looked_ = data.size();
      break;
    }
    const auto at = static_cast<std::size_t>(nl - data.data());
    looked_ = at + 1;
    if (at == 0 || data[at - 1] != '\r') {
      refused_ = {400, "Lines must end with CR LF"};
      return 0;
    }
    if (at - line_ == 1) {
      if (looked_ > limits.header_bytes) break;
      return looked_;
    }
    if (line_ == 0 && at > limits.target_bytes + 32) {
      refused_ = {414, "Request target too long"};
      return 0;
    }
    // The parser would join folded lines, but proxies may not (request smuggling).
    if (line_ != 0 && (data[line_] == ' ' || data[line_] == '\t')) {
      refused_ = {400, "Folded header lines are not accepted"};
      return 0;
    }
    line_ = looked_;
  }
  if (looked_ > limits.header_bytes)
    refused_ = line_ == 0 ? refusal{414, "Request target too long"} : refusal{431, "Request header too large"};
  else if (line_ == 0 && looked_ > limits.target_bytes + 32)
    refused_ = {414, "Request target too long"};
  return 0;
}

refusal message_parser::parse_head(std::string_view head, std::vector<ry_header>& headers, head_info& info) {
  headers_ = &headers;
  info_ = &info;
  headers.clear();
  info = {};
  header_limit(static_cast<std::uint32_t>(head.size() + 16));
  body_limit(boost::none);
  boost::beast::error_code ec;
  const auto used = put(boost::asio::const_buffer(head.data(), head.size()), ec);
  headers_ = nullptr;
  info_ = nullptr;
  if (refused_) return refused_;
  if (ec == bh::error::bad_version)
    return refused_ =
               names_version(head) ? refusal{505, "HTTP version not supported"} : refusal{400, "Bad request line"};
  if (ec == bh::error::bad_transfer_encoding || ec == bh::error::bad_content_length ||
      ec == bh::error::multiple_content_length)
    return refused_ = {400, "Bad body length"};
  if (ec || used != head.size() || !is_header_done()) return refused_ = {400, "Malformed request"};

  const bool v11 = info.version == 11;
  if (!known_method(info.method)) return refused_ = {501, "Method not implemented"};
  if (hosts_ > 1 || (v11 && hosts_ == 0)) return refused_ = {400, "Exactly one Host header is required"};
  if (!is_authority(info.host)) return refused_ = {400, "Malformed Host header"};
  if (lengths_ > 1) return refused_ = {400, "Bad body length"};
  if (encodings_ != 0) {
    if (!v11) return refused_ = {400, "Transfer-Encoding in HTTP/1.0"};
    if (lengths_ != 0) return refused_ = {400, "Bad body length"};
    if (encodings_ != 1 || !plain_chunked_) return refused_ = {501, "Transfer-Encoding not implemented"};
  }
  if (!info.expect.empty() && v11 && !iequals(info.expect, "100-continue"))
    return refused_ = {417, "Expectation failed"};
  info.keep_alive = keep_alive();
  info.chunked = chunked();
  info.content_length = content_length().value_or(0);
  info.has_body = info.chunked || info.content_length != 0;
  chunked_ = info.chunked;
  length_ = info.content_length;
  body_done_ = !info.has_body;
  return {};
}

std::size_t message_parser::decode(std::string_view data, std::string& out, std::uint64_t limit) {
  if (body_done_ || refused_) return 0;
  const auto before = out.size();
  std::size_t used;
  if (chunked_) {
    out.append(data);
    char* const begin = out.data() + before;
    char* end = begin;
    used = chunks_.decode({begin, data.size()}, end);
    out.resize(static_cast<std::size_t>(end - out.data()));
    if (chunks_.failed()) {
      out.resize(before);
      refused_ = {400, "Malformed body"};
      return used;
    }
    body_done_ = chunks_.done();
  } else {
    used = static_cast<std::size_t>(std::min<std::uint64_t>(data.size(), length_ - body_bytes_));
    out.append(data.substr(0, used));
    body_done_ = body_bytes_ + used == length_;
  }
  body_bytes_ += out.size() - before;
  const auto announced = chunked_ && !body_done_ ? chunks_.left() : 0;
  if (body_bytes_ > limit || announced > limit - body_bytes_) {
    out.resize(before);
    refused_ = {413, "Request body too large"};
  }
  return used;
}

void message_parser::refuse(ec_ref ec, std::uint32_t status, const char* detail) {
  refused_ = {status, detail};
  ec = bh::error::bad_value;
}

void message_parser::on_request_impl(bh::verb, view method, view target, int version, ec_ref) {
  info_->method = to_sv(method);
  info_->target = to_sv(target);
  info_->version = version;
}

void message_parser::on_field_impl(bh::field f, view name, view value, ec_ref ec) {
  const auto v = to_sv(value);
  headers_->push_back({{name.data(), name.size()}, {value.data(), value.size()}});
  switch (f) {
    case bh::field::host:
      ++hosts_;
      info_->host = v;
      return;
    case bh::field::content_length:
      // The parser reads "5, 5" as 5, but a proxy may not (request smuggling).
      if (v.find_first_not_of("0123456789") != std::string_view::npos) return refuse(ec, 400, "Bad body length");
      ++lengths_;
      return;
    case bh::field::transfer_encoding:
      ++encodings_;
      plain_chunked_ = iequals(v, "chunked");
      return;
    case bh::field::authorization:
      // An empty header counts too: a proxy may have used the other one.
      if (++authorizations_ > 1) return refuse(ec, 400, "More than one Authorization header");
      info_->authorization = v;
      return;
    case bh::field::expect:
      info_->expect = v;
      return;
    case bh::field::origin:
      info_->origin = v;
      return;
    case bh::field::content_type:
      info_->content_type = v;
      return;
    case bh::field::access_control_request_method:
      info_->preflight_method = v;
      return;
    case bh::field::access_control_request_headers:
      info_->preflight_headers = v;
      return;
    case bh::field::unknown:
      break;
    default:
      return;
  }
  const auto n = to_sv(name);
  if (iequals(n, "x-request-id"))
    info_->request_id = v;
  else if (iequals(n, "idempotency-key") && ++idempotency_keys_ > 1)
    // The valid key would be ambiguous, and a wrong choice could execute the request twice.
    return refuse(ec, 400, "More than one Idempotency-Key header");
  else if (iequals(n, "traceparent"))
    info_->traceparent = v, ++info_->traceparents;
  else if (iequals(n, "tracestate"))
    info_->tracestate = v, ++info_->tracestates;
  else if (iequals(n, "x-forwarded-for"))
    info_->forwarded_for = v;
}

// Makes put() return after the head, its only input.
void message_parser::on_header_impl(ec_ref) {
  eager(true);
}

}  // namespace ry::http::serving
