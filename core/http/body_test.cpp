// Tests of request bodies read on demand, and of forms.
#include <sys/stat.h>

#include <atomic>
#include <fstream>

#include "core/http/test_streams.hpp"

namespace ry::http::test {
namespace {

// ---- bodies

struct upload {
  ry_request* request;
  std::size_t bytes = 0;
  static void piece(void* ctx, ry_status st, ry_bytes chunk) noexcept {
    auto* self = static_cast<upload*>(ctx);
    if (st != RY_OK) {
      reply(self->request, st == RY_RESOURCE_EXHAUSTED ? 413 : 400, std::to_string(st));
    } else if (chunk.len == 0) {
      reply(self->request, 200, std::to_string(self->bytes));
    } else {
      self->bytes += chunk.len;
      EXPECT_EQ(RY_OK, api().read_body(self->request, &upload::piece, self));
      return;
    }
    delete self;
  }
};

long rss_kib() {
  std::ifstream f("/proc/self/statm");
  long all = 0, resident = 0;
  f >> all >> resident;
  return resident * 4;
}

TEST_F(streams, a_body_can_be_read_in_pieces) {
  make();
  w->route(
      "POST", "/upload", [](auto&, auto* r) { return api().read_body(r, &upload::piece, new upload{r}); },
      RY_ROUTE_PUBLIC | RY_ROUTE_STREAM_BODY, 300'000'000);
  w->start();
  client c(*w);
  EXPECT_EQ("0", c.ask("POST /upload HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n").body);
  EXPECT_EQ("8", c.ask("POST /upload HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
                       "3\r\nabc\r\n5\r\nabcde\r\n0\r\n\r\n")
                     .body);
  c.send("POST /upload HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  EXPECT_EQ(100, c.read(true).status);
  c.send("ab");
  EXPECT_EQ("2", c.read().body);
  const std::string piece(1 << 20, 'u');
  const auto before = rss_kib();
  c.send("POST /upload HTTP/1.1\r\nHost: x\r\nContent-Length: 209715200\r\n\r\n");
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(c.send(piece));
  EXPECT_EQ("209715200", c.read().body);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_LT(rss_kib() - before, 8 * 1024);
#endif
  // The module is notified if the client disconnects within the body.
  client leaver(*w);
  leaver.send("POST /upload HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nabc");
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  leaver.close();
  EXPECT_TRUE(eventually([&] { return w->host.outstanding == 0; }));
  EXPECT_EQ(413, client(*w)
                     .ask("POST /upload HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
                          "FFFFFFFF\r\n")
                     .status);
}

TEST_F(streams, an_unread_body_is_discarded) {
  make();
  std::atomic<ry_request*> pending{nullptr};
  w->route(
      "POST", "/wait",
      [&](auto&, auto* r) {
        pending = r;
        return RY_OK;
      },
      RY_ROUTE_PUBLIC | RY_ROUTE_STREAM_BODY, 1 << 30);
  w->start();
  client c(*w);
  c.send("POST /wait HTTP/1.1\r\nHost: x\r\nContent-Length: 500000000\r\n\r\n");
  std::thread sender([&] {
    const std::string piece(1 << 20, 'u');
    for (int i = 0; i < 64 && c.send(piece); ++i) {
    }
  });
  ASSERT_TRUE(eventually([&] { return pending.load() != nullptr; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_LT(w->srv->stats().bytes_in, 1u << 20) << "the server must apply backpressure";
  reply(pending, 403, "no");
  const auto r = c.read();
  EXPECT_EQ(403, r.status);
  EXPECT_EQ("close", r.header("Connection"));
  sender.join();
}

struct form_result {
  ry_request* request;
  bool keep = false;
  std::string kept_path;
  static void done(void* ctx, ry_status st, const ry_form* form, const ry_error_view* err) noexcept {
    auto* self = static_cast<form_result*>(ctx);
    if (st != RY_OK) {
      if (st != RY_CANCELLED)
        api().fail(self->request, err);
      else
        reply(self->request, 500, "");
    } else {
      std::string text;
      for (std::size_t i = 0; i < form->n_parts; ++i) {
        const auto& p = form->parts[i];
        text += core::str(p.name) + "=" + (p.is_file ? "@" + std::to_string(p.size) : core::str(p.value)) + ";";
        if (p.is_file) {
          struct stat info {};
          EXPECT_EQ(0, ::stat(core::str(p.path).c_str(), &info));
          EXPECT_EQ(0600u, info.st_mode & 0777u);
          EXPECT_EQ(p.size, static_cast<std::uint64_t>(info.st_size));
          if (self->keep) std::filesystem::rename(core::str(p.path), core::str(p.path) + "-kept");
        }
      }
      reply(self->request, 200, text);
    }
    delete self;
  }
};

struct forms : streams {
  void start(std::uint64_t file_limit = 0) {
    make();
    w->route(
        "POST", "/form",
        [file_limit](auto&, auto* r) {
          const ry_form_limits l{sizeof(ry_form_limits), 0, file_limit, 0, 0, 20'000, 0};
          return api().read_form(r, &l, &form_result::done, new form_result{r});
        },
        RY_ROUTE_PUBLIC | RY_ROUTE_STREAM_BODY);
    w->route(
        "POST", "/keep",
        [](auto&, auto* r) {
          return api().read_form(r, nullptr, &form_result::done, new form_result{r, true});
        },
        RY_ROUTE_PUBLIC | RY_ROUTE_STREAM_BODY);
    w->start();
  }
  static std::string head(std::string_view path, std::size_t n) {
    return "POST " + std::string(path) +
           " HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=B\r\n"
           "Content-Length: " +
           std::to_string(n) + "\r\n\r\n";
  }
  static std::string part(const std::string& name, const std::string& value, bool file) {
    return "--B\r\nContent-Disposition: form-data; name=\"" + name + "\"" + (file ? "; filename=\"f\"" : "") +
           "\r\n\r\n" + value + "\r\n";
  }
  std::size_t spooled() const {
    std::size_t n = 0;
    for (const auto& e : std::filesystem::directory_iterator(w->spool)) n += e.is_regular_file();
    return n;
  }
};

TEST_F(forms, fields_and_files_are_read) {
  start();
  client c(*w);
  const auto body = part("prompt", "hello", false) + part("files", std::string(700'000, 'x'), true) +
                    part("files", "", true) + "--B--\r\n";
  for (int i = 0; i < 3; ++i) {
    const auto r = c.ask(head("/form", body.size()) + body);
    EXPECT_EQ(200, r.status) << r.body;
    EXPECT_EQ("prompt=hello;files=@700000;files=@0;", r.body);
  }
  EXPECT_TRUE(eventually([&] { return spooled() == 0; })) << "files are deleted with their request";
  EXPECT_EQ(200, c.ask(head("/keep", body.size()) + body).status);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(2u, spooled()) << "files that the module moved are kept";
  EXPECT_EQ("a=1 2;b=;", c.ask("POST /form HTTP/1.1\r\nHost: x\r\nContent-Type: "
                               "application/x-www-form-urlencoded\r\nContent-Length: 8\r\n\r\na=1+2&b=")
                             .body);
}

TEST_F(forms, invalid_forms_are_rejected) {
  start(1000);
  const auto big = part("files", std::string(1001, 'x'), true) + "--B--\r\n";
  const auto r = client(*w).ask(head("/form", big.size()) + big);
  EXPECT_EQ(413, r.status);
  EXPECT_EQ(
      "{\"detail\":{\"message\":\"A file of the form is too "
      "large\",\"limit\":1000,\"field\":\"files\"}}",
      r.body);
  const auto open_end = part("a", "b", false);
  EXPECT_EQ(400, client(*w).ask(head("/form", open_end.size()) + open_end).status);
  EXPECT_EQ(415, client(*w)
                     .ask("POST /form HTTP/1.1\r\nHost: x\r\nContent-Type: "
                          "text/plain\r\nContent-Length: 1\r\n\r\na")
                     .status);
  EXPECT_EQ(400, client(*w)
                     .ask("POST /form HTTP/1.1\r\nHost: x\r\nContent-Type: "
                          "multipart/form-data\r\nContent-Length: 1\r\n\r\na")
                     .status);
  // The client receives the response while it still sends a body that is far too large.
  client c(*w);
  c.send(head("/form", 50'000'000) + part("files", std::string(2000, 'x'), true));
  EXPECT_EQ(413, c.read().status);
  EXPECT_TRUE(eventually([&] { return spooled() == 0; }));
}

TEST_F(forms, many_small_files_are_read) {
  start();
  std::string body;
  for (int i = 0; i < 900; ++i) body += part("f", "abc", true);
  body += "--B--\r\n";
  client c(*w);
  c.send(head("/form", body.size()) + body);
  EXPECT_EQ(200, c.read(false, 30'000).status);
  EXPECT_TRUE(eventually([&] { return spooled() == 0; }));
}

TEST_F(forms, a_large_upload_uses_constant_memory) {
  start();
  client c(*w);
  const std::string piece(1 << 20, 'u');
  const auto first = "--B\r\nContent-Disposition: form-data; name=\"files\"; filename=\"f\"\r\n\r\n";
  const std::string last = "\r\n--B--\r\n";
  const auto before = rss_kib();
  c.send(head("/form", std::string_view(first).size() + 200 * piece.size() + last.size()) + first);
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(c.send(piece));
  c.send(last);
  const auto after = rss_kib();
  EXPECT_EQ("files=@209715200;", c.read(false, 30'000).body);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_LT(after - before, 8 * 1024);
#else
  EXPECT_GT(after, before - 1);
#endif
}

TEST_F(forms, the_client_disconnects_during_the_upload) {
  start();
  for (int i = 0; i < 10; ++i) {
    client c(*w);
    c.send(head("/form", 50'000'000) + part("files", std::string(600'000, 'x'), true));
    if (i % 2) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    c.reset();
  }
  EXPECT_TRUE(eventually([&] { return w->host.outstanding == 0; }));
  EXPECT_TRUE(eventually([&] { return spooled() == 0; }));
}

}  // namespace
}  // namespace ry::http::test
