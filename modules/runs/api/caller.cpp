#include "api/caller.hpp"

#include <utility>

#include "error_response.hpp"

namespace runs {

ry::task<caller> caller_of(const ry::service<ry_accounts_v1>& accounts, const ry::request& request) {
  const ry_principal* principal = request.principal();
  if (principal == nullptr) throw refusal(401, "Not authenticated");
  ry::result<caller> result = co_await ry::call<caller, const ry_account_view*>(
      [&accounts, principal](ry_exec* exec, ry_account_fn fn, void* ctx) {
        return accounts->ensure(accounts.self(), principal, exec, fn, ctx);
      },
      [](const ry_account_view* a) {
        return caller{ry::text(a->account_id_text), a->account_id, a->role, a->tier};
      });
  if (!result) throw result.error();
  co_return std::move(*result);
}

}  // namespace runs
