// A fixture with one live stream, for tests of streams and of bodies.
#pragma once

#include <atomic>

#include "core/http/test_fixture.hpp"

namespace ry::http::test {

inline constexpr ry_header sse{{"Content-Type", 12}, {"text/event-stream", 17}};

inline ry_stream* open(ry_request* r, std::uint32_t status = 200) {
  ry_stream* s = nullptr;
  EXPECT_EQ(RY_OK, api().stream_open(r, status, &sse, 1, &s));
  return s;
}
inline ry_status write(ry_stream* s, std::string_view text) {
  return api().stream_write(s, core::bytes(text));
}

struct streams : ::testing::Test {
  settings s = server_fixture::defaults();
  std::unique_ptr<server_fixture> w;
  std::atomic<ry_stream*> stream{nullptr};
  std::atomic<int> why{0}, closes{0};
  void make() {
    w = std::make_unique<server_fixture>(s);
    w->route("GET", "/hello", [](auto&, auto* r) { return reply(r, 200, "hi"); });
    w->route(
        "GET", "/live",
        [this](auto& v, auto* r) {
          auto* st = open(r);
          api().stream_on_close(
              st, v.exec,
              [](void* ctx, std::int32_t y) noexcept {
                auto& t = *static_cast<streams*>(ctx);
                t.why = y;
                ++t.closes;
                api().stream_close(t.stream.exchange(nullptr));
              },
              this);
          stream = st;
          return RY_OK;
        },
        RY_ROUTE_PUBLIC | RY_ROUTE_LONG);
  }
  ry_stream* live() {
    EXPECT_TRUE(eventually([&] { return stream.load() != nullptr; }));
    return stream;
  }
};

}  // namespace ry::http::test
