// Renders the metrics of the Runyard server itself (not of the machine, not of modules) in Prometheus text format. Pure, except for render_process().
#pragma once

#include <string>
#include <vector>

#include "core/db/pool_stats.hpp"
#include "core/events/hub.hpp"
#include "core/http/client/client.hpp"
#include "core/http/stats.hpp"
#include "core/jobs/queue.hpp"
#include "core/module/describe.hpp"
#include "core/observe/tracer.hpp"

namespace ry::app {

std::string render(const http::server_stats& s);
std::string render(const http::client_stats& s, const http::resolver_stats& lookups);
std::string render(const jobs::queue_stats& s);
std::string render(const db::pool_stats& s);
std::string render(const events::hub_stats& s);
std::string render(const observe::tracer::counts& s);
std::string render(const std::vector<module::module_description>& modules);
// Metrics of this process: memory, descriptors, processor time.
std::string render_process();
struct host_state {
  bool ready = false, database_answers = false;
  double oldest_transaction_seconds = 0;
};
std::string render(const host_state& s);

}  // namespace ry::app
