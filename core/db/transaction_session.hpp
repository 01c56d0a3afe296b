// An interactive transaction: it spans several calls of a module and occupies one worker until it ends. Internal to
// core/db.
#pragma once

#include <ry/if/db.h>

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>

#include "core/db/async_statement.hpp"
#include "core/db/pool.hpp"
#include "core/module/host.hpp"

namespace ry::db {

class tx_session final : public task {
 public:
  enum class ending { commit, rollback };

  tx_session(pool& p, const ry_host* host, std::uint32_t flags, ry_exec* exec, ry_tx_fn fn, void* ctx);

  void offer_cancel(ry_op_id* op);
  void drop() noexcept;
  void refuse(failure f);
  // Calls run sequentially. [any]
  void push(std::shared_ptr<async_statement> c);
  void end(ending how, ry_exec* exec, ry_done done);

  void run(connection& c) noexcept override;  // runs the transaction from begin to end
  void done() noexcept override;  // cancelled before a worker took it

 private:
  struct step {
    std::shared_ptr<async_statement> call;  // nullptr: the end
    ending how = ending::rollback;
    ry_exec* exec = nullptr;
    ry_done done{};
    module::hold keep;
    observe::trace_ref trace;
  };
  void give_out() noexcept;
  std::optional<step> next();
  // Returns why the session ended early; nullopt if its owner ended it.
  std::optional<failure> serve(connection& c);
  void answer(step& s, const failure& f) noexcept;
  void close_with(const failure& f) noexcept;

  pool& pool_;
  module::hold keep_;
  const std::uint32_t flags_;
  ry_exec* const exec_;
  const ry_tx_fn fn_;
  void* const ctx_;
  ry_op_id op_ = 0;
  const observe::trace_ref trace_ = observe::current_trace();
  std::atomic<bool> cancelled_{false};
  steady::time_point deadline_{};

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<step> steps_;
  std::optional<failure> closed_;  // set when the worker has left; answers later calls
};

}  // namespace ry::db

struct ry_tx {
  std::shared_ptr<ry::db::tx_session> session;
  ry::module::hold keep;
};
