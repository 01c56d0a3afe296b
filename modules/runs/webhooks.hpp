// Notifies webhooks of the end of runs: the configured ones, and the one that the start of a run named. The transaction
// that ends a run also adds one job per webhook. Each job is retried until the receiver responds with 2xx, with backoff or after the delay that the receiver requests.
// Requests are signed according to Standard Webhooks (v1, HMAC-SHA256).
#pragma once
#include <ry/ry.hpp>
#include <string>

#include "settings/settings.hpp"
#include "store/repository.hpp"
#include "webhook_delivery.hpp"

namespace runs {

class webhooks {
 public:
  webhooks(const ry::context& ctx, const settings& config, const repository& repo)
      : ctx_(ctx), config_(config), repo_(repo) {}
  // The job `runs.webhook {endpoint, id, body}`.
  ry::task<ry::job_outcome> deliver(ry::job job);
  // The job `runs.start_webhook {run, id, body}`. The run's row has the URL and the secret, which are in no job.
  ry::task<ry::job_outcome> deliver_to_start(ry::job job);

 private:
  ry::task<ry::job_outcome> send(ry::job job, standard_webhooks::endpoint receiver, std::string id, std::string body);

  const ry::context& ctx_;
  const settings& config_;
  const repository& repo_;
  standard_webhooks::receivers receivers_;
};

}  // namespace runs
