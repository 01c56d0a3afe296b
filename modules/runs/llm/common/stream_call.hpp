// One request over ry.http_client/1: sends it, passes the response body to a reader and the reader's output to the
// sink, and completes exactly once. Thread: the executor of the call.
#pragma once

#include <ry/ext/llm_provider.h>

#include <functional>
#include <memory>
#include <ry/ry.hpp>
#include <string>
#include <vector>

#include "answer.hpp"
#include "body_reader.hpp"
#include "request.hpp"
#include "retry_hint.hpp"
#include "tool_set.hpp"

namespace llm {

// Settings shared by all drivers over HTTP.
struct endpoint {
  std::string name;  // of the provider; also the key of its connection pool
  std::string url;  // of the request
  std::string secret;
  std::vector<std::string> secrets;  // masked in all messages: the key, values of headers and of the URL
  ry::headers headers;
  std::uint64_t total_ms = 600'000, idle_ms = 120'000;
  enum class proxy_from { environment, setting, none };
  proxy_from proxied = proxy_from::environment;
  std::string proxy;  // with proxy_from::setting
  std::string ca_pem;  // certificates trusted in addition to the system's; empty: none
  std::uint64_t trust = 0;  // the host's handle for these certificates
};

// The request body, and the reader for the response.
struct exchange {
  std::string body;
  std::unique_ptr<answer_reader> reader;
  std::shared_ptr<const call_names> names = nullptr;  // names changed for the provider; nullptr: none
  std::vector<notice> notices = {};  // passed to the sink before the answer begins
};

class stream_call final : receiver {
 public:
  // The caller's sink, and the estimated tokens of the request.
  struct caller {
    ry_exec* exec;
    const ry_llm_sink& sink;
    void* ctx;
    std::int64_t input_estimate;
  };
  // A status other than RY_OK: not started. *call is valid until on_end has returned. `at` outlives the call.
  static ry_status start(const ry::context& host, const endpoint& at, exchange e, const caller& from, void** call);
  // For a request that takes a long time to build: `prepare` runs on a blocking thread and may throw.
  static ry_status start(const ry::context& host, const endpoint& at, std::function<exchange()> prepare,
                         const caller& from, void** call);
  static void cancel(void* call);

 private:
  struct preparation;
  stream_call(const ry::context& host, const endpoint& at, const caller& from);

  ry_status send(const endpoint& at, exchange e);
  static void on_head(void* self, const ry_client_response* response) noexcept;
  static ry_status on_data(void* self, ry_bytes chunk) noexcept;
  static void on_done(void* self, ry_status st, const ry_error_view* err) noexcept;

  void text(std::string_view s) override { sink_.on_text(ctx_, ry::str(s)); }
  void reasoning(std::string_view s) override { sink_.on_reasoning(ctx_, ry::str(s)); }
  void tool_call(std::string_view id, std::string_view name, std::string_view args) override;
  void reasoning_block(std::string_view json) override {
    if (sink_.on_reasoning_block != nullptr)  // null when struct_size is smaller
      sink_.on_reasoning_block(ctx_, ry::str(json));
  }

  void report_notices();
  ry_status receive(std::string_view bytes);
  void closed(ry_status st, const ry_error_view* err);
  void end();
  void end(const failure& f);
  ry_llm_end summary(std::int32_t finish) const;
  void close_after(std::uint64_t ms);

  const ry::context& host_;
  const std::vector<std::string>& secrets_;  // of the endpoint
  std::unique_ptr<answer_reader> reader_;  // none before the request is built
  std::shared_ptr<const call_names> names_;
  std::vector<notice> notices_;
  const std::int64_t input_estimate_;
  ry_llm_sink sink_{};
  void* const ctx_;
  body_reader body_;
  ry_op_id op_ = 0, linger_op_ = 0;
  ry_exec* const exec_;
  unsigned status_ = 0;
  retry_headers retry_headers_;
  std::size_t after_end_ = 0;
  std::string error_body_;
  bool done_ = false, cancelled_ = false;
};

}  // namespace llm
