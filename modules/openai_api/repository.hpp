// All SQL statements of this module.
#pragma once
#include <optional>
#include <ry/ry.hpp>
#include <string>

namespace openai_api {

struct response_row {
  ry::uuid id;  // the run, unless the response continues it
  ry::uuid run, account, thread;
  std::string base;  // JSON object
  std::string system;
  std::string answered;  // JSON: response_identity::answered; empty: the first response of the run
  bool only_output = false;  // response_identity::only_output
};

class repository {
 public:
  explicit repository(const ry::context& ctx) : ctx_(ctx) {}

  // Does nothing if the run has a row: the start was repeated with its idempotency key.
  ry::task<void> add(response_row row, ry::tx& in) const;
  ry::task<void> add(response_row row) const;
  // nullopt: unknown, deleted, or of another account.
  ry::task<std::optional<response_row>> find(ry::uuid account, ry::uuid id) const;
  // The newest response of a run.
  ry::task<std::optional<response_row>> find_newest(ry::uuid account, ry::uuid run) const;
  // The response that continues a run with these answers.
  ry::task<std::optional<response_row>> find_answered(ry::uuid account, ry::uuid run, std::string answered) const;
  ry::task<bool> is_deleted(ry::uuid account, ry::uuid id) const;
  ry::task<void> mark_deleted(ry::uuid account, ry::uuid id) const;
  // Whether the run has a response that is not deleted.
  ry::task<bool> has_responses_of_run(ry::uuid account, ry::uuid run) const;
  // Whether the account has a response of this thread that is not deleted.
  ry::task<bool> has_responses(ry::uuid account, ry::uuid thread) const;
  // The number of runs of a thread whose first response is deleted.
  ry::task<std::int64_t> count_deleted(ry::uuid account, ry::uuid thread) const;
  ry::task<void> delete_thread(ry::uuid account, ry::uuid thread) const;
  ry::task<void> delete_account(ry::uuid account) const;
  // Deletes the rows whose retention has ended.
  ry::task<void> prune() const;

 private:
  const ry::context& ctx_;
};

}  // namespace openai_api
