// The host's own figures in Prometheus text format. Pure.
#pragma once

#include <string>

#include "core/events/hub.hpp"
#include "core/http/client/client.hpp"
#include "core/http/stats.hpp"
#include "core/jobs/queue.hpp"

namespace ry::app {

std::string render(const http::server_stats& s);
std::string render(const http::client_stats& s);
std::string render(const jobs::queue_stats& s);
std::string render(const events::hub_stats& s);

}  // namespace ry::app
