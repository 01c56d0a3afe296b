// Tells the configured addresses how runs ended. The end of a run adds one job per address in its own
// transaction; each job is tried until the receiver answers 2xx, with growing pauses or those that
// the receiver asks for. Signed after "Standard Webhooks" (v1, HMAC-SHA256).
#pragma once
#include <ry/ry.hpp>

#include "webhook_delivery.hpp"

namespace runs {

struct parts;

class webhooks {
 public:
  explicit webhooks(parts& p) : parts_(p) {}
  // The job `runs.webhook {endpoint, id, body}`.
  ry::task<ry::job_outcome> deliver(ry::job job);

 private:
  parts& parts_;
  standard_webhooks::receivers receivers_;
};

}  // namespace runs
