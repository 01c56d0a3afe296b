// The deployment's own tokens: ry.auth/1.
#pragma once

#include <ry/cpp/take.hpp>
#include <string>
#include <string_view>

namespace ry {

class auth {
 public:
  explicit auth(const context& ctx) : ctx_(&ctx), table_(&ctx.interface<ry_auth_v1>()) {}
  result<std::string> mint(std::string_view claims_json, std::uint64_t ttl_ms) const {
    return detail::taken("auth.mint", [&](ry_take_fn take, void* p) {
      return table_->mint(ctx_->host(), str(claims_json), ttl_ms, take, p);
    });
  }
  result<std::string> mint_query_token(const ry_principal& who, std::string_view path, std::uint64_t ttl_ms) const {
    return detail::taken("auth.mint_query_token", [&](ry_take_fn take, void* p) {
      return table_->mint_query_token(ctx_->host(), &who, str(path), ttl_ms, take, p);
    });
  }
  void forget(std::string_view subject) const noexcept { table_->forget(ctx_->host(), str(subject)); }
  void revoke_session(std::string_view subject, std::string_view session, std::int64_t until_unix_us) const {
    check(table_->revoke_session(ctx_->host(), str(subject), str(session), until_unix_us), "auth.revoke_session");
  }

 private:
  const context* ctx_;
  const ry_auth_v1* table_;
};
inline auth context::auth() const {
  return ry::auth(*this);
}

}  // namespace ry
