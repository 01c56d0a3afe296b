// Test fixture: a client with its own loops, and a recorder of its responses.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/exec/loop.hpp"
#include "core/exec/op_table.hpp"
#include "core/http/client/client.hpp"
#include "core/module/host.hpp"

namespace ry::http::test {

struct answer {
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  ry_status status = RY_OK;
  std::string reason, message;
  std::uint32_t http = 0;
  std::string url, peer, body;
  std::vector<std::pair<std::string, std::string>> headers;
  int heads = 0, pieces = 0, dones = 0;
  bool wrong_thread = false;
  ry_exec* exec = nullptr;
  ry_op_id op = 0;
  std::function<ry_status(std::string_view)> on_data;  // on the loop
  std::chrono::steady_clock::time_point ended;

  bool wait(int ms = 30'000) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, std::chrono::milliseconds(ms), [&] { return done; });
  }
  std::size_t size() {
    std::lock_guard lock(mutex);
    return body.size();
  }
  bool wait_body(std::size_t n, int ms = 5'000) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, std::chrono::milliseconds(ms), [&] { return body.size() >= n; });
  }
};

struct call {
  std::string method = "GET", url, body, pool_key, proxy;
  std::vector<std::pair<std::string, std::string>> headers;
  std::uint32_t flags = 0;
  std::uint64_t connect_ms = 10'000, idle_ms = 10'000, total_ms = 0, max = 0;
  std::function<ry_status(std::string_view)> on_data;
  std::uint64_t trust = 0;
  std::string account;
};

struct client_fixture {
  exec::loop_pool loops;
  exec::op_table ops;
  module::runtime rt;
  client http;
  ry_host host{rt, "tester", 1};

  explicit client_fixture(client_settings s = {address_guard::off}, std::size_t n = 1)
      : loops(n), http(loops, ops, std::move(s)) {
    rt.loops = &loops;
    rt.ops = &ops;
    rt.http_client = &http;
  }
  ~client_fixture() {
    http.stop();
    for (int i = 0; i < 5000 && host.outstanding > 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    loops.stop_and_join();
  }

  std::shared_ptr<answer> start(const call& c, std::size_t loop = 0) {
    auto a = std::make_shared<answer>();
    a->exec = &loops.at(loop);
    a->on_data = c.on_data;
    std::vector<ry_header> hs;
    for (const auto& [n, v] : c.headers) hs.push_back({core::view(n), core::view(v)});
    ry_client_request r{};
    r.struct_size = sizeof r;
    r.flags = c.flags;
    r.method = core::view(c.method);
    r.url = core::view(c.url);
    r.headers = hs.data();
    r.n_headers = hs.size();
    r.body = core::bytes(c.body);
    r.connect_timeout_ms = c.connect_ms;
    r.idle_timeout_ms = c.idle_ms;
    r.total_timeout_ms = c.total_ms;
    r.max_response_bytes = c.max;
    r.pool_key = core::view(c.pool_key);
    r.proxy = core::view(c.proxy);
    r.trust = c.trust;
    r.account = core::view(c.account);
    const ry_client_handler h{sizeof h, 0, &on_head, &on_data, &on_done};
    auto* ctx = new std::shared_ptr<answer>(a);
    ry_op_id op = 0;
    const auto st = http_client_v1().request(&host, a->exec, &r, &h, ctx, &op);
    std::lock_guard lock(a->mutex);
    a->op = op;
    if (st != RY_OK) {
      a->status = st;
      a->done = true;
      delete ctx;
    }
    return a;
  }
  std::shared_ptr<answer> run(const call& c) {
    auto a = start(c);
    if (!a->wait()) std::abort();
    return a;
  }
  void drop_idle(std::string_view key) { http_client_v1().drop_idle(&host, &loops.at(0), core::view(key)); }
  void resume(const answer& a) { http_client_v1().resume(&host, a.op); }

  static void on_head(void* ctx, const ry_client_response* r) noexcept {
    auto& a = **static_cast<std::shared_ptr<answer>*>(ctx);
    std::lock_guard lock(a.mutex);
    ++a.heads;
    a.wrong_thread = a.wrong_thread || !a.exec->is_current();
    a.http = r->status;
    a.url = core::str(r->url);
    a.peer = core::str(r->peer_address);
    for (std::size_t i = 0; i < r->n_headers; ++i)
      a.headers.emplace_back(core::str(r->headers[i].name), core::str(r->headers[i].value));
    a.changed.notify_all();
  }
  static ry_status on_data(void* ctx, ry_bytes chunk) noexcept {
    auto& a = **static_cast<std::shared_ptr<answer>*>(ctx);
    {
      std::lock_guard lock(a.mutex);
      ++a.pieces;
      a.wrong_thread = a.wrong_thread || !a.exec->is_current();
      a.body.append(core::sv(chunk));
      a.changed.notify_all();
    }
    return a.on_data ? a.on_data(core::sv(chunk)) : RY_OK;
  }
  static void on_done(void* ctx, ry_status st, const ry_error_view* err) noexcept {
    const std::unique_ptr<std::shared_ptr<answer>> own(static_cast<std::shared_ptr<answer>*>(ctx));
    auto& a = **own;
    std::lock_guard lock(a.mutex);
    ++a.dones;
    a.wrong_thread = a.wrong_thread || !a.exec->is_current();
    a.status = st;
    if (err) {
      a.reason = core::str(err->reason);
      a.message = core::str(err->message);
    }
    a.ended = std::chrono::steady_clock::now();
    a.done = true;
    a.changed.notify_all();
  }
};

}  // namespace ry::http::test
