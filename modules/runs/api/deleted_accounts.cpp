#include "api/deleted_accounts.hpp"

namespace runs {
namespace {
constexpr std::int64_t page_size = 100;
}  // namespace

ry::task<std::vector<std::string>> deleted_accounts::some_threads(std::string account) const {
  const auto rows = (co_await ctx_.db().query("select id::text from runs.threads where account_id = $1::uuid limit $2",
                                              account, page_size))
                        .value();
  std::vector<std::string> out;
  for (const ry::row row : rows) out.emplace_back(row.text(0));
  co_return out;
}

ry::task<void> deleted_accounts::erase_account(ry::event e) {
  const std::optional<std::string> account = canonical_uuid(e.key());
  if (!account) co_return;
  for (auto threads = co_await some_threads(*account); !threads.empty(); threads = co_await some_threads(*account)) {
    for (const std::string& id : threads) {
      const bool erased = co_await threads_.erase(*account, id) != thread_routes::erasure::busy;
      // The event queue redelivers the event later.
      if (!erased) throw ry::unavailable("runs.busy", "a run of a deleted account has not stopped yet");
    }
  }
  const ry::result<ry::rows> forgotten =
      co_await ctx_.db().query("delete from runs.remembered_approvals where account_id = $1::uuid", *account);
  forgotten.value();
}

}  // namespace runs
