// All SQL statements of this module.
#pragma once
#include <optional>
#include <ry/ry.hpp>
#include <string>

namespace openai_api {

struct response_row {
  ry::uuid run, account, thread;
  std::string base;  // JSON object
  std::string system;
};

class repository {
 public:
  explicit repository(const ry::context& ctx) : ctx_(ctx) {}

  // Does nothing if the run has a row: the start was repeated with its idempotency key.
  ry::task<void> add(response_row row, ry::tx& in) const;
  // nullopt: unknown, deleted, or of another account.
  ry::task<std::optional<response_row>> find(ry::uuid account, ry::uuid run) const;
  // Whether the response of this run was deleted.
  ry::task<bool> is_deleted(ry::uuid account, ry::uuid run) const;
  ry::task<void> mark_deleted(ry::uuid account, ry::uuid run) const;
  // Whether the account has a response of this thread that is not deleted.
  ry::task<bool> has_responses(ry::uuid account, ry::uuid thread) const;
  // The number of deleted responses of a thread.
  ry::task<std::int64_t> count_deleted(ry::uuid account, ry::uuid thread) const;
  ry::task<void> delete_thread(ry::uuid account, ry::uuid thread) const;
  ry::task<void> delete_account(ry::uuid account) const;
  // Deletes the rows whose retention has ended.
  ry::task<void> prune() const;

 private:
  const ry::context& ctx_;
};

}  // namespace openai_api
