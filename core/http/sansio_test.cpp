// Tests of the sans-io parts: addresses, targets, forms, timer wheel, answers.
#include <gtest/gtest.h>

#include <cstdint>
#include <random>

#include "core/http/answer.hpp"
#include "core/http/cidr.hpp"
#include "core/http/field_text.hpp"
#include "core/http/form.hpp"
#include "core/http/message.hpp"
#include "core/http/multipart.hpp"
#include "core/http/router.hpp"
#include "core/http/timer_wheel.hpp"
#include "core/http/uri.hpp"

namespace ry::http::serving {
namespace {

TEST(uri, percent_decoding) {
  std::string out;
  EXPECT_TRUE(percent_decode("a%20b%2Fc+", out));
  EXPECT_EQ("a b/c+", out);
  for (const char* bad : {"%", "%4", "%zz", "a%00", "%0"}) EXPECT_FALSE(percent_decode(bad, out)) << bad;
  out.clear();
  EXPECT_TRUE(form_decode("a+b", out));
  EXPECT_EQ("a b", out);
}

TEST(field_text, validates_names_and_values) {
  std::string in_names, not_in_values;
  for (int c = 0; c < 256; ++c) {
    const char text[] = {'a', static_cast<char>(c), 'z'};
    if (is_token({text, 3})) in_names += text[1];
    if (!is_field_value({text, 3})) not_in_values += text[1];
    EXPECT_EQ(is_token({text, 3}), is_token_char(text[1])) << c;
  }
  EXPECT_EQ(in_names, "!#$%&'*+-.0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ^_`abcdefghijklmnopqrstuvwxyz|~");
  std::string controls;
  for (char c = 0; c < 0x20; ++c)
    if (c != '\t') controls += c;
  EXPECT_EQ(not_in_values, controls + '\x7f') << "bytes that no value may contain";
  EXPECT_FALSE(is_token(""));
  EXPECT_TRUE(is_field_value(""));
}

TEST(uri, parses_targets) {
  EXPECT_EQ("/a", split_target("/a?b=c")->path);
  EXPECT_EQ("b=c?d", split_target("/a?b=c?d")->query);
  EXPECT_EQ("/", split_target("http://h")->path);
  EXPECT_EQ("x", split_target("HTTPS://h?x")->query);
  EXPECT_EQ("/p", split_target("http://h:80/p")->path);
  for (const char* bad :
       {"", "a", "http:///x", "ftp://x/", "/a#b", "/a b", "/a\x7f", "http://user@h/p", "http://[::1/p", "http://h:8x"})
    EXPECT_FALSE(split_target(bad)) << bad;
  for (const char* good : {"", "a", "a.example:80", "a:", "a:0", "a:00080", "a:65535", "[::1]", "[::ffff:1.2.3.4]:80",
                           "1.2.3.4", "b%C3_c"})
    EXPECT_TRUE(is_authority(good)) << good;
  for (const char* bad : {"a b", "a/b", "a?b", "a@b", "a:b", "a:1:2", "a:65536", "a:99999", "a:000080",
                          "a:18446744073709551617", "[::1]:65536", "::1", "[::1", "[a.b.x]", "b\xc3"})
    EXPECT_FALSE(is_authority(bad)) << bad;
  std::string rest;
  EXPECT_EQ("s e", take_token("a=1&token=s+e&to%6ben=second&b", rest));
  EXPECT_EQ("a=1&b", rest);
  EXPECT_EQ("", take_token("tokens=1", rest));
  EXPECT_EQ("tokens=1", rest);
}

TEST(uri, reads_query_parameters) {
  EXPECT_EQ("d e", query_value("a=1&state=d+e&state=2", "state"));
  EXPECT_EQ("", query_value("state", "state"));
  EXPECT_EQ("x", query_value("st%61te=%78", "state"));
  EXPECT_EQ("%zz", query_value("state=%zz", "state"));
  for (const char* none : {"", "states=1", "a&&b=state"}) EXPECT_EQ(std::nullopt, query_value(none, "state")) << none;
}

TEST(addresses, the_client_address_is_found_behind_proxies) {
  const address_set none;
  const address_set some({"10.0.0.0/8", "::1", "fd00::/8"});
  EXPECT_EQ("9.9.9.9", client_address(none, "9.9.9.9", "1.1.1.1"));
  EXPECT_EQ("9.9.9.9", client_address(some, "9.9.9.9", "1.1.1.1")) << "the peer is not a trusted proxy";
  EXPECT_EQ("1.1.1.1", client_address(some, "10.0.0.1", "6.6.6.6, 1.1.1.1"));
  EXPECT_EQ("6.6.6.6", client_address(some, "::1", "6.6.6.6, 10.2.3.4, fd12::1"));
  EXPECT_EQ("10.0.0.1", client_address(some, "10.0.0.1", "rubbish"));
  EXPECT_EQ("10.0.0.1", client_address(some, "10.0.0.1", ""));
  EXPECT_EQ("2001:db8::1", client_address(some, "10.0.0.1", "2001:0DB8:0::0:1"));
  EXPECT_EQ("6.6.6.6", client_address(some, "10.0.0.1", "::ffff:6.6.6.6"));
  for (const std::string_view zone : {"fe80::1%eth0", "fe80::1%\xff\xfe", "fd00::1%1"})
    EXPECT_EQ("10.0.0.1", client_address(some, "10.0.0.1", zone)) << zone;
  EXPECT_EQ("10.0.0.1", client_address(some, "10.0.0.1", std::string_view("6.6.6.6\0x", 9)));
  EXPECT_TRUE(some.contains("::ffff:10.1.1.1"));
  EXPECT_THROW(address_set({"10.0.0.0/33"}), std::invalid_argument);
  EXPECT_THROW(address_set({"example.org"}), std::invalid_argument);
}

TEST(responses, are_serialised) {
  EXPECT_EQ("Sun, 06 Nov 1994 08:49:37 GMT", http_date(784111777));
  EXPECT_EQ("{\"detail\":\"a\\\"\\n\xef\xbf\xbd\xc3\xa9\"}", error_body(std::string_view("a\"\n\xff\xc3\xa9")));
  EXPECT_EQ("{\"detail\":{\"x\":1}}", error_body(core::error{RY_NOT_FOUND, {}, "m", "{\"x\":1}", 0, 0}));
  EXPECT_EQ(413u, http_status({RY_RESOURCE_EXHAUSTED, "http.form_too_large", {}, {}, 0, 0}));
  EXPECT_EQ(429u, http_status({RY_RESOURCE_EXHAUSTED, "runs.limit", {}, {}, 0, 0}));
  EXPECT_EQ(402u, http_status({RY_RESOURCE_EXHAUSTED, {}, {}, {}, 402, 0}));
  EXPECT_EQ(500u, http_status({999, {}, {}, {}, 0, 0}));
}

TEST(wheel, fires_once_at_the_right_time) {
  const auto t0 = clock::time_point{} + std::chrono::hours(1);
  timer_wheel w(t0);
  wheel_entry a, b, c;
  std::vector<wheel_entry*> seen;
  const auto go = [&](std::chrono::milliseconds t) {
    seen.clear();
    w.advance(t0 + t, [&](wheel_entry& e) { seen.push_back(&e); });
  };
  using ms = std::chrono::milliseconds;
  w.at_latest(a, t0 + ms(1000));
  w.at_latest(b, t0 + ms(300'000));  // more than one turn of the wheel
  w.at_latest(c, t0 + ms(5000));
  w.at_latest(c, t0 + ms(9000));  // later: keeps the earlier tick
  go(ms(900));
  EXPECT_TRUE(seen.empty());
  go(ms(1300));
  EXPECT_EQ(std::vector<wheel_entry*>{&a}, seen);
  go(ms(5300));
  EXPECT_EQ(std::vector<wheel_entry*>{&c}, seen);
  w.at_latest(a, t0 + ms(20'000));
  w.at_latest(a, t0 + ms(6000));  // earlier: moves the entry
  go(ms(6300));
  EXPECT_EQ(std::vector<wheel_entry*>{&a}, seen);
  go(ms(200'000));
  EXPECT_TRUE(seen.empty());
  go(ms(900'000));  // a pause of several turns
  EXPECT_EQ(std::vector<wheel_entry*>{&b}, seen);
  w.at_latest(a, t0 + ms(1'000'000));
  w.unlink(a);
  go(ms(2'000'000));
  EXPECT_TRUE(seen.empty());
}

// ---- multipart

struct collect final : multipart_parser::sink {
  std::vector<std::pair<multipart_parser::part_head, std::string>> parts;
  bool open = false;
  bool part_begin(const multipart_parser::part_head& h) override {
    EXPECT_FALSE(open);
    open = true;
    parts.push_back({h, {}});
    return true;
  }
  bool part_data(std::string_view d) override {
    EXPECT_TRUE(open);
    parts.back().second.append(d);
    return true;
  }
  bool part_end() override {
    open = false;
    return true;
  }
};

const std::string sample =
    "preamble\r\n--B\r\nContent-Disposition: form-data; name=\"prompt\"\r\n\r\nhello\r\n--B  \r\n"
    "content-disposition: form-data; name=\"files\"; filename=\"a \\\"b\\\" c:\\\\x\\y.txt\"\r\n"
    "Content-Type: text/plain\r\n\r\n\r\n--not the end\r\n--\r\n\r\n--B\r\n"
    "Content-Disposition: form-data; name=f; filename=\"fallback\"; "
    "filename*=UTF-8''na%C3%AFve%20x.txt\r\n\r\n"
    "\r\n--B--\r\nepilogue --B";

void check_sample(const collect& c) {
  ASSERT_EQ(3u, c.parts.size());
  EXPECT_EQ("prompt", c.parts[0].first.name);
  EXPECT_FALSE(c.parts[0].first.is_file);
  EXPECT_EQ("hello", c.parts[0].second);
  EXPECT_EQ("a \"b\" c:\\x\\y.txt", c.parts[1].first.filename);
  EXPECT_EQ("text/plain", c.parts[1].first.content_type);
  EXPECT_EQ("\r\n--not the end\r\n--\r\n", c.parts[1].second);
  EXPECT_EQ("na\xc3\xafve x.txt", c.parts[2].first.filename);
  EXPECT_TRUE(c.parts[2].first.is_file);
  EXPECT_EQ("", c.parts[2].second);
}

TEST(multipart, every_split_gives_the_same_result) {
  for (std::size_t step = 1; step <= sample.size(); ++step) {
    collect c;
    multipart_parser p("B", c);
    for (std::size_t i = 0; i < sample.size(); i += step)
      ASSERT_EQ(multipart_parser::state::more, p.feed(std::string_view(sample).substr(i, step))) << p.error();
    EXPECT_EQ(multipart_parser::state::done, p.finish()) << p.error();
    check_sample(c);
  }
}

TEST(multipart, mutations_never_crash) {
  std::mt19937 rng(7);
  for (int i = 0; i < 20'000; ++i) {
    std::string text = sample;
    for (int k = 0; k < 3; ++k) {
      const auto at = rng() % text.size();
      switch (rng() % 3) {
        case 0:
          text[at] = static_cast<char>(rng());
          break;
        case 1:
          text.erase(at, rng() % 9);
          break;
        default:
          text.insert(at, std::string_view("\r\n--B").substr(0, rng() % 6));
          break;
      }
    }
    collect c;
    multipart_parser p("B", c);
    for (std::size_t at = 0; at < text.size();) {
      const auto n = 1 + rng() % 40;
      if (p.feed(std::string_view(text).substr(at, n)) == multipart_parser::state::malformed) break;
      at += n;
    }
    const auto end = p.finish();
    EXPECT_TRUE(end == multipart_parser::state::done || *p.error() != '\0');
  }
}

TEST(multipart, malformed_input_is_rejected) {
  const auto verdict = [](std::string_view text) {
    collect c;
    multipart_parser p("B", c);
    if (p.feed(text) == multipart_parser::state::malformed) return std::string(p.error());
    p.finish();
    return std::string(p.error());
  };
  EXPECT_EQ("the boundary never occurs", verdict("nothing"));
  EXPECT_EQ("the boundary never occurs", verdict(""));
  EXPECT_EQ("the last boundary is missing", verdict("--B\r\nContent-Disposition: form-data; name=a\r\n\r\nx"));
  EXPECT_EQ("the last boundary is missing", verdict("--B\r\nContent-Disposition: form-data; name=a\r\n\r\nx\r\n--B"));
  EXPECT_EQ("a part has no name", verdict("--B\r\nContent-Disposition: form-data\r\n\r\nx\r\n--B--"));
  EXPECT_EQ("a part has no name", verdict("--B\r\n\r\nx\r\n--B--"));
  EXPECT_EQ("a part is not form-data", verdict("--B\r\nContent-Disposition: attachment; name=a\r\n\r\nx\r\n--B--"));
  EXPECT_EQ("a part's header is too large", verdict("--B\r\nX: " + std::string(20'000, 'a')));
  EXPECT_EQ("a boundary is followed by other text", verdict("--Bxy\r\n\r\n"));
  EXPECT_EQ("", verdict("--B--"));
  EXPECT_EQ("B", multipart_boundary("multipart/form-data; charset=utf-8; boundary=B"));
  EXPECT_EQ("a b", multipart_boundary("Multipart/Form-Data;boundary=\"a b\""));
  EXPECT_EQ("", multipart_boundary("multipart/form-data"));
  EXPECT_EQ("", multipart_boundary("multipart/mixed; boundary=B"));
}

// ---- forms

ry_form_limits limits(std::uint32_t files = 0, std::uint64_t file = 0, std::uint64_t total = 0, std::uint64_t value = 0,
                      std::uint32_t parts = 0) {
  const ry_form_limits l{sizeof(ry_form_limits), files, file, total, value, parts, 0};
  return complete_limits(&l, 1 << 30);
}

std::string field(const std::string& name, const std::string& value, bool file = false) {
  return "--B\r\nContent-Disposition: form-data; name=\"" + name + "\"" + (file ? "; filename=\"x\"" : "") +
         "\r\n\r\n" + value + "\r\n";
}

std::string reason(const std::string& body, const ry_form_limits& l, std::string* detail = nullptr) {
  form_reader::file_names names{"/nowhere/form-", 0};
  form_reader f("multipart/form-data; boundary=B", l, names);
  f.feed(body);
  f.finish();
  if (detail && f.failed()) *detail = f.failed()->detail_json;
  return f.failed() ? f.failed()->reason : "";
}

TEST(form, limits_are_enforced) {
  const std::string two = field("a", "12345", true) + field("b", "12345", true) + "--B--";
  std::string detail;
  EXPECT_EQ("", reason(two, limits()));
  EXPECT_EQ("http.form_too_many_files", reason(two, limits(1)));
  EXPECT_EQ("http.form_file_too_large", reason(two, limits(0, 4), &detail));
  EXPECT_EQ("{\"message\":\"A file of the form is too large\",\"limit\":4,\"field\":\"a\"}", detail);
  EXPECT_EQ("http.form_too_large", reason(two, limits(0, 0, 50)));
  EXPECT_EQ("http.form_too_large", reason(field("a", "12345") + "--B--", limits(0, 0, 0, 4)));
  EXPECT_EQ("http.form_too_many_parts", reason(two, limits(0, 0, 0, 0, 1)));
  EXPECT_EQ("http.form_malformed", reason("x", limits()));
}

TEST(form, memory_is_bounded_for_any_number_of_fields) {
  constexpr std::size_t mib = 1024 * 1024;
  form_reader::file_names names{"/nowhere/form-", 0};
  form_reader f("multipart/form-data; boundary=B", limits(), names);
  std::size_t sent = 0;
  for (; sent < 300 && !f.failed(); ++sent)  // without a closing boundary
    f.feed(field("unknown" + std::to_string(sent), std::string(mib, 'x')));
  ASSERT_TRUE(f.failed());
  EXPECT_LE(sent, 3u);
  EXPECT_EQ("http.form_too_large", f.failed()->reason);
  EXPECT_EQ(413u, f.failed()->http_status);
  EXPECT_EQ(
      "{\"message\":\"The fields of the form are too large together\",\"limit\":2097152,"
      "\"field\":\"unknown1\"}",
      f.failed()->detail_json);

  form_reader u("application/x-www-form-urlencoded", limits(), names);
  for (sent = 0; sent < 300 && !u.failed(); ++sent) u.feed("a=" + std::string(mib, 'x') + "&");
  ASSERT_TRUE(u.failed());
  EXPECT_LE(sent, 3u);

  // Names of empty files count as well; bytes on disk do not.
  form_reader n("multipart/form-data; boundary=B", limits(), names);
  for (sent = 0; sent < 1000 && !n.failed(); ++sent) n.feed(field(std::string(15'000, 'n'), "", true));
  ASSERT_TRUE(n.failed());
  EXPECT_LT(sent, 200u);
  form_reader big("multipart/form-data; boundary=B", limits(), names);
  big.feed(field("a", std::string(3 * mib, 'x'), true) + "--B--");
  EXPECT_FALSE(big.failed());

  // A larger limit for a value also raises the limit for memory.
  form_reader wide("multipart/form-data; boundary=B", limits(0, 0, 0, 4 * mib), names);
  wide.feed(field("a", std::string(3 * mib, 'x')) + "--B--");
  EXPECT_FALSE(wide.failed());
}

TEST(form, the_number_of_parts_is_limited) {
  std::string body;
  for (int i = 0; i < 10'000; ++i) body += field("f" + std::to_string(i), "v");
  body += "--B--";
  EXPECT_EQ("", reason(body, limits(0, 0, 0, 0, 10'000)));
  EXPECT_EQ("http.form_too_many_parts", reason(body, limits()));
}

TEST(form, reads_urlencoded_forms) {
  form_reader::file_names names;
  for (std::size_t step = 1; step < 30; ++step) {
    form_reader f("application/x-www-form-urlencoded; charset=utf-8", limits(), names);
    const std::string_view text = "a=1+2&b=%26%3D&c&=d&a=x";
    for (std::size_t i = 0; i < text.size(); i += step) f.feed(text.substr(i, step));
    f.finish();
    ASSERT_FALSE(f.failed());
    const auto v = f.view();
    ASSERT_EQ(5u, v.n_parts);
    EXPECT_EQ("1 2", core::sv(v.parts[0].value));
    EXPECT_EQ("&=", core::sv(v.parts[1].value));
    EXPECT_EQ("c", core::sv(v.parts[2].name));
    EXPECT_EQ("d", core::sv(v.parts[3].value));
  }
  form_reader bad("application/x-www-form-urlencoded", limits(), names);
  bad.feed("a=%zz");
  bad.finish();
  EXPECT_EQ("http.form_malformed", bad.failed()->reason);
  form_reader type("text/plain", limits(), names);
  EXPECT_EQ(415u, type.failed()->http_status);
}

// ---- heads

TEST(heads, mutations_never_crash) {
  const std::string sample =
      "POST /a?b HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nX-A: "
      "b\r\n\r\n5\r\nhello\r\n0\r\nT: 1\r\n\r\n";
  std::mt19937 rng(3);
  for (int i = 0; i < 30'000; ++i) {
    std::string text = sample;
    for (int k = 0; k < 2; ++k) {
      const auto at = rng() % text.size();
      if (rng() % 2)
        text[at] = static_cast<char>(rng());
      else
        text.erase(at, 1);
    }
    head_scanner s;
    const auto n = s.scan(text, {});
    if (n == 0) continue;
    message_parser p;
    std::vector<ry_header> headers;
    head_info info;
    const auto head = text.substr(0, n);
    if (p.parse_head(head, headers, info)) continue;
    std::string body;
    std::string_view rest = std::string_view(text).substr(n);
    p.decode(rest, body, 1000);
    EXPECT_LE(body.size(), 1000u);
  }
}

TEST(message, a_chunked_body_may_be_split_anywhere) {
  const std::string head = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
  const std::string body = "5\r\nhello\r\nA;x=1\r\n, world!!!\r\n0\r\nX-Late: 1\r\n\r\n";
  for (std::size_t a = 0; a <= body.size(); ++a) {
    for (std::size_t b = a; b <= body.size(); ++b) {
      message_parser p;
      std::vector<ry_header> headers;
      head_info info;
      ASSERT_FALSE(p.parse_head(head, headers, info));
      std::string out;
      const std::string_view whole = body;
      for (const auto piece : {whole.substr(0, a), whole.substr(a, b - a), whole.substr(b)})
        ASSERT_EQ(p.decode(piece, out, 1000), piece.size());
      EXPECT_EQ(out, "hello, world!!!");
      EXPECT_TRUE(p.body_done());
      EXPECT_FALSE(p.refused());
      EXPECT_EQ(headers.size(), 2u);
    }
  }
}

TEST(routes, literals_take_precedence_with_backtracking) {
  route_table t;
  const auto add = [&](const char* method, const char* pattern) {
    compiled_route r;
    r.def.method = method;
    r.def.pattern = pattern;
    t.add(std::move(r));
  };
  add("GET", "/a/{id}");
  add("GET", "/a/b");
  add("GET", "/a/b/c");
  add("POST", "/a/{id}/d");
  add("GET", "/{rest...}");
  add("GET", "/");
  path_values v;
  const auto hit = [&](const char* method, const char* path) {
    const auto m = t.match(method, path, v);
    return m.route ? m.route->def.pattern : std::string("-");
  };
  EXPECT_EQ("/a/b", hit("GET", "/a/b"));
  EXPECT_EQ("/a/{id}", hit("GET", "/a/x"));
  EXPECT_EQ("x", v.at(0));
  EXPECT_EQ("/a/b/c", hit("GET", "/a/b/c"));
  EXPECT_EQ("/a/{id}/d", hit("POST", "/a/b/d"));
  EXPECT_EQ("b", v.at(0));
  EXPECT_EQ("/{rest...}", hit("GET", "/a/b/d"));
  EXPECT_EQ("a/b/d", v.at(0));
  EXPECT_EQ("/", hit("GET", "/"));
  EXPECT_EQ("/a/b", hit("HEAD", "/a/b"));
  EXPECT_EQ("GET, HEAD, OPTIONS, POST", t.match("PUT", "/a/b/d", v).allow);
}

TEST(routes, a_trailing_slash_is_the_same_route) {
  route_table t;
  for (const char* pattern : {"/agents", "/agents/{id}", "/page/", "/files/{path...}"}) {
    compiled_route r;
    r.def.method = "GET";
    r.def.pattern = pattern;
    t.add(std::move(r));
  }
  path_values v;
  const auto hit = [&](const char* path) {
    const auto m = t.match("GET", path, v);
    return m.route ? m.route->def.pattern : std::string("-");
  };
  EXPECT_EQ("/agents", hit("/agents/"));
  EXPECT_EQ("/agents/{id}", hit("/agents/x/"));
  EXPECT_EQ("x", v.at(0));
  EXPECT_EQ("GET, HEAD, OPTIONS", t.match("POST", "/agents/", v).allow);
  EXPECT_EQ("/page/", hit("/page/"));
  EXPECT_EQ("/files/{path...}", hit("/files/a/"));
  EXPECT_EQ("a/", v.at(0)) << "part of the path parameter, not of the route";
  for (const char* other : {"/", "//", "/agents//", "/page", "/files", "/agents/x/y/"})
    EXPECT_EQ("-", hit(other)) << other;
}

TEST(routes, parameters_must_be_valid_utf8) {
  route_table t;
  for (const char* pattern : {"/pair/{first}/{second}", "/files/{rest...}"}) {
    compiled_route r;
    r.def.method = "GET";
    r.def.pattern = pattern;
    t.add(std::move(r));
  }
  path_values v;
  const auto bad = [&](const std::string& path) {
    const auto m = t.match("GET", path, v);
    return m.outcome == match_outcome::found      ? std::string()
           : m.outcome == match_outcome::bad_text ? std::string(m.parameter)
                                                  : std::string("?");
  };
  EXPECT_EQ("", bad("/pair/%c3%a9/\xc3\xa9"));
  EXPECT_EQ("", bad("/files/%e2%82%ac/x"));
  EXPECT_EQ("first", bad("/pair/%ff/x"));
  EXPECT_EQ("first", bad("/pair/\xff/x"));
  EXPECT_EQ("second", bad("/pair/x/%ed%a0%80"));
  EXPECT_EQ("first", bad("/pair/%c3/%a9")) << "two invalid halves do not form a valid character";
  EXPECT_EQ("rest", bad("/files/a/%c0%af"));
}

}  // namespace
}  // namespace ry::http::serving
