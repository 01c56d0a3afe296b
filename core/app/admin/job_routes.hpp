// Admin routes for pending and dead-lettered jobs: GET /admin/queues, GET /admin/jobs, and POST
// /admin/jobs/{id}/retry and .../discard for a dead-lettered job.
//
// Lifetime: created before the server listens, lives as long as the server.
#pragma once

#include <string>

#include "core/app/boot/host.hpp"

namespace ry::app {

class job_routes {
 public:
  job_routes(module_host& w, host_services& r);
  job_routes(const job_routes&) = delete;
  job_routes& operator=(const job_routes&) = delete;

 private:
  http::host_answer queues() const;
  http::host_answer list(const ry_request_view& view) const;
  http::host_answer act(const std::string& what, const ry_request_view& view) const;

  module_host& host_;
  host_services& services_;
};

}  // namespace ry::app
