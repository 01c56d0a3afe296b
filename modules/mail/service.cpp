#include "service.hpp"

#include <algorithm>

#include "address.hpp"
#include "sealed_body.hpp"

namespace mail {
namespace {

constexpr std::size_t max_ids = 100;
constexpr std::uint64_t max_wait_ms = 30'000;
// A local relay responds within milliseconds, a remote one within seconds.
constexpr std::uint64_t min_poll_ms = 10;
constexpr std::uint64_t max_poll_ms = 320;

}  // namespace

ry_status service::check_address(std::string_view address) const {
  if (!is_address(address)) return RY_INVALID_ARGUMENT;
  return local_ || is_internet_address(address) ? RY_OK : RY_FAILED_PRECONDITION;
}

ry_status service::outcomes(const ry_uuid* ids, std::size_t n, std::uint64_t wait_ms, caller c) {
  if (n > max_ids) return RY_INVALID_ARGUMENT;
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < n; ++i) texts.push_back(ry::uuid(ids[i]).to_string());
  const auto until = ctx_.mono_us() + static_cast<std::int64_t>(std::min(wait_ms, max_wait_ms)) * 1000;
  return ctx_.spawn(wait_for_outcomes(std::move(texts), until, c), c.exec) ? RY_OK : RY_UNAVAILABLE;
}

ry::task<void> service::wait_for_outcomes(std::vector<std::string> ids, std::int64_t until_us, caller c) {
  std::vector<ry_mail_outcome> found;
  ry::error failure(RY_OK);
  try {
    for (std::uint64_t pause = min_poll_ms;; pause = std::min(pause * 2, max_poll_ms)) {
      found = co_await repo_.outcomes(ids);
      const bool pending =
          std::any_of(found.begin(), found.end(), [](const ry_mail_outcome& o) { return o.state == RY_MAIL_QUEUED; });
      const auto remaining_us = until_us - ctx_.mono_us();
      if (!pending || remaining_us <= 0) break;
      (co_await ctx_.sleep(std::min(pause, static_cast<std::uint64_t>(remaining_us) / 1000 + 1))).value();
    }
  } catch (...) {
    failure = ry::current_error();
  }
  ctx_.post(c.exec, [c, found = std::move(found), failure] {
    if (failure.status() != RY_OK) {
      const auto v = failure.view();
      c.fn(c.ctx, failure.status(), nullptr, 0, 0, &v);
      return;
    }
    c.fn(c.ctx, RY_OK, found.data(), found.size(), sizeof(ry_mail_outcome), nullptr);
  });
}

const ry_mail_v1* service::table() noexcept {
  static constexpr ry_mail_v1 t{
      sizeof(ry_mail_v1),
      0,
      [](void* self) noexcept -> std::uint32_t { return static_cast<service*>(self)->settings_.host.empty() ? 0 : 1; },
      [](void* self, ry_str address) noexcept {
        return ry::guard([&] { return static_cast<service*>(self)->check_address(ry::view(address)); });
      },
      [](void* self) noexcept { (void)ry::guard([&] { static_cast<service*>(self)->ctx_.jobs().wake("mail"); }); },
      [](void* self, const ry_uuid* ids, std::size_t n, std::uint64_t wait_ms, ry_exec* exec, ry_mail_outcome_fn fn,
         void* ctx) noexcept {
        return ry::guard([&] { return static_cast<service*>(self)->outcomes(ids, n, wait_ms, {exec, fn, ctx}); });
      },
      [](void* self, ry_str text, ry_str html, ry_take_fn take, void* ctx) noexcept {
        return ry::guard([&] {
          const auto sealed = seal_bodies(static_cast<service*>(self)->ctx_, ry::view(text), ry::view(html));
          take(ctx, ry::raw(sealed));
        });
      }};
  return &t;
}

}  // namespace mail
