// GET and POST /approval-decision?link=TOKEN: a person decides about one approval without logging in. The token is in the
// query, because the access log contains paths. GET never decides, because mail scanners open links.
//
// Thread: any. Lifetime: as long as the module.
#pragma once
#include <ry/ry.hpp>

#include "api/approval_page.hpp"
#include "api/approval_routes.hpp"
#include "settings/settings.hpp"
#include "start/hourly_rate.hpp"
#include "store/repository.hpp"

namespace runs {

class approval_links {
 public:
  approval_links(const ry::context& ctx, const settings& config, const repository& repo, approval_routes& approvals)
      : ctx_(ctx), config_(config), repo_(repo), approvals_(approvals), brand_(ry_brand_page::brand_of(ctx)) {}
  ry::task<ry::response> show(ry::request request);
  ry::task<ry::response> decide(ry::request request);

 private:
  // Seconds until the client may send a request; 0: now.
  std::int64_t wait_seconds(const ry::request& request);
  ry::task<std::optional<approval_link>> find(std::string token_hash) const;

  const ry::context& ctx_;
  const settings& config_;
  const repository& repo_;
  approval_routes& approvals_;
  const ry_brand_page::brand brand_;
  hourly_rate requests_;
};

}  // namespace runs
