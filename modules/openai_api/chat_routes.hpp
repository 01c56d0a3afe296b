// The route of Chat Completions. Each request has a temporary thread.
#pragma once
#include <optional>
#include <ry/ry.hpp>

#include "chat_builder.hpp"
#include "run_access.hpp"

namespace openai_api {

class chat_routes {
 public:
  chat_routes(const ry::context& ctx, const run_access& access) : ctx_(ctx), access_(access) {}
  void add_to(ry::registrar& reg);

 private:
  struct started_chat {
    ry::uuid account;
    started_run run;
    chat_identity identity;
    bool stream = false;
    bool keep = false;  // a repetition with the same Idempotency-Key may follow
  };

  ry::task<void> create(ry::request r);
  ry::task<std::optional<started_chat>> open(ry::request r, std::optional<ry::response>& failure);
  ry::task<started_chat> start(ry::request r);
  ry::task<ry::response> finish(ry::request r, started_chat s);
  ry::task<void> send_stream(ry::request r, started_chat s);
  ry::task<void> limit_wait(const started_chat& s, chat_builder& builder);
  ry::task<void> settle(started_chat s, bool ended);

  const ry::context& ctx_;
  const run_access& access_;
};

}  // namespace openai_api
