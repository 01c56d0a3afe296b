#include "core/http/client/response_reader.hpp"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <cstring>
#include <ry/cpp/memory.hpp>

namespace ry::http {

namespace {

namespace beast = boost::beast;

// Beast parses the start line and the fields. This class decides the body framing, because Beast 1.81 treats an unknown
// transfer coding as an empty body and asserts on a last chunk that arrives in pieces.
class head_parser : public beast::http::basic_parser<false> {
 public:
  explicit head_parser(response_head& head) : head_(head) {
    this->header_limit(response_reader::max_head + 1024);
    this->body_limit(boost::none);
    this->skip(true);
  }
  int te_count = 0;
  bool te_chunked = false;
  bool has_length = false;
  int version = 0;

 private:
  using string_view = beast::string_view;
  using error_code = beast::error_code;

  void on_request_impl(beast::http::verb, string_view, string_view, int, error_code&) override {}
  void on_response_impl(int status, string_view, int v, error_code&) override {
    head_.status = static_cast<unsigned>(status);
    version = v;
  }
  void on_field_impl(beast::http::field f, string_view name, string_view value, error_code& ec) override {
    if (head_.fields.size() >= response_reader::max_fields) {
      ec = beast::http::error::header_limit;
      return;
    }
    if (f == beast::http::field::transfer_encoding) {
      ++te_count;
      te_chunked = beast::iequals(value, "chunked");
    }
    if (f == beast::http::field::content_length) has_length = true;
    const auto at = static_cast<std::uint32_t>(head_.text.size());
    head_.text.append(name).append(value);
    head_.fields.push_back({at, static_cast<std::uint32_t>(name.size()), static_cast<std::uint32_t>(at + name.size()),
                            static_cast<std::uint32_t>(value.size())});
  }
  void on_header_impl(error_code&) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}
  std::size_t on_body_impl(string_view s, error_code&) override { return s.size(); }
  void on_chunk_header_impl(std::uint64_t, string_view, error_code&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, string_view s, error_code&) override { return s.size(); }
  void on_finish_impl(error_code&) override {}

  response_head& head_;
};

}  // namespace

std::string_view response_head::find(std::string_view lower_name) const {
  for (const auto& f : fields)
    if (beast::iequals(name(f), lower_name)) return value(f);
  return {};
}

bool response_reader::parse_head(std::string_view block) {
  head_ = {};
  head_parser parser(head_);
  beast::error_code ec;
  parser.put(boost::asio::const_buffer(block.data(), block.size()), ec);
  if (ec || !parser.is_header_done()) {
    problem_ = "the response headers are malformed";
    return false;
  }
  if (head_.status < 100 || head_.status > 999 || head_.status == 101) {
    problem_ = "the response status is not allowed";
    return false;
  }
  if (parser.te_count > 0 && (parser.te_count > 1 || !parser.te_chunked || parser.version < 11 || parser.has_length)) {
    problem_ = "the transfer coding of the response is not supported";
    return false;
  }
  const unsigned s = head_.status;
  head_.keep_alive = parser.keep_alive();
  if (rule_ == body_rule::head_only || s / 100 == 1 || s == 204 || s == 304) {
    framing_ = framing::none;
  } else if (parser.te_chunked) {
    framing_ = framing::chunked;
  } else if (parser.has_length) {
    framing_ = framing::length;
    left_ = parser.content_length().value_or(0);
  } else {
    framing_ = framing::until_close;
    head_.keep_alive = false;
  }
  return true;
}

response_reader::outcome response_reader::take_heads(std::string_view from, std::size_t& consumed) {
  consumed = 0;
  constexpr std::string_view expected = "HTTP/1.";
  for (;;) {
    const auto rest = from.substr(consumed);
    if (rest.substr(0, expected.size()) != expected.substr(0, rest.size())) return fail("the response is not HTTP/1.1");
    const auto end = rest.find("\r\n\r\n", searched_);
    if (end == std::string_view::npos) {
      // Allows for a head of max_head bytes and three of the four bytes that end it.
      if (rest.size() > max_head + 3) return fail("the response headers are too large");
      searched_ = rest.size() > 3 ? rest.size() - 3 : 0;
      return outcome::more;
    }
    searched_ = 0;
    if (end > max_head) return fail("the response headers are too large");
    if (!parse_head(rest.substr(0, end + 4))) return outcome::malformed;
    consumed += end + 4;
    if (head_.status / 100 != 1) {
      head_complete_ = true;
      return outcome::done;
    }
    if (++interim_ > max_interim) return fail("too many interim responses");
  }
}

response_reader::outcome response_reader::feed(std::span<char> data, piece& out) {
  out = {};
  if (data.empty()) return outcome::more;
  started_ = true;
  if (head_complete_) {
    give_back(partial_);
    return feed_body(data, out);
  }
  // A complete head and the bytes after it are parsed in place.
  if (!partial_.empty()) {
    partial_.append(data.data(), data.size());
    data = partial_;
  }
  std::size_t consumed = 0;
  const auto r = take_heads({data.data(), data.size()}, consumed);
  if (r == outcome::more) {
    if (partial_.empty())
      partial_.assign(data.data() + consumed, data.size() - consumed);
    else
      partial_.erase(0, consumed);
  }
  if (r != outcome::done) return r;
  out.head = true;
  return feed_body(data.subspan(consumed), out);
}

response_reader::outcome response_reader::feed_body(std::span<char> data, piece& out) {
  switch (framing_) {
    case framing::none:
      out.unused = data.size();
      return outcome::done;
    case framing::length: {
      const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(left_, data.size()));
      out.body = {data.data(), n};
      out.unused = data.size() - n;
      left_ -= n;
      return left_ ? outcome::more : outcome::done;
    }
    case framing::chunked: {
      // The first body bytes stay in place.
      const auto rest = data.subspan(chunks_.skip(data));
      char* end = rest.data();
      const auto used = chunks_.decode(rest, end);
      out.body = {rest.data(), static_cast<std::size_t>(end - rest.data())};
      if (chunks_.failed()) return fail("the chunks of the response are malformed");
      out.unused = rest.size() - used;
      return chunks_.done() ? outcome::done : outcome::more;
    }
    case framing::until_close:
      out.body = {data.data(), data.size()};
      return outcome::more;
  }
  return outcome::more;
}

response_reader::outcome response_reader::eof() {
  if (head_complete_ && framing_ == framing::until_close) return outcome::done;
  return outcome::malformed;
}

}  // namespace ry::http
