// Admin routes for nodes: GET /admin/nodes lists the nodes of the deployment; POST /admin/nodes/{id}/drain makes a
// node stop claiming jobs, .../undrain makes it claim them again.
//
// Lifetime: the services outlive the server's routes. Threads: the routes run on blocking threads and wait for the
// database.
#pragma once

#include "core/app/boot/host.hpp"

namespace ry::app {

// Must be called before the server listens.
void add_node_routes(host_services& r, module_host& w);

}  // namespace ry::app
