#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ry/testing.hpp>

#include "site.hpp"

using testing::HasSubstr;
using testing::Not;

namespace {

class console_page : public testing::Test {
 protected:
  console_page() { host_.load(*ry_module_entry()); }
  ry::testing::answer get(const std::string& path, ry::headers fields = {}) {
    ry::testing::call_options o;
    o.principal_subject.clear();
    o.fields = std::move(fields);
    return host_.call("GET", path, o);
  }
  // The URLs of the files that the page refers to.
  static std::vector<std::string> files_of(const std::string& html) {
    std::vector<std::string> out;
    for (std::size_t at = html.find("console/assets/"); at != html.npos; at = html.find("console/assets/", at + 1)) {
      out.push_back("/" + html.substr(at, html.find('"', at) - at));
    }
    return out;
  }
  ry::testing::fake_host host_;
};

}  // namespace

TEST_F(console_page, serves_the_page_with_a_strict_policy) {
  for (const std::string path : {"/auth?ref=ABCD2345", "/console"}) {
    const auto a = get(path);
    EXPECT_EQ(a.status, 200u);
    EXPECT_EQ(a.header("Content-Type"), "text/html; charset=utf-8");
    EXPECT_EQ(a.header("Cache-Control"), "no-cache");
    const std::string policy(a.header("Content-Security-Policy"));
    EXPECT_THAT(policy, HasSubstr("default-src 'none'"));
    EXPECT_THAT(policy, HasSubstr("frame-ancestors 'none'"));
    EXPECT_THAT(policy, Not(HasSubstr("unsafe")));
    EXPECT_EQ(a.header("Referrer-Policy"), "no-referrer");
    EXPECT_EQ(a.header("X-Content-Type-Options"), "nosniff");
    EXPECT_THAT(a.body, Not(HasSubstr("{{")));
    EXPECT_THAT(a.body, Not(HasSubstr("<style")));
    EXPECT_THAT(a.body, Not(HasSubstr("style=")));
  }
  EXPECT_EQ(get("/").status, 303u);
}

TEST_F(console_page, files_are_named_by_content_and_cached_permanently) {
  const auto files = files_of(get("/console").body);
  ASSERT_EQ(files.size(), 3u);
  for (const auto& path : files) {
    const auto a = get(path);
    EXPECT_EQ(a.status, 200u) << path;
    EXPECT_THAT(std::string(a.header("Cache-Control")), HasSubstr("immutable"));
    EXPECT_FALSE(a.header("Content-Type").empty());
  }
  EXPECT_EQ(get("/console/assets/app.js").status, 404u);
  EXPECT_EQ(get("/console/assets/index.html").status, 404u);
}

TEST_F(console_page, the_page_is_compressed_and_revalidated) {
  const auto plain = get("/console");
  const auto compressed = get("/console", {{"Accept-Encoding", "br, gzip;q=0.8"}});
  EXPECT_EQ(plain.header("Content-Encoding"), "");
  EXPECT_EQ(compressed.header("Content-Encoding"), "gzip");
  EXPECT_LT(compressed.body.size(), plain.body.size());
  EXPECT_EQ(compressed.header("Vary"), "Accept-Encoding");
  EXPECT_NE(compressed.header("ETag"), plain.header("ETag"));
  for (const auto& tag : {plain.header("ETag"), compressed.header("ETag")}) {
    const auto revalidated = get("/console", {{"If-None-Match", "\"x\", W/" + std::string(tag)}});
    EXPECT_EQ(revalidated.status, 304u);
    EXPECT_EQ(revalidated.body, "");
    EXPECT_FALSE(revalidated.header("Content-Security-Policy").empty());
  }
  EXPECT_EQ(get("/console", {{"If-None-Match", "\"other\""}}).status, 200u);
}

TEST(console_site, accepts_gzip_reads_the_accept_encoding_header) {
  using console::accepts_gzip;
  EXPECT_TRUE(accepts_gzip("gzip"));
  EXPECT_TRUE(accepts_gzip("br , GZIP"));
  EXPECT_TRUE(accepts_gzip("*"));
  EXPECT_FALSE(accepts_gzip(""));
  EXPECT_FALSE(accepts_gzip("br, gzip;q=0"));
  EXPECT_FALSE(accepts_gzip("gzip; q=0.000"));
  EXPECT_FALSE(accepts_gzip("x-gzip"));
}

TEST(console_site, a_page_that_refers_to_a_missing_file_throws) {
  const std::vector<console::source> no_page{{"app.js", "x"}};
  EXPECT_THROW(console::site{no_page}, ry::error);
  EXPECT_THROW(console::site({{"index.html", "{{app.css}}"}, {"app.js", "x"}}), ry::error);
  EXPECT_THROW(console::site({{"index.html", "{{app.js"}, {"app.js", "x"}}), ry::error);
  const console::site first({{"index.html", "{{app.js}}"}, {"app.js", "x"}});
  const console::site second({{"index.html", "{{app.js}}"}, {"app.js", "y"}});
  EXPECT_NE(first.page("index.html").plain, second.page("index.html").plain);
}
