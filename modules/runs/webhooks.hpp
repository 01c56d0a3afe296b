// Notifies the configured webhooks of the end of runs. The end of a run adds one job per endpoint in its own
// transaction. Each job is retried until the receiver answers 2xx, with backoff or with the delay that the receiver
// requests. Signed according to Standard Webhooks (v1, HMAC-SHA256).
#pragma once
#include <ry/ry.hpp>

#include "webhook_delivery.hpp"

namespace runs {

struct module_context;

class webhooks {
 public:
  explicit webhooks(module_context& p) : context_(p) {}
  // The job `runs.webhook {endpoint, id, body}`.
  ry::task<ry::job_outcome> deliver(ry::job job);

 private:
  module_context& context_;
  standard_webhooks::receivers receivers_;
};

}  // namespace runs
