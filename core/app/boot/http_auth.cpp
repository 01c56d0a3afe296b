#include "core/app/boot/http_auth.hpp"

namespace ry::app {

namespace {

http::verdict translated(auth::principal_ptr who) {
  http::verdict out{RY_OK, who->view(), nullptr};
  out.owner = std::move(who);
  return out;
}

http::verdict translated(auth::verdict v) {
  if (v.status == RY_OK && v.who) return translated(std::move(v.who));
  return {v.status == RY_OK ? RY_UNAUTHENTICATED : v.status, {}, nullptr};
}

}  // namespace

std::optional<http::verdict> http_auth::authenticate(const http::credential& c, ry_exec* exec,
                                                     std::function<void(http::verdict)> later) {
  if (c.from == http::credential::kind::query_token) return translated(auth_.authenticate_query(c.value, c.path));
  if (auto who = auth_.cached(c.value)) return translated(std::move(who));
  auto v = auth_.authenticate(c.value, exec,
                              [later = std::move(later)](auth::verdict v) { later(translated(std::move(v))); });
  if (!v) return std::nullopt;
  return translated(std::move(*v));
}

// translated() stores the principal as the owner of each verdict.
bool http_auth::revoked(const std::shared_ptr<const void>& owner) const {
  return owner && auth_.is_revoked(*static_cast<const auth::principal*>(owner.get()));
}

}  // namespace ry::app
