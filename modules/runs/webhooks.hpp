// Notifies the configured webhooks of the end of runs. The transaction that ends a run also adds one job per endpoint.
// Each job is retried until the receiver responds with 2xx, with backoff or after the delay that the receiver requests.
// Requests are signed according to Standard Webhooks (v1, HMAC-SHA256).
#pragma once
#include <ry/ry.hpp>

#include "settings/settings.hpp"
#include "webhook_delivery.hpp"

namespace runs {

class webhooks {
 public:
  webhooks(const ry::context& ctx, const settings& config) : ctx_(ctx), config_(config) {}
  // The job `runs.webhook {endpoint, id, body}`.
  ry::task<ry::job_outcome> deliver(ry::job job);

 private:
  const ry::context& ctx_;
  const settings& config_;
  standard_webhooks::receivers receivers_;
};

}  // namespace runs
